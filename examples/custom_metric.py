"""Metrics of your own: one that every report shows, and progress by a rule of your own.

`OPENED` is a row of the table of metrics: text, Markdown, CSV, HTML, results.json and
comparisons show it with its interval. In a configuration it is named by its path,
`agentquest eval metrics=custom_metric:OPENED`.

`InOrderMetrics` replaces what a driver calls progress: by default how much of the
oracle's plan is no longer needed, here how many milestones were done in their order.

Run it: `python examples/custom_metric.py`
"""

import tempfile
from collections.abc import Mapping
from typing import Any, ClassVar

import agentquest
from agentquest.benchmarks.alfworld import (
    AlfWorldAction,
    AlfWorldDriver,
    AlfWorldMetrics,
    AlfWorldUtils,
)
from agentquest.lib import Metrics
from agentquest.metrics.table import Metric
from agentquest.records.episode import EpisodeRecord


def opened(record: EpisodeRecord) -> float | None:
    """Things opened per step; None for an episode that says nothing."""
    opens = [s for s in record.steps if s.valid and (s.action or "").startswith("open ")]
    return len(opens) / len(record.steps) if record.steps else None


OPENED = Metric(
    "opened", "opened", "%", "share of steps that opened something", opened, bounds=(0, 1)
)


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

    with tempfile.TemporaryDirectory() as folder:
        result = agentquest.evaluate(
            agent="scripted",
            data_path="builtin",
            num_games=6,
            metrics=["custom_metric:OPENED"],
            output_dir=folder,
        )
        print("opened:", result.report.overall.cells["opened"].text)


if __name__ == "__main__":
    main()
