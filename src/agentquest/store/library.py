"""The runs in a folder, opened when somebody looks at them and kept up to date."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentquest.errors import UserError, explain
from agentquest.metrics.summary import RunFigures, Standing
from agentquest.records.manifest import Manifest
from agentquest.records.usage import Price
from agentquest.store.folder import EPISODES, MANIFEST, RunFolder
from agentquest.store.index import load_figures, stamp_figures
from agentquest.store.stored_run import StoredRun, find_standing, find_state

_LEVELS = 2


@dataclass(frozen=True)
class RunSummary:
    """One run of a list; `state` is `complete`, `running`, `pending` or `stopped`."""

    name: str
    manifest: Manifest
    state: str
    figures: RunFigures
    standing: Standing | None = None  # while it is running

    @classmethod
    def of(cls, run: StoredRun) -> "RunSummary":
        """The summary of a run that is open."""
        return cls(run.name, run.manifest, run.state, run.figures, run.standing)

    @property
    def scored(self) -> str:
        """How many episodes have a score, of how many; people play as many as they like."""
        requested = self.manifest.requested
        return f"{self.figures.scored:,}" + (f"/{requested:,}" if requested else "")


@dataclass(frozen=True)
class BrokenRun:
    """A folder that looks like a run and cannot be read."""

    name: str
    problem: str


@dataclass(frozen=True)
class SweptRun:
    """One run of a sweep: what was combined in it, and where it is."""

    agent: str
    model: str | None
    protocol: str | None
    seed: int
    path: Path


class Library:
    """The runs below a folder, at most two levels deep."""

    def __init__(self, folder: Path, price: Price | None = None) -> None:
        self.folder = folder
        self._price = price  # for calls that had none
        self.alone = (folder / MANIFEST).is_file()  # the folder is a run itself
        self._open: dict[str, StoredRun] = {}
        # By name: how the files of the run were, and what was read from them.
        self._known: dict[str, tuple[Any, Manifest, RunFigures]] = {}

    def names(self) -> list[str]:
        """Every folder that is a run or looks like one."""
        if self.alone:
            return [RunFolder(self.folder).name]
        return sorted(_run_folders(self.folder, "", _LEVELS))

    def summaries(self) -> list[RunSummary | BrokenRun]:
        """All runs, those that cannot be read with what is wrong."""
        found: list[RunSummary | BrokenRun] = []
        for name in self.names():
            try:
                found.append(self._summarise(name))
            except Exception as error:  # whatever is in its folder, the others are shown
                found.append(BrokenRun(name, explain(error)))
        return found

    def run(self, name: str) -> StoredRun:
        """A run by its name, up to date; raises `UserError` if there is none."""
        path = self._path(name)
        if not (path / MANIFEST).is_file():
            raise UserError(f"there is no run {name!r} in this folder")
        known = self._open.get(name)
        if known is None:
            known = self._open[name] = StoredRun(path, name=name, price=self._price)
        known.refresh()
        return known

    def _summarise(self, name: str) -> RunSummary:
        path = self._path(name)
        folder, stamp = RunFolder(path), stamp_figures(path)
        if not folder.exists:
            raise UserError(f"it has episodes but no {MANIFEST}, so what was run is unknown")
        known = self._known.get(name)
        if known is None or known[0] != stamp:
            manifest = folder.manifest()
            # Figures with a price of the caller's are nobody else's.
            saved = None if self._price else load_figures(path, stamp)
            figures = saved or self._compute_figures(name, stamp)
            known = self._known[name] = (stamp, manifest, figures)
        _, manifest, figures = known
        state = find_state(path, manifest, figures.episodes, figures.scored)
        standing = find_standing(path, manifest, state, figures)
        return RunSummary(name, manifest, state, figures, standing)

    def _compute_figures(self, name: str, stamp: list[Any]) -> RunFigures:
        run = self.run(name)
        if self._price is None:
            run.save_figures(stamp)
        return run.figures

    def _path(self, name: str) -> Path:
        """The folder of a run in this library; no name from outside leads anywhere else."""
        if self.alone:
            if name != RunFolder(self.folder).name:
                raise UserError(f"there is no run {name!r} in this folder")
            return self.folder
        parts = name.split("/")
        if len(parts) > _LEVELS or any(_leads_away(part) for part in parts):
            raise UserError(f"there is no run {name!r} in this folder")
        return self.folder.joinpath(*parts)


def _run_folders(folder: Path, before: str, levels: int) -> Iterator[str]:
    """The names of runs below a folder; nothing is looked for inside a run."""
    try:
        inside = [entry for entry in folder.iterdir() if entry.is_dir()]
    except OSError:
        return
    for entry in inside:
        looks = any(os.path.lexists(entry / file) for file in (MANIFEST, EPISODES))
        if looks:
            yield f"{before}{entry.name}"
        elif levels > 1:
            yield from _run_folders(entry, f"{before}{entry.name}/", levels - 1)


def _leads_away(part: str) -> bool:
    return part in ("", ".", "..") or "\0" in part or os.sep in part or "\\" in part
