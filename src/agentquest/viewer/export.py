"""The pages as files for any web host, or none: links are relative, an episode is a file.

An export is written next to its place, and moved there when it is complete.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from importlib.resources import files
from pathlib import Path

import htpy as h

from agentquest.errors import AgentQuestError, UserError, explain
from agentquest.files import explain_errors
from agentquest.metrics.rows import EpisodeRow
from agentquest.reports.compare import group_by_task
from agentquest.store.library import BrokenRun, Library, RunSummary
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.addresses import MOST_EPISODES, FileAddresses
from agentquest.viewer.compare_page import compare_page, find_flips
from agentquest.viewer.episode_page import episode_page
from agentquest.viewer.pages import PAGES, navigation_page, page, problem_page
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


def export(library: Library, target: Path, most_episodes: int = MOST_EPISODES) -> int:
    """Write the pages below `target`, in place of an earlier export; returns how many files.

    At most so many episodes of a run have pages of their own: those that were not solved first.
    """
    if target.exists() and not (target / _MARKER).is_file() and any(target.iterdir()):
        raise UserError(f"{target} is not empty and not an export; choose another folder")
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with explain_errors("write", target):
            draft.mkdir(parents=True)
            number = _Export(library, draft, most_episodes).write()
            (draft / _MARKER).touch()
            if target.exists():
                shutil.rmtree(target)
            draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return number


class _Export:
    def __init__(self, library: Library, folder: Path, most_episodes: int) -> None:
        self._library = library
        self._most_episodes = most_episodes
        self._folder = folder
        self._files = FileAddresses(PAGE_SIZE)
        self._runs: dict[str, StoredRun] = {}
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
            with suppress(AgentQuestError, OSError):  # its page says what is wrong
                self._runs[name] = self._library.run(name)
            rows = self._runs[name].rows if name in self._runs else []
            shown = sorted(rows, key=lambda row: row.success)[: self._most_episodes]
            self._files.add_run(
                name, [row.key for row in rows], {row.key for row in shown}, self._library.alone
            )
        pairs = list(self._pairs(summaries))
        for name, file in self._files.pages.items():
            here = self._files.seen_from(file)
            self._put(file, navigation_page(here, self._library, name, {}).encode())
        for name in names:
            self._run(name)
        for pair in pairs:
            self._comparison(pair)
        return self._number

    def _run(self, name: str) -> None:
        file = self._files.run(name)
        here = self._files.seen_from(file)
        self._page(file, name, lambda: run_page(here, self._library.run(name), {}))
        if name not in self._runs:
            return
        run = self._runs[name]
        for start in range(PAGE_SIZE, len(run.rows), PAGE_SIZE):
            make = partial(episode_list, here, run, {"from": str(start)})
            self._page(self._files.run(name, start), name, make)
        for row in run.rows:
            if shown := self._files.episode(name, row.key):
                self._episode(here, shown, run, row)

    def _episode(self, here: FileAddresses, file: str, run: StoredRun, row: EpisodeRow) -> None:
        record = cache(partial(run.record, row.key))

        def make() -> h.Node:
            seen = analyse_episode(record(), run.manifest)
            return episode_page(here, run.name, record(), seen)

        if not self._page(file, row.goal, make):
            return
        prompted = [step for step in record().steps if step.prompt]
        if prompted:
            file = self._files.prompts(run.name, row.key)
            self._page(file, "Prompts", lambda: prompts_page(here, run.name, record(), prompted))

    def _pairs(self, summaries: list[RunSummary | BrokenRun]) -> Iterator[tuple[str, str]]:
        """The best run of each table with each of the others."""
        for members in standings(summaries).values():
            readable = [one for one in members if one.name in self._runs]
            for other in readable[1 : _MOST_PAIRS + 1]:
                pair = (readable[0].name, other.name)
                number = len({runs for runs, _ in self._files.comparisons}) + 1
                folder = f"compare/{number}/"
                self._files.comparisons[pair, None] = f"{folder}index.html"
                tasks = find_flips([group_by_task(self._runs[name].rows) for name in pair])
                for place, task in enumerate(tasks[:_MOST_TASKS], start=1):
                    self._files.comparisons[pair, task] = f"{folder}{place}.html"
                yield pair

    def _comparison(self, pair: tuple[str, str]) -> None:
        runs = [self._runs[name] for name in pair]
        for (names, task), file in self._files.comparisons.items():
            if names == pair:
                here = self._files.seen_from(file)
                self._page(file, "Compare", partial(compare_page, here, runs, task))

    def _page(self, file: str, title: str, make: Callable[[], h.Node]) -> bool:
        """Whether it could be made; if not, a page in its place says why."""
        here, is_made = self._files.seen_from(file), True
        try:
            content = page(here, title, make())
        except Exception as error:  # of one page, whatever its record is made of
            content = problem_page(here, "This page cannot be shown", explain(error))
            is_made = False
        self._put(file, content.encode())
        return is_made

    def _put(self, file: str, content: bytes) -> None:
        path = self._folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self._number += 1
