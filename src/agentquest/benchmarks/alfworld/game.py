"""ALFWorld's engine as training loops play it; copies of a game share its world."""

from collections.abc import Sequence
from functools import lru_cache

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.narrator import NOTHING_HAPPENS
from agentquest.benchmarks.alfworld.tasks import open_problem
from agentquest.lib.game import Game

KEPT = 256


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


class ParsedGames:
    """Opens games; those asked for lately are not read again."""

    def __init__(self, dialect: Dialect | None, keep: int = KEPT) -> None:
        self._given = dialect, keep
        self._read = lru_cache(keep)(
            lambda problem: AlfWorldEngine.from_text(open_problem(problem), dialect)
        )

    def __reduce__(self) -> tuple[type["ParsedGames"], tuple[Dialect | None, int]]:
        return ParsedGames, self._given

    def game(self, problem: str) -> AlfWorldGame:
        """A new game of the problem, which shares its world with others of the same."""
        return AlfWorldGame(self._read(problem))
