"""Progress of an ALFWorld episode, measured against the oracle."""

from collections.abc import Mapping
from typing import Any

from agentquest.benchmarks.alfworld.types import AlfWorldState
from agentquest.lib import Metrics, State


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
        return [
            i
            for i, step in enumerate(self.interactions)
            if not step.state.plan.reachable  # type: ignore[attr-defined]
        ]

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
