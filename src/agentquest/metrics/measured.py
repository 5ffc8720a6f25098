"""The values of a run's own metrics: collected where it is played, recalled where it is read.

Only the process that plays a run imports the metrics its configuration names;
reports, comparisons and the viewer take their values from `metrics.json`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.table import Metric, NotMeasured, built_in
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest, MeasuredMetric, MeasuredMetrics

_LATER = "not measured yet; run the same command again to measure it"


def collect_measured(rows: Sequence[EpisodeRow], table: Sequence[Metric]) -> MeasuredMetrics:
    """The metrics of the table that a configuration named, with all their values."""
    return MeasuredMetrics(
        metrics=[
            MeasuredMetric(
                path=metric.path,
                key=metric.key,
                heading=metric.heading,
                unit=metric.unit,
                explanation=metric.explanation,
                estimator=metric.estimator,
                only_solved=metric.only_solved,
                digits=metric.digits,
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
    table = built_in(manifest.verbs)
    known = {metric.key for metric in table}
    for one in measured.metrics:
        if one.path in manifest.metrics and one.key not in known:
            table.append(_recall(one))
            known.add(one.key)
    return tuple(table)


@dataclass(frozen=True)
class RecalledValue:
    """Stands in for a metric's function: looks its value up by the episode's key."""

    stored: MeasuredMetric

    def __call__(self, record: EpisodeRecord | EpisodeRow) -> float | None:
        """The value that was measured; NotMeasured, with the reason, if there is none."""
        key = record.key
        if key in self.stored.failed or key not in self.stored.values:
            raise NotMeasured(self.stored.failed.get(key, _LATER))
        return self.stored.values[key]


def _recall(stored: MeasuredMetric) -> Metric:
    return Metric(
        stored.key,
        stored.heading,
        stored.unit,
        stored.explanation,
        RecalledValue(stored),
        estimator=stored.estimator,
        only_solved=stored.only_solved,
        digits=stored.digits,
        path=stored.path,
    )
