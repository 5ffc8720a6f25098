"""A metric of your own, used with a benchmark that is there already.

ALFWorld's progress is how much of the oracle's plan is no longer needed. Here it
is replaced by a stricter one: how many milestones were done in their order.
Run it: `python examples/custom_metric.py`
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from agentquest.benchmarks.alfworld import (
    AlfWorldAction,
    AlfWorldDriver,
    AlfWorldMetrics,
    AlfWorldUtils,
)
from agentquest.lib import Metrics


class InOrderMetrics(AlfWorldMetrics):
    """Counts milestones that were carried out one after the other; detours do not hurt."""

    def progress(self, **kwargs: Any) -> list[float]:
        done = 0
        values = []
        for step in self.interactions:
            if done < len(self.milestones) and step.action.value == self.milestones[done]:
                done += 1
            values.append(done / len(self.milestones) if self.milestones else 0.0)
        return values

    def export(
        self,
        repetition_function_kwargs: Mapping[str, Any] | None = None,
        progress_function_kwargs: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The documented export, and one figure more."""
        exported = super().export(repetition_function_kwargs, progress_function_kwargs)
        refused = [s for s in self.interactions if s.observation.text == "Nothing happens."]
        exported["refused"] = len(refused)
        return exported


class InOrderDriver(AlfWorldDriver):
    metrics_class: ClassVar[type[Metrics]] = InOrderMetrics


def main() -> None:
    problem = AlfWorldUtils.load_data("pick_and_place", "valid_unseen", data_path="builtin")[0]
    driver = InOrderDriver(problem=problem)
    driver.reset()
    plan = list(driver.metrics.milestones)
    for command in [plan[0], "dance", "look", *plan[1:]]:
        driver.step(AlfWorldAction(value=command))
    exported = driver.metrics.export()
    print("goal:", exported["goal"])
    for action, progress in zip(exported["actions"], exported["progress"], strict=True):
        print(f"{progress:5.2f}  {action['value']}")
    print("refused:", exported["refused"])
    print("success:", exported["success"])


if __name__ == "__main__":
    main()
