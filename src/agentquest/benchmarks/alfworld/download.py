"""The real ALFWorld games: the project's three release archives, fetched and unpacked.

All three unpack into one tree, `json_2.1.1/<split>/<task>/<trial>/`, though the
newest is published under another number. What lies in the data folder belongs to
the user and stays; a list of the files of each archive is left in
`.agentquest/`, by which a second call sees that nothing is missing.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from agentquest.downloads import Progress, Retry, extract_zip, fetch
from agentquest.errors import DataError, NetworkError

OFFICIAL_URL = "https://github.com/alfworld/alfworld/releases/download"
TREE = "json_2.1.1"
_PUBLISHED_TREE = re.compile(r"json_2\.1\.\d+(_[a-z-]+)?")


@dataclass(frozen=True)
class Archive:
    """One published archive; `sha256` None means that its inner checksums are relied on."""

    release: str
    name: str
    size: int
    sha256: str | None

    def url(self, base: str) -> str:
        """Where the archive is, below a server that mirrors the project's releases."""
        return f"{base.rstrip('/')}/{self.release}/{self.name}"


ARCHIVES = (
    Archive(
        "0.2.2", "json_2.1.1_json.zip", 72_018_818,
        "25171f16e20ad7b048c47275c45b0babf3aa1cbab29cec97387922350a9844bc",
    ),
    Archive(
        "0.2.2", "json_2.1.1_pddl.zip", 34_881_784,
        "913942ebed06659ea0da2f8122512d98bc6add30d84961ca803132d8fbcad585",
    ),
    Archive(
        "0.4.2", "json_2.1.3_tw-pddl.zip", 36_507_267,
        "5df77ea759f2211a4106082839ddbbb790f1ba4e7d097ed732cf453f72aa36cf",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Unpacked:
    """What one archive brought; `present` means that it was all there before."""

    name: str
    written: int
    kept: int
    present: bool


def default_data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """`$ALFWORLD_DATA`, else the cache folder that ALFWorld itself uses."""
    chosen = environ.get("ALFWORLD_DATA")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "alfworld"


def download_alfworld(
    data_path: Path | None = None,
    *,
    base_url: str = OFFICIAL_URL,
    archives: Iterable[Archive] = ARCHIVES,
    force: bool = False,
    retry: Retry | None = None,
    on_archive: Callable[[str], Progress] | None = None,
) -> tuple[Unpacked, ...]:
    """Have the real games in the data folder; what is there already is not fetched again.

    `force` fetches again and overwrites extracted files. `on_archive` is called
    with the name of each archive that has to be fetched, and gives the callback
    for its bytes. An archive found in the data folder, put there by hand, is
    used instead of the network and stays.
    """
    folder = data_path if data_path is not None else default_data_folder()
    todo = list(archives)
    results: list[Unpacked] = []
    for position, archive in enumerate(todo):
        listed = None if force else _listed_files(folder, archive)
        if listed is not None and all((folder / name).is_file() for name in listed):
            results.append(Unpacked(archive.name, 0, len(listed), present=True))
            continue
        progress = on_archive(archive.name) if on_archive is not None else None
        target = folder / archive.name
        by_hand = target.exists()
        try:
            fetch(
                archive.url(base_url), target, sha256=archive.sha256, progress=progress,
                retry=retry, max_bytes=archive.size,
            )  # fmt: skip
        except NetworkError as error:
            raise _with_the_rest(error, folder, base_url, todo[position + 1 :]) from error
        results.append(_unpack(folder, archive, force))
        if not by_hand:
            target.unlink()
    return tuple(results)


def _unpack(folder: Path, archive: Archive, force: bool) -> Unpacked:
    done = extract_zip(folder / archive.name, folder, place=_place, force=force)
    _list_files(folder, archive, sorted(done.written + done.kept))
    return Unpacked(archive.name, len(done.written), len(done.kept), present=False)


def _place(name: PurePosixPath) -> PurePosixPath:
    """Into the one tree, whatever number the archive's own top folder bears."""
    top, *rest = name.parts
    if not rest or _PUBLISHED_TREE.fullmatch(top) is None:
        raise DataError(f"unexpected file in the ALFWorld archive: {name} (not under {TREE}/)")
    return PurePosixPath(TREE, *rest)


def _list_path(folder: Path, archive: Archive) -> Path:
    return folder / ".agentquest" / f"{archive.name}.json"


def _list_files(folder: Path, archive: Archive, names: list[str]) -> None:
    path = _list_path(folder, archive)
    draft = path.with_name(path.name + ".tmp")
    try:
        path.parent.mkdir(exist_ok=True)
        draft.write_text(json.dumps({"files": names}), encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error}") from error


def _listed_files(folder: Path, archive: Archive) -> list[str] | None:
    """The files of an archive unpacked earlier; None when there is no readable list."""
    try:
        listed = json.loads(_list_path(folder, archive).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    files = listed.get("files") if isinstance(listed, dict) else None
    if not isinstance(files, list) or not all(isinstance(name, str) for name in files):
        return None
    return files


def _with_the_rest(
    error: NetworkError, folder: Path, base_url: str, rest: Iterable[Archive]
) -> NetworkError:
    """The same failure, naming also the archives whose turn never came."""
    lines = [f"  {a.url(base_url)}  as  {folder / a.name}" for a in rest]
    more = "\n".join(["\nAfter that also needed:", *lines]) if lines else ""
    return NetworkError(f"{error}{more}")
