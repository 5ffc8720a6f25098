"""The values of a run's own metrics: collected where it is played, recalled where it is read.

Only the process that plays a run imports the metrics its configuration names;
reports, comparisons and the viewer take their values from `metrics.json`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentquest.metrics.rows import EpisodeRow, measure
from agentquest.metrics.table import Metric, NotMeasured, built_in
from agentquest.records.manifest import Manifest, MeasuredMetric, MeasuredMetrics

# What a metric and its saved values have in common: how it is shown.
_SHOWN = [
    "path", "key", "heading", "unit", "explanation", "estimator", "only_solved", "digits", "bounds",
]  # fmt: skip
_LATER = "not measured yet; run the same command again to measure it"


def collect_measured(rows: Sequence[EpisodeRow], table: Sequence[Metric]) -> MeasuredMetrics:
    """The metrics of the table that a configuration named, with all their values."""
    return MeasuredMetrics(
        metrics=[
            MeasuredMetric(
                **{name: getattr(metric, name) for name in _SHOWN},
                values={row.key: row.values[metric.key] for row in rows},
                failed={
                    row.key: row.failed[metric.key] for row in rows if metric.key in row.failed
                },
            )
            for metric in table
            if metric.path
        ]
    )


def recall_table(manifest: Manifest, measured: MeasuredMetrics) -> tuple[Metric, ...]:
    """The metrics of a run that is only read; nothing is imported."""
    table = built_in(manifest)
    known = {metric.key for metric in table}
    for one in measured.metrics:
        if one.path in manifest.metrics and one.key not in known:
            shown: dict[str, Any] = {name: getattr(one, name) for name in _SHOWN}
            table.append(Metric(**shown, value=RecalledValue(one)))
            known.add(one.key)
    return tuple(table)


def recall_values(row: EpisodeRow, table: Sequence[Metric]) -> EpisodeRow:
    """The row with the values of those metrics of the table that are only looked up."""
    recalled = [metric for metric in table if isinstance(metric.value, RecalledValue)]
    if not recalled:
        return row
    values, failed = measure(row, recalled)
    return replace(row, values={**row.values, **values}, failed={**row.failed, **failed})


@dataclass(frozen=True)
class RecalledValue:
    """Stands in for a metric's function: looks its value up by the episode's key."""

    stored: MeasuredMetric

    def __call__(self, record: Any) -> float | None:
        """The value that was measured; NotMeasured, with the reason, if there is none."""
        key = record.key
        if key in self.stored.failed or key not in self.stored.values:
            raise NotMeasured(self.stored.failed.get(key, _LATER))
        return self.stored.values[key]
