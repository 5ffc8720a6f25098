"""The folder of a run: what is in it, how it grows, and what is still owed.

    config.yaml      the resolved configuration, without keys
    manifest.json    versions, data, task ids, and the fingerprint of all that decides a score
    episodes.jsonl   one whole line an episode, only ever appended to, synced to disk
    results.json     the results in the shape of document 002, rewritten as episodes finish
    run.log          what was said while it ran

An episode is in the file or it is not: a line torn by a crash is cut off when
the run is opened again, and its episode is owed.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from pydantic import ValidationError

from agentquest.errors import DataError, UserError
from agentquest.records.episode import SCHEMA_VERSION, EpisodeRecord

CONFIG = "config.yaml"
MANIFEST = "manifest.json"
EPISODES = "episodes.jsonl"
RESULTS = "results.json"
LOG = "run.log"
_LOCK = ".lock"
_CHUNK = 1 << 16


class RunDirectory:
    """Reading needs nothing; writing needs the lock (`with run.locked():`)."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        return (self.path / MANIFEST).is_file()

    def create(self, config: str, manifest: dict[str, Any]) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path / CONFIG, config)
            write_atomically(self.path / MANIFEST, to_json(manifest))
        except OSError as error:
            raise UserError(f"cannot make {self.path}: {error.strerror}") from error

    def manifest(self) -> dict[str, Any]:
        file = self.path / MANIFEST
        if not file.is_file():
            raise UserError(f"{self.path} is not a run directory: it has no {MANIFEST}")
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DataError(f"{file} is not JSON: {error}") from None
        if not isinstance(content, dict):
            raise DataError(f"{file} holds no JSON object")
        return content

    def records(self, slim: bool = False) -> list[EpisodeRecord]:
        """The newest record of each episode, in the order in which they first finished.

        `slim` leaves out prompts and admissible commands, most of a record's size.
        """
        newest: dict[str, EpisodeRecord] = {}
        for record in self.tries():
            keep_newest(newest, record.slim() if slim else record)
        return list(newest.values())

    def tries(self) -> Iterator[EpisodeRecord]:
        """Every line of the file, also of episodes that were played again later."""
        return read_episodes(self.path / EPISODES)

    def owed(self, keys: Iterable[str]) -> list[str]:
        """Of these episodes, those that are missing or were lost to infrastructure."""
        scored = {record.key for record in self.tries() if record.scored}
        return [key for key in keys if key not in scored]

    def write_results(self, results: dict[str, Any]) -> None:
        write_atomically(self.path / RESULTS, to_json(results))

    def locked(self) -> "EpisodeLog":
        return EpisodeLog(self.path)


class EpisodeLog:
    """Appends episodes; one process at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: IO[str] | None = None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> "EpisodeLog":
        self._lock = _take_lock(self._folder / _LOCK)
        episodes = self._folder / EPISODES
        cut_torn_line(episodes)
        for draft in self._folder.glob(f".{RESULTS}.*"):
            draft.unlink()
        self._file = episodes.open("ab", buffering=0)
        return self

    def append(self, *records: EpisodeRecord) -> None:
        """Write one whole line each and have them on disk before returning."""
        assert self._file is not None, "use `with run.locked() as log`"
        number = self._file.fileno()
        whole = os.fstat(number).st_size
        text = "".join(f"{record.model_dump_json()}\n" for record in records)
        left = memoryview(text.encode())
        try:
            while left:
                left = left[os.write(number, left) :]
            os.fsync(number)
        except OSError as error:
            # No other line may follow a half one.
            with contextlib.suppress(OSError):
                os.ftruncate(number, whole)
            raise DataError(f"cannot write {self._folder / EPISODES}: {error.strerror}") from error

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for handle in (self._file, self._lock):
            if handle is not None:
                handle.close()


def keep_newest(kept: dict[str, EpisodeRecord], record: EpisodeRecord) -> None:
    """A later try of an episode takes the earlier one's place, unless it would lose a score."""
    before = kept.get(record.key)
    if before is None or record.scored or not before.scored:
        kept[record.key] = record


def read_episodes(file: Path) -> Iterator[EpisodeRecord]:
    """The records of a file. A torn last line is passed over; any other damage is an error."""
    if not file.is_file():
        return
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.endswith(b"\n"):
                yield _parse(line, f"{file}:{number}")


def _parse(line: bytes, where: str) -> EpisodeRecord:
    try:
        return EpisodeRecord.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        version = _version_of(line)
        if version is not None and version != SCHEMA_VERSION:
            raise DataError(
                f"{where}: record of schema {version}, this AgentQuest reads {SCHEMA_VERSION}"
            ) from None
        path = ".".join(map(str, first["loc"])) or "line"
        raise DataError(f"{where}: {path}: {first['msg']}") from None


def _version_of(line: bytes) -> int | None:
    try:
        content = json.loads(line)
    except ValueError:
        return None
    version = content.get("schema_version") if isinstance(content, dict) else None
    return version if isinstance(version, int) else None


def cut_torn_line(file: Path) -> int:
    """Cut off what stands behind the last newline; returns the number of bytes cut."""
    if not file.is_file():
        return 0
    with file.open("r+b") as handle:
        size = handle.seek(0, os.SEEK_END)
        whole = _after_last_newline(handle, size)
        if whole < size:
            handle.truncate(whole)
            os.fsync(handle.fileno())
    return size - whole


def _after_last_newline(handle: IO[bytes], size: int) -> int:
    """Looked for from the end: a run's file can be far larger than memory."""
    end = size
    while end > 0:
        start = max(0, end - _CHUNK)
        handle.seek(start)
        found = handle.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def write_atomically(file: Path, text: str) -> None:
    """Replace a file's content at once: readers see the old or the new, never a half."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=file.parent, prefix=f".{file.name}.", delete=False
    ) as draft:
        draft.write(text)
        draft.flush()
        os.fsync(draft.fileno())
    finished = Path(draft.name)
    finished.chmod(0o644)
    finished.replace(file)


def to_json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _take_lock(file: Path) -> IO[str]:
    handle = file.open("a")
    try:
        import fcntl
    except ImportError:  # not a POSIX system: two writers are then the user's own care
        return handle
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        raise UserError(f"{file.parent} is being written to by another process") from None
    return handle
