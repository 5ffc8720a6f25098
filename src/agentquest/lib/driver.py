"""A driver plays one problem of one benchmark, step by step.

A benchmark implements `_reset`, `_step` and `outcome`. Recording and parsing are
here, and so is the rule that an unreadable answer is reported to the agent and never
repaired. Drivers hold plain data only, so they can be pickled and copied.
"""

import copy
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from agentquest.errors import ParseError
from agentquest.lib.metrics import Metrics
from agentquest.lib.parsing import PARSE_FAILURE, Parser, parse_action
from agentquest.lib.types import Action, Observation, State


@dataclass(frozen=True)
class Outcome:
    """The benchmark's own verdict on the episode so far.

    Three different things: `done` (no further step is possible), `success` (the
    task is solved), `reward` (how well, in [0, 1]). `progress` may be the last
    value known when the goal has become unreachable: then `reachable` is False.
    `explanation` says in a sentence why the episode is over and not solved, if that is known.
    """

    done: bool
    success: bool
    reward: float
    progress: float
    reachable: bool = True
    explanation: str = ""


D = TypeVar("D", bound="Driver")


class Driver(ABC):
    """Base class of all benchmarks' drivers."""

    _made_from: str

    action_class: ClassVar[type[Action]] = Action
    observation_class: ClassVar[type[Observation]] = Observation
    metrics_class: ClassVar[type[Metrics]] = Metrics

    def __new__(cls: type[D], *given: Any, **named: Any) -> D:
        driver = super().__new__(cls)
        driver._made_from = repr((cls.__qualname__, given, sorted(named.items())))
        return driver

    def __init__(self) -> None:
        self.metrics: Any = self.metrics_class()
        self.unparsed: list[str] = []
        self._last: Observation | None = None  # the answer to every step after the end

    @property
    @abstractmethod
    def outcome(self) -> Outcome:
        """The benchmark's verdict on the episode so far."""

    @property
    def solved(self) -> bool:
        """`outcome.success`. Asked after every step: a driver whose outcome is costly to work out
        answers from the same source without the rest."""
        return self.outcome.success

    @property
    def data_hash(self) -> str:
        """SHA-256 of what the problem was made from, for the records.

        By default the arguments of the constructor; override it if they are not plain data.
        """
        return hashlib.sha256(self._made_from.encode()).hexdigest()

    def accepts(self, value: str) -> bool:
        """Whether `step` would carry out this command now.

        A driver that overrides this instead of `_accepts` is asked before every step.
        """
        return self._last is None and self._accepts(value)

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
        """Carry out one action; `valid` of the observation says whether it was possible."""

    def _accepts(self, value: str) -> bool:
        """Tries the command on a copy; override it where looking it up is cheaper."""
        return copy.deepcopy(self)._step(self.action_class(value=value))[1].valid

    def observe(self, text: str, admissible: Iterable[str] = (), valid: bool = True) -> Observation:
        """An observation of the current state, for `_reset` and `_step` to return."""
        outcome = self.outcome
        possible = () if outcome.done else tuple(admissible)
        return self.observation_class(
            text, outcome.success, not outcome.done, text, possible, valid
        )

    def reset(self) -> Observation:
        """Start the problem over and forget what was recorded."""
        goal, observation = self._reset()
        self.metrics.reset(goal)
        self.unparsed = []
        self._conclude(observation)  # a problem can be solved before the first step
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
        is_refused = type(self).accepts is not Driver.accepts and not self.accepts(action.value)
        state, observation = self._step(action)
        if is_refused:
            observation = replace(observation, valid=False)
        self.metrics.record(action, state, observation)
        self._conclude(observation)
        return observation

    def step_raw(self, value: str, custom_parser: Parser | None = None) -> Observation:
        """Read an action from free text, as the evaluator reads it, and carry it out.

        Text without an action costs no step: the observation says what was
        wrong, and the text is kept in `unparsed`. A `custom_parser` returns the
        command, an Action or its fields as a dict; None or an exception says that
        the text holds no action.
        """
        if self._last is not None:
            return self._last
        try:
            action = self._as_action((custom_parser or parse_action)(value))
        except ParseError as error:
            return self._refuse(value, str(error))
        except Exception as error:  # a parser of the user's own may raise anything
            return self._refuse(value, f"{PARSE_FAILURE} ({type(error).__name__}: {error})")
        return self.step(action)

    def _as_action(self, said: str | Mapping[str, Any] | Action | None) -> Action:
        if said is None:
            raise ParseError(PARSE_FAILURE)
        if isinstance(said, Action):
            return said
        return self.action_class(**said) if isinstance(said, Mapping) else self.action_class(said)

    def _refuse(self, value: str, why: str) -> Observation:
        self.unparsed.append(value)
        return Observation(output=why, valid=False)

    def _conclude(self, observation: Observation) -> None:
        self.metrics.success = self.solved
        self._last = None if observation.can_proceed else replace(observation, valid=False)
