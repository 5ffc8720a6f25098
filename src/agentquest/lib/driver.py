"""A driver plays one problem of one benchmark, step by step.

A benchmark implements `_reset` and `_step`; recording, parsing and the rule
that an unreadable answer is told to the agent rather than repaired live here,
once. Drivers hold plain data only, so they can be pickled and copied.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from agentquest.errors import ParseError
from agentquest.lib.metrics import Metrics
from agentquest.lib.parsing import Parser, parse_action
from agentquest.lib.types import Action, Observation, State


@dataclass(frozen=True)
class Outcome:
    """The benchmark's own verdict on the episode so far.

    Three different things: `done` (no further step is possible), `success` (the
    task is solved), `reward` (how well, in [0, 1]). `progress` may be the last
    value known when the goal has become unreachable: then `reachable` is False.
    """

    done: bool
    success: bool
    reward: float
    progress: float
    reachable: bool = True


class Driver(ABC):
    """Base class of all benchmarks' drivers."""

    action_class: ClassVar[type[Action]] = Action
    metrics_class: ClassVar[type[Metrics]] = Metrics

    def __init__(self) -> None:
        self.metrics: Any = self.metrics_class()
        self.unparsed: list[str] = []

    @property
    @abstractmethod
    def outcome(self) -> Outcome:
        """What the benchmark says of the episode so far."""

    @property
    def solved(self) -> bool:
        """Whether the task is solved; asked after every step, so override it where it is cheap."""
        return self.outcome.success

    @property
    def dialect(self) -> str:
        """Which wording the benchmark speaks, where it has several."""
        return ""

    @property
    def data_hash(self) -> str:
        """SHA-256 of what the problem was made from, for the records."""
        return ""

    def accepts(self, value: str) -> bool:
        """Whether the benchmark would carry out this command now (a sentence it ignores is not)."""
        return True

    def details(self) -> dict[str, Any]:
        """Anything else the benchmark wants in the record of a finished episode."""
        return {}

    @abstractmethod
    def _reset(self) -> tuple[str, Observation]:
        """Start the problem anew; returns the goal and the first observation."""

    @abstractmethod
    def _step(self, action: Action) -> tuple[State, Observation]:
        """Carry out one action."""

    def reset(self) -> Observation:
        """Start the problem anew and forget what was recorded."""
        goal, observation = self._reset()
        self.metrics.reset(goal)
        self.unparsed = []
        return observation

    def step(self, action: Action) -> Observation:
        """Carry out an action and record it."""
        state, observation = self._step(action)
        self.metrics.record(action, state, observation)
        self.metrics.success = self.solved
        return observation

    def step_raw(self, value: str, custom_parser: Parser | None = None) -> Observation:
        """Read an action out of free text and carry it out.

        Text without an action costs no step: the observation says what was
        wrong, and the text is kept in `unparsed`.
        """
        try:
            command = (custom_parser or parse_action)(value)
        except ParseError as error:
            self.unparsed.append(value)
            return Observation(output=str(error), success=False, can_proceed=True)
        return self.step(self.action_class(value=command))
