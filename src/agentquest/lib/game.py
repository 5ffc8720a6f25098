"""A task's game as training loops play it: text in, text out, nothing recorded.

A `Driver` writes down every state and measures progress; a million rollouts need
neither. A benchmark whose engine can be played directly returns a `Game` of its
own from `Benchmark.game`; for all others `DriverGame` plays through the driver.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from agentquest.lib.driver import Driver, Outcome
from agentquest.lib.oracle import Oracle
from agentquest.lib.types import Observation


class Game(ABC):
    """One task in progress. `valid` says whether the last command was carried out."""

    goal: str = ""
    valid: bool = True

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

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether no further step is possible."""

    @property
    @abstractmethod
    def won(self) -> bool:
        """Whether the task is solved."""

    @property
    @abstractmethod
    def reward(self) -> float:
        """How well the task was done so far, in [0, 1]."""

    @abstractmethod
    def plan(self) -> list[str]:
        """The oracle's commands from here; empty when solved or unreachable."""


class DriverGame(Game):
    """Any benchmark's game, played through its driver."""

    def __init__(self, driver: Driver, oracle: Callable[[Driver], Oracle | None]) -> None:
        self.driver = driver
        self._oracle = oracle
        self._admissible: Sequence[str] = ()
        self._outcome = Outcome(False, False, 0.0, 0.0)

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
        self._outcome = self.driver.outcome
        self._admissible = observation.admissible
        return observation.text or observation.output

    @property
    def admissible(self) -> Sequence[str]:
        return self._admissible

    @property
    def done(self) -> bool:
        return self._outcome.done

    @property
    def won(self) -> bool:
        return self._outcome.success

    @property
    def reward(self) -> float:
        return self._outcome.reward

    def plan(self) -> list[str]:
        oracle = self._oracle(self.driver)
        return [] if oracle is None else oracle.plan()
