"""Unpacking zip archives from elsewhere: checked in full before the first byte is written.

Names that lead out of the folder, links, entries that share bytes, and contents larger than
the limit or than an honest compression ratio allows are refused before anything is unpacked.
"""

import lzma
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from agentquest.errors import DataError

MAX_BYTES = 8 << 30
MAX_FILES = 1_000_000
MAX_RATIO = 200  # text shrinks to about a tenth; only a zip bomb shrinks to this
_SMALL = 1 << 24  # any archive may unpack to this much, however small it is
_LOCAL_HEADER = 30
_CHUNK = 1 << 18
# What unpacking damaged bytes may raise; bz2 raises OSError, which is handled apart.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError,
    ValueError, OverflowError, IndexError, struct.error, MemoryError,
)  # fmt: skip


@dataclass(frozen=True)
class Extraction:
    """The files of an archive, relative to the folder: those written, those left as they were."""

    written: tuple[str, ...]
    kept: tuple[str, ...]


def extract_zip(
    archive: Path,
    folder: Path,
    *,
    place: Callable[[PurePosixPath], PurePosixPath] = lambda name: name,
    force: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Extraction:
    """Extract into `folder`, each file whole or not at all.

    `place` says where in the folder a member goes. Files that exist stay as they
    are unless `force`.
    """
    with _open_archive(archive) as opened:
        plan = _plan(archive, opened, place, max_bytes)
        kept = () if force else tuple(name for name in plan if os.path.lexists(folder / name))
        missing = plan.keys() - kept
        written = tuple(name for name in plan if name in missing)
        _require_room(folder, sum(plan[name].file_size for name in written))
        for name in written:
            _extract_one(opened, plan[name], folder / name)
    return Extraction(written, kept)


@contextmanager
def _open_archive(archive: Path) -> Iterator[zipfile.ZipFile]:
    try:
        file = archive.open("rb")
    except OSError as error:
        raise DataError(f"cannot read the archive {archive}: {error}") from error
    try:
        with file, zipfile.ZipFile(file) as opened:
            yield opened
    except _DAMAGE as error:
        raise DataError(f"{archive} is not a valid zip archive: {error}") from error


def _plan(
    archive: Path,
    opened: zipfile.ZipFile,
    place: Callable[[PurePosixPath], PurePosixPath],
    max_bytes: int,
) -> dict[str, zipfile.ZipInfo]:
    """Every file of the archive by its place in the folder, after checking its name."""
    members = opened.infolist()
    _refuse_bombs(archive, members, max_bytes)
    plan: dict[str, zipfile.ZipInfo] = {}
    for member in members:
        name = _check_name(archive, member)
        if member.is_dir():
            continue
        placed = place(name).as_posix()
        if placed in plan:
            raise DataError(f"{archive} contains two files for {placed}")
        plan[placed] = member
    return plan


def _refuse_bombs(archive: Path, members: list[zipfile.ZipInfo], max_bytes: int) -> None:
    """Refuse an archive whose table of contents promises more than it can honestly hold."""
    if len(members) > MAX_FILES:
        raise DataError(f"{archive} contains {len(members)} entries, over the limit of {MAX_FILES}")
    total = sum(member.file_size for member in members)
    if total > max_bytes:
        raise DataError(f"{archive} unpacks to more than the limit of {max_bytes} bytes")
    if total > max(_SMALL, MAX_RATIO * archive.stat().st_size):
        raise DataError(
            f"{archive} unpacks to more than {MAX_RATIO} times its size, like a zip bomb"
        )
    end = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        if member.header_offset < end:
            raise DataError(f"{archive} is not a valid zip archive: entries share the same bytes")
        end = member.header_offset + _LOCAL_HEADER + member.compress_size


def _check_name(archive: Path, member: zipfile.ZipInfo) -> PurePosixPath:
    # orig_filename: ZipInfo cuts `filename` at a NUL and rewrites the local separator.
    raw = member.orig_filename
    name = PurePosixPath(raw)
    if name.is_absolute() or not name.parts or ".." in name.parts or any(c in raw for c in "\\\0:"):
        raise DataError(f"{archive} has an unsafe name: {raw!r}")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise DataError(f"{archive} contains {raw!r}, which is a link or a special file")
    if member.flag_bits & 0x1:
        raise DataError(f"{archive} contains {raw!r}, which is encrypted")
    return name


def _require_room(folder: Path, needed: int) -> None:
    existing = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    free = shutil.disk_usage(existing).free
    if needed > free:
        raise DataError(f"{folder} has {free} bytes of free space, but {needed} are needed")


def _extract_one(opened: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    draft = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A draft that a killed run left, or a link of that name, is not written into. The name is
        # fixed so that it is replaced, and nothing is synced: there may be a million files.
        draft.unlink(missing_ok=True)
        try:
            with opened.open(member) as source, draft.open("xb") as sink:
                shutil.copyfileobj(source, sink, _CHUNK)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error}") from error
