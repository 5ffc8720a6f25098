"""What a run has played so far: a small row of each episode in memory, everything else on disk."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, overload

from agentquest.metrics.result_entry import result_entry, type_numbers
from agentquest.metrics.row_index import IndexedRow, RowIndex
from agentquest.metrics.rows import row_of
from agentquest.metrics.table import Metric
from agentquest.records.episode import EpisodeRecord
from agentquest.records.episode_lines import Place
from agentquest.records.manifest import Manifest
from agentquest.records.results_file import ResultParts, written
from agentquest.records.run_directory import RunDirectory


class Played:
    """Rows of episodes as they finish, and results.json made of them."""

    def __init__(
        self, directory: RunDirectory, manifest: Manifest, table: Sequence[Metric]
    ) -> None:
        self.index = RowIndex(directory, table, thorough=True, light=True)
        self._directory = directory
        self._table = table
        self._numbers = type_numbers(manifest.task_types)
        self._parts: ResultParts | None = None

    @contextmanager
    def growing(self) -> Iterator[None]:
        """For whoever holds the run's lock and plays on."""
        # Another process may have played some of them before we had the lock.
        self.index.refresh()
        self.index.hold()
        try:
            with self._opened() as parts:
                yield
                parts.flush()
        finally:
            self.index.release()

    def keep(self, record: EpisodeRecord, place: Place) -> None:
        """Count an episode that was written there."""
        assert self._parts is not None, "only while it grows"
        row = row_of(record, self._table)
        part = self._parts.add(result_entry(record, row, self._numbers))
        if self.index.add(record, row, place, part):
            self._parts.flush()
            self.index.flush()

    def write_results(self, frame: Mapping[str, Any], rows: Iterable[IndexedRow]) -> None:
        """`results.json`: the frame with these episodes in it. The caller holds the run's lock."""
        rows = list(rows)
        with self._opened() as parts:
            lists = {
                "results": (self._piece(one, parts) for one in rows if one.scored),
                "unscored_results": (self._piece(one, parts) for one in rows if not one.scored),
            }
            self._directory.write_results(frame, lists)

    @contextmanager
    def _opened(self) -> Iterator[ResultParts]:
        if self._parts is not None:
            yield self._parts
            return
        anew = all(one.part is None for one in self.index.rows)
        self._parts = self._directory.parts(anew)
        try:
            yield self._parts
        finally:
            self._parts.close()
            self._parts = None

    def _piece(self, one: IndexedRow, parts: ResultParts) -> bytes:
        known = parts.read(one.part) if one.part else None
        if known is not None:
            return known
        entry = result_entry(self.index.record(one), one.row, self._numbers)
        self.index.with_part(one, parts.add(entry))
        return written(entry)


class Records(Sequence[EpisodeRecord]):
    """Records without prompts, each read from disk when it is asked for."""

    def __init__(self, index: RowIndex, rows: Sequence[IndexedRow]) -> None:
        self._index = index
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> EpisodeRecord: ...

    @overload
    def __getitem__(self, place: slice) -> "Records": ...

    def __getitem__(self, place: int | slice) -> "EpisodeRecord | Records":
        if isinstance(place, slice):
            return Records(self._index, self._rows[place])
        return self._index.record(self._rows[place]).slim()
