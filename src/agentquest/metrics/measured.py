"""Writing down what a run's own metrics came to, and the table of metrics of a run that is read.

Only the process that plays a run imports the metrics its configuration names;
reports, comparisons and the viewer take their values from `metrics.json`.
"""

from collections.abc import Sequence
from functools import partial

from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.table import Metric, NotMeasured, built_in
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.records.measured import MeasuredMetric, MeasuredMetrics
from agentquest.records.run_directory import RunDirectory

_LATER = "not measured yet; run the same command again to measure it"


def measured(rows: Sequence[EpisodeRow], table: Sequence[Metric]) -> MeasuredMetrics:
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


def table_of(run: RunDirectory, manifest: Manifest) -> tuple[Metric, ...]:
    """The metrics of a run that is only read; nothing is imported."""
    table = built_in(manifest.verbs)
    known = {metric.key for metric in table}
    for one in run.measured().metrics if manifest.metrics else ():
        if one.path in manifest.metrics and one.key not in known:
            table.append(_recalled(one))
            known.add(one.key)
    return tuple(table)


def _recalled(stored: MeasuredMetric) -> Metric:
    return Metric(
        stored.key,
        stored.heading,
        stored.unit,
        stored.explanation,
        partial(_value, stored),
        estimator=stored.estimator,
        only_solved=stored.only_solved,
        digits=stored.digits,
        path=stored.path,
    )


def _value(stored: MeasuredMetric, record: EpisodeRecord) -> float | None:
    if record.key in stored.failed or record.key not in stored.values:
        raise NotMeasured(stored.failed.get(record.key, _LATER))
    return stored.values[record.key]
