"""ALFWorld's engine as training loops play it; copies of a game share its world."""

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GAME_FILE, PROBLEM_FILE
from agentquest.benchmarks.alfworld.engine.narrator import NOTHING_HAPPENS
from agentquest.benchmarks.alfworld.tasks import open_problem
from agentquest.lib.game import Game


class AlfWorldGame(Game):
    """One game in progress."""

    def __init__(self, parsed: AlfWorldEngine) -> None:
        self.engine = parsed.copy()
        self.goal = self.engine.goal_text

    def reset(self) -> str:
        text = self.engine.reset()
        self.valid = True
        self._judge(self.engine.won)
        return text

    def step(self, command: str) -> str:
        text = self.engine.step(command)
        self.valid = text is not NOTHING_HAPPENS
        if self.engine.won:
            self._judge(True)
        return text

    def _judge(self, won: bool) -> None:
        self.done = self.won = won
        self.reward = 1.0 if won else 0.0

    @property
    def admissible(self) -> Sequence[str]:
        return self.engine.admissible

    def plan(self) -> list[str]:
        return list(self.engine.plan().commands)


def open_game(problem: str, dialect: Dialect | None) -> AlfWorldGame:
    """A new game of the problem, which shares its world with others of the same."""
    return AlfWorldGame(_read_engine(problem, dialect, _times_written(problem)))


@lru_cache(256)
def _read_engine(problem: str, dialect: Dialect | None, written: tuple[int, ...]) -> AlfWorldEngine:
    """The games asked for lately are not read again, unless their files were `written` since."""
    return AlfWorldEngine.from_text(open_problem(problem), dialect)


def _times_written(problem: str) -> tuple[int, ...]:
    """Of the files of a game on disk; a built-in one has none."""
    times = []
    for name in ("", GAME_FILE, PROBLEM_FILE):
        with suppress(OSError, ValueError):  # a name that no file has
            times.append(Path(problem, name).stat().st_mtime_ns)
    return tuple(times)
