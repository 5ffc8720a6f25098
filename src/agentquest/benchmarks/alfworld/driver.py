"""The AgentQuest driver of ALFWorld."""

from pathlib import Path
from typing import ClassVar

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.narrator import NOTHING_HAPPENS
from agentquest.benchmarks.alfworld.engine.state import State as GameState
from agentquest.benchmarks.alfworld.engine.trajectories import Goals, goals_named
from agentquest.benchmarks.alfworld.metrics import AlfWorldMetrics
from agentquest.benchmarks.alfworld.tasks import find_tasks, open_problem
from agentquest.benchmarks.alfworld.types import (
    AlfWorldAction,
    AlfWorldObservation,
    AlfWorldState,
)
from agentquest.lib import Action, Driver, Metrics, Observation, Outcome, State


class AlfWorldDriver(Driver):
    """Plays one problem, given as `AlfWorldUtils.load_data` names it."""

    action_class: ClassVar[type[Action]] = AlfWorldAction
    metrics_class: ClassVar[type[Metrics]] = AlfWorldMetrics
    metrics: AlfWorldMetrics

    def __init__(
        self,
        problem: str | Path,
        dialect: str | Dialect | None = None,
        goals: str | Goals = Goals.TEMPLATE,
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
        if goals_named(goals) is Goals.HUMAN:
            self._facts |= {"goals": Goals.HUMAN.value, "goal_seed": str(goal_seed)}
        self.current_state = AlfWorldState()
        self._games: dict[GameState, AlfWorldEngine] = {}

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
        self.current_state = AlfWorldState("", self._game())
        self.metrics.milestones = self.current_state.policy_commands
        self.metrics.problem = self.problem
        return self.engine.goal_text, AlfWorldObservation.of(text, self.engine)

    def _step(self, action: Action) -> tuple[State, Observation]:
        text = self.engine.step(action.value)
        valid = text is not NOTHING_HAPPENS
        if valid:
            self.current_state = AlfWorldState(action.value, self._game())
        return self.current_state, AlfWorldObservation.of(text, self.engine, valid)

    def _game(self) -> AlfWorldEngine:
        """The game as it stands, for keeping. Who comes back to where they were (players go to
        and fro) gets the game of then, whose plan is known."""
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

        `category` is "all" or a task type (`pick_heat_then_place`, `4`, …).
        """
        wanted = None if category == "all" else [category]
        return [task.problem for task in find_tasks(source, wanted, data_path, playable)]
