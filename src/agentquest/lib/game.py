"""A task's game as training loops play it: text in, text out, nothing recorded.

A `Driver` writes down every state and measures progress; a million rollouts need
neither. A benchmark whose engine can be played directly returns a `Game` of its
own from `Benchmark.game`; for all others `DriverGame` plays through the driver.
Example games for prompts are played in the same way.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from agentquest.lib.agent import Demonstration, Explorer, Oracle
from agentquest.lib.driver import Driver
from agentquest.lib.types import Observation


class Game(ABC):
    """One task in progress.

    `valid` says whether the last command was carried out, `done` whether no further step is
    possible, `won` whether the task is solved, and `reward` how well it was done, in [0, 1].
    These are plain attributes, because a session reads them after every step.
    """

    goal: str = ""
    valid: bool = True
    done: bool = False
    won: bool = False
    reward: float = 0.0

    @abstractmethod
    def reset(self) -> str:
        """Start over; returns the first observation."""

    @abstractmethod
    def step(self, command: str) -> str:
        """Carry out one command; returns what is observed."""

    @property
    @abstractmethod
    def admissible(self) -> Sequence[str]:
        """What can be done now."""

    @abstractmethod
    def plan(self) -> list[str]:
        """The oracle's commands from here; empty when solved or unreachable."""


class DriverGame(Game):
    """Any benchmark's game, played through its driver."""

    def __init__(
        self, driver: Driver, oracle: Callable[[Driver], Oracle | None] | None = None
    ) -> None:
        self.driver = driver
        self._oracle = oracle
        self._admissible: Sequence[str] = ()

    def reset(self) -> str:
        observation = self.driver.reset()
        self.goal = str(self.driver.metrics.goal)
        self.valid = True
        return self._note(observation)

    def step(self, command: str) -> str:
        observation = self.driver.step(self.driver.action_class(value=command))
        self.valid = observation.valid
        return self._note(observation)

    def _note(self, observation: Observation) -> str:
        outcome = self.driver.outcome
        self.done, self.won, self.reward = outcome.done, outcome.success, outcome.reward
        self._admissible = observation.admissible
        return observation.text or observation.output

    @property
    def admissible(self) -> Sequence[str]:
        return self._admissible

    def plan(self) -> list[str]:
        oracle = self._oracle(self.driver) if self._oracle is not None else None
        return [] if oracle is None else oracle.plan()


def play_example(game: Game, explorer: Explorer, longest: int) -> Demonstration | None:
    """The game as the explorer plays it; None if it is not won within so many steps."""
    first = observation = game.reset()
    turns: list[tuple[str, str, str]] = []
    while not game.done and len(turns) < longest:
        action = explorer.next_action(observation)
        observation = game.step(action)
        turns.append((explorer.thought, action, observation))
    return Demonstration(game.goal, first, tuple(turns)) if game.won else None
