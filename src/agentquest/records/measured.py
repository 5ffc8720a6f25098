"""`metrics.json`: the values of a run's own metrics, so that reading a run imports nothing.

Metrics beside the built-in ones are code that the configuration names. It runs
where the run is made, on its owner's word; whoever only reads the folder, here or
on another machine, finds the saved values.
"""

from typing import Literal

from pydantic import Field

from agentquest.records.base import Record, Text

MEASURED_VERSION: Literal[1] = 1


class MeasuredMetric(Record):
    """One metric: how it is shown, and by episode its value or why there is none."""

    path: Text
    key: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    heading: Text
    unit: Text
    explanation: Text
    estimator: Literal["rate", "mean"]
    only_solved: bool
    digits: int = Field(ge=0, le=12)
    values: dict[str, float | None]
    failed: dict[str, Text] = Field(default_factory=dict)


class MeasuredMetrics(Record):
    """All of a run's further metrics."""

    schema_version: Literal[1] = MEASURED_VERSION
    metrics: list[MeasuredMetric] = Field(default_factory=list)
