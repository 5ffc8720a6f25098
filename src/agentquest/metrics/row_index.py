"""The rows of a run, kept beside its records and brought up to date as the run grows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agentquest.metrics.rows import EpisodeRow, Setting, Spent, row_of, shared_setting
from agentquest.metrics.table import Metric
from agentquest.records.episode import EpisodeRecord
from agentquest.records.index import LineIndex
from agentquest.records.outcome import End
from agentquest.records.run_directory import EPISODES, RunDirectory, keep_newest
from agentquest.version import __version__

_VERSION = 1


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """A row, where its record is in the file, and what a list of episodes shows of it."""

    at: int
    row: EpisodeRow
    goal: str
    progress: tuple[float, ...]

    @property
    def key(self) -> str:
        """The episode's key."""
        return self.row.key

    @property
    def scored(self) -> bool:
        """Whether the episode counts as a score."""
        return self.row.scored


class RowIndex:
    """Of one run; `refresh` reads what has come since."""

    def __init__(self, run: RunDirectory, table: Sequence[Metric]) -> None:
        self._run = run
        self._table = table
        keys = [metric.key for metric in table]
        self._index = LineIndex(run.path, {"rows": _VERSION, "by": __version__, "metrics": keys})
        self._newest: dict[str, IndexedRow] = {}
        self._reader = run.reader()
        self._entries: list[dict[str, Any]] = []
        self._load()

    def _load(self) -> None:
        file = self._run.path / EPISODES
        self._entries = self._index.load(file.stat().st_size if file.is_file() else 0)
        for entry in self._entries:
            keep_newest(self._newest, _row(entry))
        if self._entries:
            self._reader.skip(self._entries[-1]["next"], len(self._entries))

    @property
    def rows(self) -> list[IndexedRow]:
        """The newest of each episode, in the order in which they first finished."""
        return list(self._newest.values())

    @property
    def damaged(self) -> list[int]:
        """The numbers of lines that cannot be read."""
        return self._reader.damaged

    def find(self, key: str) -> IndexedRow | None:
        """The row that counts for a key; None if no such episode was recorded."""
        return self._newest.get(key)

    def refresh(self) -> None:
        """Read what was recorded since the last call, and save the index."""
        known = len(self._entries)
        for at, record in self._reader.located():
            row = row_of(record, self._table)
            progress = tuple(round(step.progress, 4) for step in record.steps)
            one = IndexedRow(at, row, record.goal, progress)
            keep_newest(self._newest, one)
            self._entries.append(_entry(one, self._reader.offset))
        if len(self._entries) > known and not self._reader.damaged:
            # A file with damaged lines is read whole every time, so that it is told of.
            self._index.save(self._entries, known)

    def record(self, one: IndexedRow) -> EpisodeRecord:
        """The whole record that a row was made of, read from the file."""
        return self._run.record_at(one.at)


def _entry(one: IndexedRow, end: int) -> dict[str, Any]:
    return {
        "at": one.at,
        "next": end,
        "goal": one.goal,
        "progress": one.progress,
        "row": asdict(one.row),
    }


def _row(entry: dict[str, Any]) -> IndexedRow:
    stored = dict(entry["row"])
    setting = stored["setting"]
    facts = tuple((name, value) for name, value in setting["facts"])
    stored["setting"] = shared_setting(Setting(**{**setting, "facts": facts}))
    stored["spent"] = Spent(**stored["spent"])
    stored["end"] = End(stored["end"])
    return IndexedRow(entry["at"], EpisodeRow(**stored), entry["goal"], tuple(entry["progress"]))
