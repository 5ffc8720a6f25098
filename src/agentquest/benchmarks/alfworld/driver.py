"""The AgentQuest driver of ALFWorld, what passes between it and an agent, and its metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import HUMAN, TEMPLATE
from agentquest.benchmarks.alfworld.engine.narrator import NOTHING_HAPPENS
from agentquest.benchmarks.alfworld.engine.state import WorldState
from agentquest.benchmarks.alfworld.oracle.planner import Plan
from agentquest.benchmarks.alfworld.tasks import find_tasks, open_problem
from agentquest.lib import Action, Driver, Metrics, Observation, Outcome, State
from agentquest.lib.types import internal

RESPONSE_FORMAT = "Your response should be in format: 'Action: <action_command>'"


@dataclass(frozen=True)
class AlfWorldAction(Action):
    """A command, such as `go to fridge 1`."""


@dataclass(frozen=True)
class AlfWorldState(State):
    """The last valid command ('' after reset), and the game at that moment.

    The oracle's plan is computed only when it is read, so that
    training loops do not pay for a metric they do not read.
    """

    value: str = ""
    game: AlfWorldEngine | None = internal(None)

    @cached_property
    def plan(self) -> Plan:
        """The shortest way to win from here; worked out when it is first read."""
        return Plan((), True) if self.game is None else self.game.plan()

    @property
    def policy_commands(self) -> list[str]:
        """The oracle's commands from here; empty when the game is won, or cannot be."""
        return list(self.plan.commands)


class AlfWorldObservation(Observation):
    """The game's text, followed by the admissible commands until the game is over.

    `admissible` and `output` take half the time of a step, so they are computed when first read.
    """

    _game: AlfWorldEngine

    @classmethod
    def of(cls, text: str, game: AlfWorldEngine, valid: bool = True) -> "AlfWorldObservation":
        """What a player sees of a game, which must not be played on: it is read later."""
        made, won = cls.__new__(cls), game.won
        made.__dict__.update(success=won, can_proceed=not won, text=text, valid=valid, _game=game)
        return made

    @cached_property
    def admissible(self) -> tuple[str, ...]:
        """The commands that the game would carry out at that moment, sorted."""
        return tuple(self._game.admissible)

    @cached_property
    def output(self) -> str:
        """The whole message for an agent that sees nothing else."""
        if not self.can_proceed:
            return self.text
        commands = self._game.admissible_text
        return f"{self.text}\nAdmissible commands:\n{commands}\n{RESPONSE_FORMAT}"


class AlfWorldMetrics(Metrics):
    """Adds `milestones` (the oracle's plan at reset) and the problem's name."""

    def __init__(self) -> None:
        super().__init__()
        self.problem = ""

    def progress_function(self, state: State) -> float:
        """The share of the oracle's first plan that no longer has to be done."""
        assert isinstance(state, AlfWorldState)
        if not self.milestones:
            return 1.0 if state.plan.reachable else 0.0
        done = len(self.milestones) - len(state.policy_commands)
        return max(0.0, done / len(self.milestones))

    def progress(self, **kwargs: Any) -> list[float]:
        """Progress after each step; the last value known once the goal is out of reach."""
        values: list[float] = []
        for step in self.interactions:
            if step.state.plan.reachable:  # type: ignore[attr-defined]
                values.append(self.progress_function(step.state, **kwargs))
            else:
                values.append(values[-1] if values else 0.0)
        return values

    def progress_now(self) -> float:
        """The newest value of `progress`, without working out the older ones."""
        for step in reversed(self.interactions):
            if step.state.plan.reachable:  # type: ignore[attr-defined]
                return self.progress_function(step.state)
        return 0.0

    def unreachable_steps(self) -> list[int]:
        """Indices of the steps after which no plan could win any more."""
        states = [step.state for step in self.interactions]
        return [i for i, state in enumerate(states) if not state.plan.reachable]  # type: ignore[attr-defined]

    def export(
        self,
        repetition_function_kwargs: Mapping[str, Any] | None = None,
        progress_function_kwargs: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        exported = super().export(repetition_function_kwargs, progress_function_kwargs)
        exported["milestones"] = list(self.milestones)
        exported["problem"] = self.problem
        if unreachable := self.unreachable_steps():
            exported["unreachable_steps"] = unreachable
        return exported


class AlfWorldDriver(Driver):
    """Plays one problem, given as `AlfWorldUtils.load_data` names it."""

    action_class: ClassVar[type[Action]] = AlfWorldAction
    metrics_class: ClassVar[type[Metrics]] = AlfWorldMetrics
    metrics: AlfWorldMetrics

    def __init__(
        self,
        problem: str | Path,
        dialect: str | Dialect | None = None,
        goals: str = TEMPLATE,
        goal_seed: int = 0,
    ) -> None:
        super().__init__()
        self.problem = str(problem)
        text = open_problem(problem, goals, goal_seed)
        self.engine = AlfWorldEngine.from_text(text, dialect)
        self._data_hash = text.sha256
        self._facts = {"dialect": self.engine.dialect.value}
        if text.grammar:
            self._facts |= {"grammar": "modified", "grammar_fingerprint": text.grammar}
        if goals == HUMAN:
            self._facts |= {"goals": HUMAN, "goal_seed": str(goal_seed)}
        self.current_state = AlfWorldState()
        self._games: dict[WorldState, AlfWorldEngine] = {}

    @property
    def data_hash(self) -> str:
        return self._data_hash

    def facts(self) -> dict[str, str]:
        """What the episode was played with, beyond the problem: for its record."""
        return dict(self._facts)

    def _accepts(self, value: str) -> bool:
        return self.engine.accepts(value)

    @property
    def solved(self) -> bool:
        return self.engine.won  # as `outcome` says, without the oracle's plan

    @property
    def outcome(self) -> Outcome:
        won = self.engine.won
        return Outcome(
            done=won,
            success=won,
            reward=float(won),
            progress=self.metrics.progress_now(),
            reachable=self.current_state.plan.reachable,
        )

    def oracle_actions(self) -> list[str]:
        """The shortest winning plan from here, for the oracle agent and for hints."""
        return list(self.engine.plan().commands)

    def _reset(self) -> tuple[str, Observation]:
        text = self.engine.reset()
        self._games.clear()
        game = self._game()
        self.current_state = AlfWorldState("", game)
        self.metrics.milestones = self.current_state.policy_commands
        self.metrics.problem = self.problem
        return self.engine.goal_text, AlfWorldObservation.of(text, game)

    def _step(self, action: Action) -> tuple[State, Observation]:
        text = self.engine.step(action.value)
        game, valid = self._game(), text is not NOTHING_HAPPENS
        if valid:
            self.current_state = AlfWorldState(action.value, game)
        return self.current_state, AlfWorldObservation.of(text, game, valid)

    def _game(self) -> AlfWorldEngine:
        """A snapshot of the game. Returning to an earlier state returns its cached snapshot, so
        its plan is not recomputed."""
        return self._games.setdefault(self.engine.state, self.engine.copy())


class AlfWorldUtils:
    """Finding problems to play."""

    @staticmethod
    def load_data(
        category: str = "all",
        source: str = "valid_unseen",
        data_path: str | Path | None = None,
        playable: bool = False,
    ) -> list[str]:
        """Problem identifiers of one split, for `AlfWorldDriver(problem=…)`.

        `category` is "all" or a task type ("pick_heat_then_place", "4", …).
        """
        wanted = None if category == "all" else [category]
        return [task.problem for task in find_tasks(source, wanted, data_path, playable)]
