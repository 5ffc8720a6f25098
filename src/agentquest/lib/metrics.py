"""Metrics of one episode, recorded by the driver as it goes.

To write your own, subclass, override `progress_function`, and name the class
as `metrics_class` of your driver (see examples/custom_metric.py).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agentquest.lib.types import Action, Interaction, Observation, State


def similarity(a: str, b: str) -> float:
    """Levenshtein ratio of two action values, in [0, 1]."""
    from rapidfuzz.distance import Indel  # few runs compare actions, and none at its start

    return Indel.normalized_similarity(a, b)


def repetitions(values: Sequence[str], theta_a: float = 1.0) -> int:
    """Actions that are at least `theta_a` alike to some earlier one."""
    if theta_a >= 1.0:
        return len(values) - len(set(values)) if theta_a == 1.0 else 0
    return sum(
        any(similarity(value, earlier) >= theta_a for earlier in values[:i])
        for i, value in enumerate(values)
    )


def repetition_rate(
    values: Sequence[str], theta_a: float = 1.0, num_execution_steps: int | None = None
) -> float:
    """Repetitions per possible repetition; 0.0 where none is possible."""
    steps = len(values) if num_execution_steps is None else num_execution_steps
    if steps <= 1 or not values:
        return 0.0
    return repetitions(values, theta_a) / (steps - 1)


class Metrics:
    """Goal, steps and success of one episode, and the figures made of them."""

    def __init__(self) -> None:
        self.goal = ""
        self.success = False
        self.milestones: list[str] = []  # a plan from the start, if the benchmark has an oracle
        self.interactions: list[Interaction] = []

    def reset(self, goal: str) -> None:
        """Begin a new episode; `milestones` stay."""
        self.goal = goal
        self.success = False
        self.interactions = []

    def record(self, action: Action, state: State, observation: Observation) -> None:
        """Add one step: the action, and the state and observation that came of it."""
        self.interactions.append(Interaction(action, state, observation))

    @property
    def action_values(self) -> list[str]:
        """The commands given so far, in order."""
        return [interaction.action.value for interaction in self.interactions]

    def progress_function(self, state: State) -> float:
        """Progress in [0, 1] at one state: by default, the state's value is its progress."""
        if isinstance(state.value, int | float):
            return float(state.value)
        raise NotImplementedError(f"{type(self).__name__} has no progress_function")

    def progress(self, **kwargs: Any) -> list[float]:
        """Progress after each step."""
        return [self.progress_function(step.state, **kwargs) for step in self.interactions]

    def repetition_rate(
        self, theta_a: float = 1.0, num_execution_steps: int | None = None
    ) -> float:
        """The share of actions that repeat an earlier one."""
        return repetition_rate(self.action_values, theta_a, num_execution_steps)

    def export(
        self,
        repetition_function_kwargs: Mapping[str, Any] | None = None,
        progress_function_kwargs: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The episode as plain data, in the documented shape."""
        return {
            "goal": self.goal,
            "success": self.success,
            "actions": [step.action.export() for step in self.interactions],
            "states": [step.state.export() for step in self.interactions],
            "observations": [step.observation.export() for step in self.interactions],
            "repetition_rate": self.repetition_rate(**(repetition_function_kwargs or {})),
            "progress": self.progress(**(progress_function_kwargs or {})),
        }
