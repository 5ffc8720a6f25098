"""The pages as files for any web host, or none: links are relative, an episode is a file.

An export is written next to its place, and moved there when it is complete.
"""

import os
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import htpy as h

from agentquest.errors import UserError
from agentquest.store.library import BrokenRun, Library, RunSummary
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.addresses import FileAddresses, Files
from agentquest.viewer.compare_page import compare_page, flipped_tasks
from agentquest.viewer.episode_page import episode_page
from agentquest.viewer.pages import PAGES, navigation_page, page
from agentquest.viewer.prompt_page import prompts_page
from agentquest.viewer.replay import analyse_episode
from agentquest.viewer.run_page import PAGE_SIZE, episode_list, run_page
from agentquest.viewer.runs_page import standings

ASSETS = ("viewer.css", "viewer.js", "icon.svg")
_MARKER = ".agentquest-export"
_MOST_PAIRS = 20  # of one table of the leaderboard
_MOST_TASKS = 200  # of one comparison, side by side


def asset(name: str) -> bytes:
    """A style sheet, script or picture of the pages."""
    return files("agentquest.viewer.static").joinpath(name).read_bytes()


def export(library: Library, target: Path) -> int:
    """Write all pages below `target`, in place of an earlier export; returns how many files."""
    if target.exists() and not (target / _MARKER).is_file() and any(target.iterdir()):
        raise UserError(f"{target} is not empty and not an export; choose another folder")
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.mkdir(parents=True)
        number = _Export(library, draft).write()
        (draft / _MARKER).touch()
        if target.exists():
            shutil.rmtree(target)
        draft.replace(target)
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return number


class _Export:
    def __init__(self, library: Library, folder: Path) -> None:
        self._library = library
        self._folder = folder
        self._files = Files(PAGE_SIZE)
        self._number = 0

    def write(self) -> int:
        summaries = self._library.summaries()
        names = [one.name for one in summaries if isinstance(one, RunSummary)]
        if self._library.alone and not names:
            raise UserError(next(one.problem for one in summaries if isinstance(one, BrokenRun)))
        for name, one in PAGES.items():
            if one.make and (one.of_one_run or not self._library.alone):
                self._files.pages[name] = "index.html" if name == "runs" else f"{name}.html"
        for name in ASSETS:
            self._put(f"static/{name}", asset(name))
        for name in names:
            run = self._library.run(name)
            keys = [one.key for one in run.rows]
            self._files.add_run(name, keys, self._library.alone)
        pairs = list(self._pairs(summaries))
        for name, file in self._files.pages.items():
            self._put(file, navigation_page(self._at(file), self._library, name, {}).encode())
        for name in names:
            self._run(self._library.run(name))
        for pair in pairs:
            self._comparison(pair)
        return self._number

    def _run(self, run: StoredRun) -> None:
        file = self._files.run_file(run.name)
        here = self._at(file)
        self._page(file, run.name, run_page(here, run, {}))
        for start in range(PAGE_SIZE, len(run.rows), PAGE_SIZE):
            content = episode_list(here, run, {"from": str(start)})
            self._page(self._files.run_file(run.name, start), run.name, content)
        for one in run.rows:
            record = run.record(one.key)
            seen = analyse_episode(record, run.manifest)
            file = self._files.episode_file(run.name, one.key)
            self._page(file, record.goal, episode_page(here, run.name, record, seen))
            prompted = [step for step in record.steps if step.prompt]
            if prompted:
                prompts = prompts_page(here, run.name, record, prompted)
                self._page(self._files.prompts_file(run.name, one.key), "Prompts", prompts)

    def _pairs(self, summaries: list[RunSummary | BrokenRun]) -> Iterator[tuple[str, str]]:
        """The best run of each table with each of the others."""
        for members in standings(summaries).values():
            for other in members[1 : _MOST_PAIRS + 1]:
                pair = (members[0].name, other.name)
                number = len({runs for runs, _ in self._files.comparisons}) + 1
                folder = f"compare/{number}/"
                self._files.comparisons[pair, None] = f"{folder}index.html"
                tasks = flipped_tasks([self._library.run(name) for name in pair])
                for place, task in enumerate(tasks[:_MOST_TASKS], start=1):
                    self._files.comparisons[pair, task] = f"{folder}{place}.html"
                yield pair

    def _comparison(self, pair: tuple[str, str]) -> None:
        runs = [self._library.run(name) for name in pair]
        for (names, task), file in self._files.comparisons.items():
            if names == pair:
                self._page(file, "Compare", compare_page(self._at(file), runs, task))

    def _at(self, file: str) -> FileAddresses:
        return FileAddresses(self._files, file)

    def _page(self, file: str, title: str, body: h.Node) -> None:
        self._put(file, page(self._at(file), title, body).encode())

    def _put(self, file: str, content: bytes) -> None:
        path = self._folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self._number += 1
