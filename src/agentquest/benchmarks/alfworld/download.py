"""The real ALFWorld games: the project's three release archives, fetched and unpacked.

All three unpack into one tree, `json_2.1.1/<split>/<task>/<trial>/`, though the newest
is published under another number. Existing files in the data folder are kept. A list of
each archive's files is written to `.agentquest/`, so that a second call can tell whether
anything is missing.
"""

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from agentquest.benchmarks.alfworld.tasks import DATA_FOLDER
from agentquest.downloads import Progress, Retry, extract_zip, fetch
from agentquest.errors import DataError, NetworkError
from agentquest.files import explain_errors, write_atomically

OFFICIAL_URL = "https://github.com/alfworld/alfworld/releases/download"
_PUBLISHED_TREE = re.compile(r"json_2\.1\.\d+(_[a-z-]+)?")


@dataclass(frozen=True)
class Archive:
    """One published archive."""

    release: str
    name: str
    size: int
    sha256: str

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


def default_data_folder() -> Path:
    """`$ALFWORLD_DATA`, else the cache folder that ALFWorld itself uses."""
    chosen = os.environ.get("ALFWORLD_DATA")
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
    """Download and unpack the real games, except for archives that are complete already.

    `force` fetches again and overwrites extracted files. `on_archive` is called with the
    name of each archive to fetch, and returns its progress callback. An archive that the
    user put into the data folder is used instead of the network, and kept.
    """
    folder = data_path or default_data_folder()
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
                archive.url(base_url), target, sha256=archive.sha256, size=archive.size,
                progress=progress, retry=retry,
            )  # fmt: skip
        except NetworkError as error:
            raise _with_the_rest(error, folder, base_url, todo[position + 1 :]) from error
        done = extract_zip(target, folder, place=_place, force=force)
        _list_files(folder, archive, sorted(done.written + done.kept))
        results.append(Unpacked(archive.name, len(done.written), len(done.kept), present=False))
        if not by_hand:
            target.unlink()
    return tuple(results)


def _place(name: PurePosixPath) -> PurePosixPath:
    """Replaces the archive's own top folder, whose number varies."""
    top, *rest = name.parts
    if not rest or _PUBLISHED_TREE.fullmatch(top) is None:
        raise DataError(
            f"unexpected file in the ALFWorld archive: {name} (not under {DATA_FOLDER}/)"
        )
    return PurePosixPath(DATA_FOLDER, *rest)


def _list_path(folder: Path, archive: Archive) -> Path:
    return folder / ".agentquest" / f"{archive.name}.json"


def _list_files(folder: Path, archive: Archive, names: list[str]) -> None:
    path = _list_path(folder, archive)
    with explain_errors("write", path):
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, json.dumps({"files": names}))


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
    """The same failure, with the archives that would have come next."""
    lines = [f"  {a.url(base_url)}  as  {folder / a.name}" for a in rest]
    more = "\n".join(["\nAfter that also needed:", *lines]) if lines else ""
    return NetworkError(f"{error}{more}")
