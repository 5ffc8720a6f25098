"""Baselines that an assessment must tell from real agents, and the upper bound over A2A."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from agentquest.errors import UserError
from agentquest.lib import Agent, Answer, Benchmark, Driver, Episode, Observation, Oracle, Task

# What the agents that these stand for say when there is nothing to choose from.
_NO_OPTION = "go to kitchen"


class RepetitiveAgent(Agent):
    """Always the first option."""

    async def act(self, observation: Observation) -> Answer:
        return Answer(action=_option(observation.admissible, 0))


class AlternatingAgent(Agent):
    """The first option, then the second, then the first again."""

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._turn = 0

    async def act(self, observation: Observation) -> Answer:
        chosen = _option(observation.admissible, self._turn % 2)
        self._turn += 1
        return Answer(action=chosen)


class OracleBook:
    """The games a split begins with, by their first observation; read once, when first asked."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._by_opening: dict[str, list[Task]] | None = None
        self._reading = asyncio.Lock()

    async def games(self, opening: str) -> list["KnownGame"]:
        """All games that begin with this text, fresh."""
        async with self._reading:
            if self._by_opening is None:
                self._by_opening = await asyncio.to_thread(self._read)
        return [self._opened(task) for task in self._by_opening.get(opening, [])]

    def _read(self) -> dict[str, list[Task]]:
        found: dict[str, list[Task]] = {}
        for task in self._benchmark.tasks():
            found.setdefault(self._benchmark.driver(task).reset().text, []).append(task)
        return found

    def _opened(self, task: Task) -> "KnownGame":
        driver = self._benchmark.driver(task)
        driver.reset()
        oracle = self._benchmark.oracle(driver)
        if oracle is None:
            raise UserError(f"{self._benchmark.title} has no oracle")
        return KnownGame(driver, oracle)


@dataclass(frozen=True)
class KnownGame:
    """Our own copy of a game, and who knows the way in it."""

    driver: Driver
    oracle: Oracle

    def answers(self, command: str, text: str) -> bool:
        """Whether it answers a command in these words; it is then where the other game is."""
        return self.driver.step(self.driver.action_class(value=command)).text == text


class KnowingAgent(Agent):
    """Plays the shortest plan: knows the split's games and finds out which one is being played.

    Several games can begin alike; those that answer otherwise than the game at
    hand are dropped as it goes on.
    """

    def __init__(self, book: OracleBook) -> None:
        self._book = book
        self._games: list[KnownGame] = []
        self._last: str | None = None

    async def act(self, observation: Observation) -> Answer:
        if self._last is None:
            self._games = await self._book.games(observation.text)
        else:
            last = self._last
            self._games = [game for game in self._games if game.answers(last, observation.text)]
        if not self._games:
            return Answer(action=None, reply="I do not know this game.")
        plan = self._games[0].oracle.plan()
        self._last = plan[0] if plan else _option(observation.admissible, 0)
        return Answer(action=self._last)


def _option(admissible: Sequence[str], position: int) -> str:
    if not admissible:
        return _NO_OPTION
    return admissible[position] if position < len(admissible) else admissible[0]
