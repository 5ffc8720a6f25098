"""Where adapters find the tasks of a benchmark, and how they play them in text.

One arena per benchmark and settings is shared by every environment of the process. Other
projects list their games in files of their own, which are read here.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentquest.errors import DataError, ParseError
from agentquest.lib import Arena, Briefing, Session, Task, Turn, parse_action
from agentquest.running.factory import make_benchmark

HOW_TO_ANSWER = (
    "Think as much as you like, then end your answer with one command in the form:\n"
    "Action: <command>"
)
_AGENTGYM_SPLITS = ("train", "valid_train")


def shared_arena(benchmark: str, settings: Mapping[str, Any] | None = None) -> Arena:
    """Where the tasks of a benchmark are found; `settings` are the benchmark's own."""
    given = {key: value for key, value in (settings or {}).items() if value is not None}
    return _arena(benchmark, json.dumps(given, sort_keys=True, default=str))


@lru_cache(maxsize=16)
def _arena(benchmark: str, settings: str) -> Arena:
    return Arena(make_benchmark(benchmark, json.loads(settings)))


def briefing_of(arena: Arena, task: Task | None = None) -> Briefing:
    """What the benchmark tells an agent before a game."""
    chosen = task or arena.task(0)
    driver = arena.benchmark.driver(chosen)
    driver.reset()
    return arena.benchmark.briefing(driver, chosen, 0)


def system_prompt(arena: Arena) -> str:
    """The benchmark's instructions, and the form that answers must have."""
    return f"{briefing_of(arena).instructions}\n\n{HOW_TO_ANSWER}"


class TextPlayer:
    """A session that is answered in free text, read as the evaluator reads it.

    An answer without an action costs a step and is told so; nothing is repaired.
    """

    def __init__(self, arena: Arena, max_steps: int | None, show_admissible: bool) -> None:
        self.session = Session(arena, max_steps)
        self._show_admissible = show_admissible

    def begin(self, task: Task | str) -> str:
        """The goal and the first observation."""
        turn = self.session.reset(task)
        return f"Goal: {self.session.goal}\n\n{self.describe(turn)}"

    def answer(self, reply: str) -> str:
        """What is seen after an answer."""
        try:
            return self.describe(self.session.step(parse_action(reply)))
        except ParseError as error:
            return self.describe(self.session.miss(str(error)))

    def describe(self, turn: Turn) -> str:
        """A turn's text, with the possible commands if these are shown."""
        if self._show_admissible and not turn.over:
            return f"{turn.text}\n\nPossible now: {', '.join(turn.admissible)}"
        return turn.text


def agentgym_games(arena: Arena, files: Sequence[Path]) -> list[Task]:
    """`mappings_train.json`, games of train; then `mappings_test.json`, games of valid_train."""
    if len(files) > len(_AGENTGYM_SPLITS):
        raise DataError("AgentGym has two mapping files: mappings_train.json, mappings_test.json")
    names = []
    for file, split in zip(files, _AGENTGYM_SPLITS, strict=False):
        rows = _read_json(file)
        try:
            names += [f"{split}/{row['task_type']}/{row['task_id']}" for row in rows]
        except (TypeError, KeyError) as error:
            raise DataError(f"{file} is not an AgentGym mapping file: {error!r}") from None
    return [arena.task(name, name.partition("/")[0]) for name in names]


def agentbench_games(arena: Arena, file: Path) -> list[Task]:
    """`data/alfworld/*.json`: for each kind of task, paths that end in split, kind, trial, file."""
    kinds = _read_json(file)
    try:
        paths = [path.split("/") for listed in kinds.values() for path in listed]
        names = ["/".join(path[-4:-1]) for path in paths]
    except (AttributeError, TypeError) as error:
        raise DataError(f"{file} is not an AgentBench list of games: {error!r}") from None
    return [arena.task(name, name.partition("/")[0]) for name in names]


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{file} cannot be read as JSON: {error}") from None
