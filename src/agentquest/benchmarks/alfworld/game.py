"""ALFWorld's engine as training loops play it; copies of a game share its world."""

from collections import OrderedDict
from collections.abc import Sequence
from weakref import WeakValueDictionary

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.narrator import NOTHING_HAPPENS
from agentquest.benchmarks.alfworld.tasks import open_problem
from agentquest.lib.game import Game

KEPT = 256


class AlfWorldGame(Game):
    """One game in progress."""

    def __init__(self, parsed: AlfWorldEngine) -> None:
        self._parsed = parsed  # keeps it alive for other games of the same problem
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
    """Opens games; those being played, and the most recent ones, are not read again."""

    def __init__(self, dialect: Dialect | None, keep: int = KEPT) -> None:
        self._dialect = dialect
        self._keep = keep
        self._alive: WeakValueDictionary[str, AlfWorldEngine] = WeakValueDictionary()
        self._recent: OrderedDict[str, AlfWorldEngine] = OrderedDict()

    def __reduce__(self) -> tuple[type["ParsedGames"], tuple[Dialect | None, int]]:
        return ParsedGames, (self._dialect, self._keep)

    def game(self, problem: str) -> AlfWorldGame:
        """A new game of the problem, which shares its world with others of the same."""
        found = self._alive.get(problem)
        if found is None:
            found = AlfWorldEngine.from_text(open_problem(problem), self._dialect)
            self._alive[problem] = found
        self._recent[problem] = found
        self._recent.move_to_end(problem)
        while len(self._recent) > self._keep:
            self._recent.popitem(last=False)
        return AlfWorldGame(found)
