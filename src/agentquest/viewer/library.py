"""The runs in a folder, opened when somebody looks at them and kept up to date."""

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agentquest.errors import AgentQuestError, UserError
from agentquest.metrics.measured import table_of
from agentquest.metrics.row_index import IndexedRow, RowIndex
from agentquest.metrics.table import Metric
from agentquest.records.episode import EpisodeRecord
from agentquest.records.live import LIVE, LiveEvent, read_live
from agentquest.records.manifest import Manifest
from agentquest.records.run_directory import EPISODES, MANIFEST, RunDirectory, describe_damage
from agentquest.reports.model import Report, build_report

_RUNNING_S = 60.0  # a run that has written nothing for longer is not called running


@dataclass(frozen=True)
class Broken:
    """A folder that looks like a run and cannot be read."""

    name: str
    problem: str


class OpenRun:
    """One run; `refresh` reads what has been written since."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.directory = RunDirectory(path)
        self.manifest: Manifest = self.directory.manifest()
        self.table: tuple[Metric, ...] = table_of(self.directory, self.manifest)
        self.index = RowIndex(self.directory, self.table)
        self._report: tuple[int, Report] | None = None
        self.refresh()

    def refresh(self) -> None:
        """Read what has been recorded since."""
        self.index.refresh()

    @property
    def rows(self) -> list[IndexedRow]:
        """One row for each episode played, the try that counts."""
        return self.index.rows

    @property
    def report(self) -> Report:
        """Worked out anew only when episodes have come."""
        rows = self.rows
        state = hash((len(rows), sum(one.at for one in rows)))
        if self._report is None or self._report[0] != state:
            damage = describe_damage(self.directory.path / EPISODES, self.index.damaged)
            made = build_report(self.manifest, [one.row for one in rows], self.table, damage)
            self._report = (state, made)
        return self._report[1]

    @property
    def state(self) -> str:
        """`complete`, `running`, `owed` (some have no score) or `stopped`."""
        scored = sum(one.scored for one in self.rows)
        if scored >= self.manifest.requested:
            return "complete"
        if time.time() - self._last_written() < _RUNNING_S:
            return "running"
        return "owed" if len(self.rows) >= self.manifest.requested else "stopped"

    def _last_written(self) -> float:
        times = [0.0]
        for name in (EPISODES, LIVE):
            try:
                times.append((self.directory.path / name).stat().st_mtime)
            except OSError:
                continue
        return max(times)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each task stands in the run."""
        return {task: place for place, task in enumerate(self.manifest.task_ids)}

    def in_order(self) -> list[IndexedRow]:
        """The rows in the order of the manifest's tasks, then of trials."""
        last = len(self.places)
        return sorted(
            self.rows, key=lambda one: (self.places.get(one.row.task_id, last), one.row.trial)
        )

    def episode(self, key: str) -> EpisodeRecord:
        """The whole record of an episode; raises UserError if there is none."""
        one = self.index.find(key)
        if one is None:
            raise UserError(f"{self.name} has no episode {key!r}")
        return self.index.record(one)

    def live(self, offset: int) -> tuple[list[LiveEvent], int]:
        """Events from `offset` in `live.jsonl` on, and where to read on."""
        return read_live(self.directory.path, offset)


class Library:
    """The runs below a folder, at most two levels deep."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[str, OpenRun] = {}

    def names(self) -> list[str]:
        """The runs that are there now, by their path in the folder."""
        if (self.folder / MANIFEST).is_file():
            return [self.folder.resolve().name]
        found = [*self.folder.glob(f"*/{MANIFEST}"), *self.folder.glob(f"*/*/{MANIFEST}")]
        return sorted(file.parent.relative_to(self.folder).as_posix() for file in found)

    def runs(self) -> list[OpenRun | Broken]:
        """All of them, those that cannot be read with what is wrong."""
        found: list[OpenRun | Broken] = []
        for name in self.names():
            try:
                found.append(self.run(name))
            except (AgentQuestError, OSError, RecursionError) as error:
                found.append(Broken(name, str(error)))
        return found

    def run(self, name: str) -> OpenRun:
        """A run, up to date; raises UserError for a name that is not in the folder."""
        if name not in self.names():
            raise UserError(f"there is no run {name!r} in this folder")
        known = self._open.get(name)
        if known is None:
            single = (self.folder / MANIFEST).is_file()
            known = self._open[name] = OpenRun(name, self.folder if single else self.folder / name)
        else:
            known.refresh()
        return known
