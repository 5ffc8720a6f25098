"""The folder of a run: what is in it, how it grows, and what is still to play.

    config.yaml      the resolved configuration, without keys
    manifest.json    versions, data, task ids, and the fingerprint of all that decides a score
    episodes.jsonl   one whole line per episode, only ever appended to, synced to disk
    live.jsonl       steps of episodes in progress, for watchers (see live.py)
    index.jsonl      one row per episode, for reports and resuming (see index.py)
    results.parts    pieces of results.json (see results_file.py)
    results.json     the results in the documented shape, rewritten as episodes finish
    metrics.json     what metrics of the user's own came to (see measured.py)
    run.log          what was said while it ran

An episode is in the file or it is not: a line torn by a crash is cut off when
the run is opened again, and a damaged one is skipped; their episodes are played again.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeVar

from filelock import BaseFileLock
from pydantic import ValidationError

from agentquest.errors import DataError, UserError
from agentquest.files import take_lock, write_atomically
from agentquest.records.base import Record
from agentquest.records.episode import EpisodeRecord
from agentquest.records.episode_lines import EpisodeAppender, EpisodeReader, Place, read_at
from agentquest.records.explaining import explain_invalid
from agentquest.records.manifest import MANIFEST_VERSION, Manifest
from agentquest.records.measured import MEASURED_VERSION, MeasuredMetrics
from agentquest.records.results_file import RESULTS as RESULTS
from agentquest.records.results_file import ResultParts, write_results_file
from agentquest.words import plural

CONFIG = "config.yaml"
MANIFEST = "manifest.json"
EPISODES = "episodes.jsonl"
METRICS = "metrics.json"
LOG = "run.log"
_LOCK = ".lock"
R = TypeVar("R", bound=Record)


class RunDirectory:
    """Reading needs nothing; writing needs the lock (`with run.locked():`)."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        """Whether there is a run here already."""
        return (self.path / MANIFEST).is_file()

    def create(self, config: str, manifest: Manifest) -> None:
        """Make the folder with its configuration and manifest; UserError if it cannot be made."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path / CONFIG, config)
            write_atomically(self.path / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
        except OSError as error:
            raise UserError(f"cannot make {self.path}: {error.strerror}") from error

    def manifest(self) -> Manifest:
        """What the run is; raises UserError where there is none."""
        file = self.path / MANIFEST
        if not file.is_file():
            inside = min(self.path.glob(f"*/{MANIFEST}"), default=None)
            hint = f"; name one of those in it, such as {inside.parent}" if inside else ""
            raise UserError(f"{self.path} is not a run directory: it has no {MANIFEST}{hint}")
        return _read(file, Manifest, MANIFEST_VERSION)

    def measured(self) -> MeasuredMetrics:
        """The values of the run's own metrics; nothing if it has none, or none yet."""
        file = self.path / METRICS
        return (
            _read(file, MeasuredMetrics, MEASURED_VERSION) if file.is_file() else MeasuredMetrics()
        )

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

    def record_at(self, offset: int) -> EpisodeRecord:
        """The record whose line begins there."""
        return read_at(self.path / EPISODES, offset)

    def damage(self) -> str | None:
        """What is wrong with the episodes file, in a sentence; None where all lines are whole."""
        reader = self.reader()
        for _ in reader.further():
            pass
        return describe_damage(self.path / EPISODES, reader.damaged)

    def owed(self, keys: Iterable[str]) -> list[str]:
        """Of these episodes, those that are missing or were lost to infrastructure."""
        scored = {record.key for record in self.tries() if record.scored}
        return [key for key in keys if key not in scored]

    def write_results(
        self, results: Mapping[str, Any], lists: Mapping[str, Iterable[bytes]] | None = None
    ) -> None:
        """`lists` are lists of the document that are too long for memory, piece by piece."""
        write_results_file(self.path, results, lists or {})

    def write_measured(self, metrics: MeasuredMetrics) -> None:
        """Replace the values of further metrics."""
        write_atomically(self.path / METRICS, metrics.model_dump_json() + "\n")

    def reader(self) -> "EpisodeReader":
        """Reads records as they are appended, from the first on."""
        return EpisodeReader(self.path / EPISODES)

    def parts(self, anew: bool) -> ResultParts:
        """Pieces of results.json, for whoever holds the lock."""
        return ResultParts(self.path, anew)

    def locked(self, packed: bool = False) -> "EpisodeLog":
        """For writing; `packed` lines take a tenth of the room (see episode_lines)."""
        return EpisodeLog(self.path, packed)


class EpisodeLog:
    """Appends episodes; one process at a time."""

    def __init__(self, folder: Path, packed: bool = False) -> None:
        self._folder = folder
        self._packed = packed
        self._lock: BaseFileLock | None = None
        self._file: EpisodeAppender | None = None

    def __enter__(self) -> "EpisodeLog":
        self._lock = take_lock(self._folder / _LOCK)
        for draft in self._folder.glob(f".{RESULTS}.*"):
            draft.unlink()
        self._file = EpisodeAppender(self._folder / EPISODES, self._packed)
        return self

    def append(self, *records: EpisodeRecord) -> list[Place]:
        """Write one whole line each and have them on disk before returning; where they are."""
        assert self._file is not None, "use `with run.locked() as log`"
        return self._file.append(records)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
        if self._lock is not None:
            self._lock.release()


def _read(file: Path, model: type[R], version: int) -> R:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror}") from None
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        raise DataError(explain_invalid(content, error, str(file), version)) from None


class Try(Protocol):
    """A record of an episode, or what was made of one."""

    @property
    def key(self) -> str:
        """Which episode it is: task and trial."""
        ...

    @property
    def scored(self) -> bool:
        """Whether it counts as a score, so that the episode is not played again."""
        ...


T = TypeVar("T", bound=Try)


def keep_newest(kept: dict[str, T], record: T) -> None:
    """A later attempt at an episode replaces the earlier one, unless a score would be lost."""
    before = kept.get(record.key)
    if before is None or record.scored or not before.scored:
        kept[record.key] = record


def read_episodes(file: Path) -> Iterator[EpisodeRecord]:
    """The records of a file; damaged lines are skipped (see episode_lines)."""
    return EpisodeReader(file).further()


def describe_damage(file: Path, lines: list[int]) -> str | None:
    """A warning about lines that cannot be read; None when there are none."""
    if not lines:
        return None
    shown = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
    return (
        f"{file}: skipped {len(lines)} damaged {plural(len(lines), 'line')} ({shown});"
        " run again to play their episodes"
    )
