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
        self._last: Observation | None = None  # what an episode that is over goes on saying

    @property
    @abstractmethod
    def outcome(self) -> Outcome:
        """The benchmark's verdict on the episode so far."""

    @property
    def solved(self) -> bool:
        """Whether the task is solved; asked after every step, so override it where it is cheap."""
        return self.outcome.success

    @property
    def data_hash(self) -> str:
        """SHA-256 of what the problem was made from, for the records."""
        return ""

    def accepts(self, value: str) -> bool:
        """Whether the benchmark would carry out this command now (a sentence it ignores is not)."""
        return True

    def facts(self) -> dict[str, str]:
        """What affects the episode besides its data (a dialect, a tagger), for the records."""
        return {}

    def details(self) -> dict[str, Any]:
        """Anything else the benchmark wants in the record of a finished episode."""
        return {}

    @abstractmethod
    def _reset(self) -> tuple[str, Observation]:
        """Start the problem over; returns the goal and the first observation."""

    @abstractmethod
    def _step(self, action: Action) -> tuple[State, Observation]:
        """Carry out one action."""

    def reset(self) -> Observation:
        """Start the problem over and forget what was recorded."""
        goal, observation = self._reset()
        self.metrics.reset(goal)
        self.unparsed = []
        # A problem can be solved before the first step.
        self.metrics.success = self.solved
        self._last = observation if self.metrics.success else None
        return observation

    def step(self, action: Action) -> Observation:
        """Carry out an action and record it. Once an episode is over, nothing changes it."""
        if not isinstance(action, Action):
            name = self.action_class.__name__
            raise TypeError(
                f"step() takes an Action such as {name}(value='look'), not {action!r:.60};"
                " step_raw() reads an action out of text"
            )
        if self._last is not None:
            return self._last
        state, observation = self._step(action)
        self.metrics.record(action, state, observation)
        self.metrics.success = self.solved
        if not observation.can_proceed:
            self._last = observation
        return observation

    def step_raw(self, value: str, custom_parser: Parser | None = None) -> Observation:
        """Read an action from free text and carry it out.

        Text without an action costs no step: the observation says what was
        wrong, and the text is kept in `unparsed`.
        """
        if self._last is not None:
            return self._last
        try:
            command = (custom_parser or parse_action)(value)
        except ParseError as error:
            self.unparsed.append(value)
            return Observation(output=str(error), success=False, can_proceed=True)
        return self.step(self.action_class(value=command))
