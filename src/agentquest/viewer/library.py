"""The runs in a folder, opened when somebody looks at them and kept up to date."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from agentquest.errors import AgentQuestError, UserError
from agentquest.metrics.measured import table_of
from agentquest.metrics.row_index import IndexedRow, RowIndex
from agentquest.metrics.table import Metric
from agentquest.records.episode import EpisodeRecord
from agentquest.records.glance import load_glance, save_glance, stamp
from agentquest.records.live import LIVE, LiveEvent, read_live
from agentquest.records.manifest import Manifest
from agentquest.records.run_directory import EPISODES, MANIFEST, RunDirectory, describe_damage
from agentquest.reports.model import Report, build_report
from agentquest.viewer.glances import Figures, Glance, figures_from, figures_of

_RUNNING_S = 60.0  # a run that has written nothing for longer is not called running
_LEVELS = 2


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
    def damage(self) -> str:
        """What is wrong with the record file, in a sentence; empty if nothing is."""
        return describe_damage(self.directory.path / EPISODES, self.index.damaged) or ""

    @property
    def report(self) -> Report:
        """Recomputed only when there are new episodes."""
        rows = self.rows
        state = hash((len(rows), sum(one.at for one in rows)))
        if self._report is None or self._report[0] != state:
            told = self.damage or None
            made = build_report(self.manifest, [one.row for one in rows], self.table, told)
            self._report = (state, made)
        return self._report[1]

    @property
    def state(self) -> str:
        """`complete`, `running`, `owed` (some have no score) or `stopped`."""
        rows = self.rows
        scored = sum(one.scored for one in rows)
        return _state(self.directory.path, self.manifest, len(rows), scored)

    @property
    def glance(self) -> Glance:
        """The run as one line of a list."""
        return Glance(self.name, self.manifest, self.state, figures_of(self.rows, self.damage))

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each task in the run."""
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
        self.alone = (folder / MANIFEST).is_file()  # the folder is a run itself
        self._open: dict[str, OpenRun] = {}
        self._glances: dict[str, tuple[list[Any], Manifest, Figures]] = {}

    def names(self) -> list[str]:
        """Every folder that is a run or looks like one."""
        if self.alone:
            return [self.folder.resolve().name]
        return sorted(_run_folders(self.folder, "", _LEVELS))

    def glances(self) -> list[Glance | Broken]:
        """All runs, those that cannot be read with what is wrong."""
        found: list[Glance | Broken] = []
        for name in self.names():
            try:
                found.append(self._glance(name))
            except (AgentQuestError, OSError, RecursionError) as error:
                found.append(Broken(name, str(error)))
        return found

    def _glance(self, name: str) -> Glance:
        path = self._path(name)
        if not (path / MANIFEST).is_file():
            raise UserError(f"it has episodes but no {MANIFEST}, so what was run is unknown")
        known, now = self._glances.get(name), stamp(path)
        if known is None or known[0] != now:
            manifest = RunDirectory(path).manifest() if known is None else known[1]
            stored = load_glance(path)
            figures = figures_from(stored) if stored is not None else None
            if figures is None:
                run = self.run(name)
                figures = figures_of(run.rows, run.damage)
                save_glance(path, now, figures.stored())
            known = self._glances[name] = (now, manifest, figures)
        _, manifest, figures = known
        state = _state(path, manifest, figures.episodes, figures.scored)
        return Glance(name, manifest, state, figures)

    def run(self, name: str) -> OpenRun:
        """A run by its name, up to date; raises `UserError` if there is none."""
        path = self._path(name)
        if not (path / MANIFEST).is_file():
            raise UserError(f"there is no run {name!r} in this folder")
        known = self._open.get(name)
        if known is None:
            known = self._open[name] = OpenRun(name, path)
        else:
            known.refresh()
        return known

    def _path(self, name: str) -> Path:
        """The folder of a run of ours; a name from outside leads nowhere else."""
        if self.alone:
            if name != self.folder.resolve().name:
                raise UserError(f"there is no run {name!r} in this folder")
            return self.folder
        parts = name.split("/")
        if len(parts) > _LEVELS or any(_leads_away(part) for part in parts):
            raise UserError(f"there is no run {name!r} in this folder")
        return self.folder.joinpath(*parts)


def _run_folders(folder: Path, before: str, levels: int) -> Iterator[str]:
    """The names of runs below a folder; nothing is looked for inside a run."""
    try:
        inside = [entry for entry in os.scandir(folder) if entry.is_dir()]
    except OSError:
        return
    for entry in inside:
        looks = any(os.path.lexists(f"{entry.path}/{file}") for file in (MANIFEST, EPISODES))
        if looks:
            yield f"{before}{entry.name}"
        elif levels > 1:
            yield from _run_folders(Path(entry.path), f"{before}{entry.name}/", levels - 1)


def _leads_away(part: str) -> bool:
    return part in ("", ".", "..") or "\0" in part or os.sep in part or "\\" in part


def _state(path: Path, manifest: Manifest, episodes: int, scored: int) -> str:
    """`complete`, `running`, `owed` (some have no score) or `stopped`."""
    if scored >= manifest.requested:
        return "complete"
    if time.time() - _last_written(path) < _RUNNING_S:
        return "running"
    return "owed" if episodes >= manifest.requested else "stopped"


def _last_written(path: Path) -> float:
    times = [0.0]
    for name in (EPISODES, LIVE):
        try:
            times.append((path / name).stat().st_mtime)
        except OSError:
            continue
    return max(times)
