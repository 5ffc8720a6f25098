"""The rows of a run, kept beside its records and brought up to date as the run grows."""

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from agentquest.metrics.rows import EpisodeRow, Setting, Spent, row_of, shared_setting
from agentquest.metrics.table import Metric
from agentquest.records.episode import EpisodeRecord
from agentquest.records.episode_lines import Place, damaged_lines
from agentquest.records.index import LineIndex
from agentquest.records.outcome import End
from agentquest.records.results_file import Part
from agentquest.records.run_directory import EPISODES, RunDirectory, keep_newest
from agentquest.version import __version__

_VERSION = 3
_TOGETHER = 16
# Our own metrics change with our version only; a user's can be measured again at any time.
_OURS = "agentquest."
_SETTING = [one.name for one in fields(Setting)]
_SPENT = [one.name for one in fields(Spent)]
_ROW = [one.name for one in fields(EpisodeRow) if one.name not in ("setting", "spent", "end")]
_ENDS = {end.value: end for end in End}


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """A row, where its record is in the file, and what a list of episodes shows of it; `part` is
    its piece of results.json, where there is one."""

    at: int
    row: EpisodeRow
    goal: str
    progress: tuple[float, ...]
    part: Part | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """The episode's key."""
        return self.row.key

    @property
    def scored(self) -> bool:
        """Whether the episode counts as a score."""
        return self.row.scored


class RowIndex:
    """Of one run; `refresh` reads what has come since.

    `thorough` looks at the checksum of every line that is known already: who decides what is
    owed must. `light` keeps no goals and no progress in memory.
    """

    def __init__(
        self,
        run: RunDirectory,
        table: Sequence[Metric],
        *,
        thorough: bool = False,
        light: bool = False,
    ) -> None:
        self._run = run
        self._table = table
        self._light = light
        self._file = run.path / EPISODES
        keys = [metric.key for metric in table]
        self._index = LineIndex(run.path, {"rows": _VERSION, "by": __version__, "metrics": keys})
        self._saves = all(metric.path.startswith(_OURS) for metric in table if metric.path)
        self._unsaved: list[dict[str, Any]] = []
        self._begin_anew()
        self._load(thorough)

    def _begin_anew(self) -> None:
        self._newest: dict[str, IndexedRow] = {}
        self._reader = self._run.reader()
        self._told_of = 0  # damaged lines that the index knows
        self.cost = 0.0
        """What all tries of all episodes cost, as far as known."""
        self.uncounted = 0
        """How many of their calls had no cost."""

    def _load(self, thorough: bool) -> None:
        size = self._file.stat().st_size if self._file.is_file() else 0
        place = Place(0, 0)
        with _no_collections():
            for entry in self._index.load(size) if self._saves else ():
                place = Place(entry["at"], entry["next"])
                self._reader.passed_over(entry.get("damaged", ()))
                self._reader.skip(place.next, self._reader.lines + 1)
                self._keep(_row(entry, self._light))
        self._told_of = len(self._reader.damaged)
        if place.next and not self._is_as_known(place, thorough):
            self._index.forget()
            self._begin_anew()

    def _is_as_known(self, last: Place, thorough: bool) -> bool:
        if thorough:
            return damaged_lines(self._file, last.next) == self._reader.damaged
        return not damaged_lines(self._file, last.next, last.at)

    def _keep(self, one: IndexedRow) -> None:
        self.cost += one.row.spent.cost
        self.uncounted += one.row.spent.unpriced_calls
        keep_newest(self._newest, one)

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
        for at, record in self._reader.located():
            self._add(record, row_of(record, self._table), Place(at, self._reader.offset), None)
        self.flush()

    def add(self, record: EpisodeRecord, row: EpisodeRow, place: Place, part: Part | None) -> bool:
        """An episode that was just written there; whether it is time to flush."""
        self._reader.skip(place.next, self._reader.lines + 1)
        self._add(record, row, place, part)
        return len(self._unsaved) >= _TOGETHER

    def _add(self, record: EpisodeRecord, row: EpisodeRow, place: Place, part: Part | None) -> None:
        progress = tuple(round(step.progress, 4) for step in record.steps)
        one = IndexedRow(place.at, row, record.goal, progress, part)
        self._keep(replace(one, goal="", progress=()) if self._light else one)
        if self._saves:
            damaged = self._reader.damaged[self._told_of :]
            self._told_of += len(damaged)
            self._unsaved.append(_entry(one, place, damaged))

    def hold(self) -> None:
        """Be the only one who writes it, until `release`."""
        if self._saves:
            self._index.hold()

    def release(self) -> None:
        """Save what waits, and let others write it again."""
        self.flush()
        self._index.release()

    def flush(self) -> None:
        """Save the rows that wait; an index that cannot be written is not tried again."""
        if self._unsaved:
            self._saves = self._index.add(self._unsaved)
            self._unsaved = []

    def with_part(self, one: IndexedRow, part: Part) -> None:
        """A piece of results.json that was missing has been made."""
        self._newest[one.key] = replace(one, part=part)

    def record(self, one: IndexedRow) -> EpisodeRecord:
        """The whole record that a row was made of, read from the file."""
        return self._run.record_at(one.at)


@contextmanager
def _no_collections() -> Iterator[None]:
    """Many small objects, none of them garbage: looking for some would double the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _entry(one: IndexedRow, place: Place, damaged: Sequence[int]) -> dict[str, Any]:
    """Flat, and as text what many rows share or few readers want: 100,000 are read at once."""
    row = one.row
    entry: dict[str, Any] = {
        "at": place.at,
        "next": place.next,
        "goal": one.goal,
        "progress": " ".join(map(str, one.progress)),
        "setting": json.dumps([getattr(row.setting, name) for name in _SETTING]),
        "end": row.end.value,
        "spent": [getattr(row.spent, name) for name in _SPENT],
        "row": [getattr(row, name) for name in _ROW],
    }
    if one.part is not None:
        entry["part"] = one.part
    if damaged:
        entry["damaged"] = list(damaged)
    return entry


def _row(entry: dict[str, Any], light: bool) -> IndexedRow:
    row = EpisodeRow(
        setting=_setting(entry["setting"]),
        spent=Spent(*entry["spent"]),
        end=_ENDS[entry["end"]],
        **dict(zip(_ROW, entry["row"], strict=True)),
    )
    progress = () if light else tuple(map(float, entry["progress"].split()))
    part = Part(*entry["part"]) if "part" in entry else None
    return IndexedRow(entry["at"], row, "" if light else entry["goal"], progress, part)


@lru_cache(maxsize=1024)
def _setting(text: str) -> Setting:
    values = json.loads(text)
    values[-1] = tuple((name, value) for name, value in values[-1])
    return shared_setting(Setting(*values))
