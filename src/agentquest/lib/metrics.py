"""Metrics of one episode, recorded by the driver as it goes.

To write your own, subclass, override `progress_function`, and name the class
as `metrics_class` of your driver (see examples/custom_metric.py).
"""

from collections.abc import Mapping
from typing import Any

from agentquest.lib.similarity import repetition_rate
from agentquest.lib.types import Action, Interaction, Observation, State


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
        """The share of actions that repeat an earlier one (see `agentquest.lib.similarity`)."""
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
