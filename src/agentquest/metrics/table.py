"""The table of metrics: every document is a rendering of it.

A metric is a row: what it is called, its value for one record, and how values
become a figure with an interval. One of your own is named in the configuration
as `package.module:METRIC` and appears wherever these do (see
examples/custom_metric.py).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from agentquest import registry
from agentquest.errors import ConfigError
from agentquest.metrics.behaviour import behaviour_of, grade
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest, Verbs

Value = Callable[[EpisodeRecord], float | None]
PERCENT = "%"
_KEY = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Metric:
    """`value` is None for a record that says nothing. Only scored episodes count.

    `unit` is shown beside the explanation; "%" means that values are fractions of 1
    and written as percentages. The `rate` of values that are 0 or 1 has Wilson's
    interval, a `mean` a bootstrap's. `label` adds a word to a mean, such as a grade.
    `path` is where a configuration found it; the built-in ones have none.
    """

    key: str
    heading: str
    unit: str
    explanation: str
    value: Value
    estimator: Literal["rate", "mean"] = "mean"
    only_solved: bool = False
    digits: int = 2
    label: Callable[[float], str] | None = None
    path: str = ""

    def format_value(self, value: float, sign: str = "") -> str:
        """A value of this metric; `sign` is `+` for differences."""
        if self.unit == PERCENT:
            return f"{value * 100:{sign}.1f}%"
        return f"{value:{sign},.{self.digits}f}"


class NotMeasured(Exception):
    """Raised by `value` where there should be a number; the text says why there is none."""


def metrics_table(manifest: Manifest) -> tuple[Metric, ...]:
    """The metrics of a run that is played here: the built-in ones, its benchmark's, the user's.

    Imports what the manifest names, so never for a run that is only read: see `measured`.
    """
    table = built_in(manifest.verbs)
    for path in dict.fromkeys(manifest.metrics):
        table.append(_load(path, table))
    return tuple(table)


SUCCESS = Metric(
    "success",
    "success",
    PERCENT,
    "share of scored episodes that solved the task",
    lambda record: float(record.success),
    estimator="rate",
)


def built_in(verbs: Verbs) -> list[Metric]:
    """The metrics that every run has; `verbs` are those of its benchmark."""
    return [
        SUCCESS,
        Metric("steps", "steps", "steps", "average steps", _steps, digits=1),
        Metric(
            "steps_of_successes",
            "steps if solved",
            "steps",
            "average steps of the solved episodes",
            _steps,
            only_solved=True,
            digits=1,
        ),
        Metric("reward", "reward", "", "average reward, 0 to 1", lambda record: record.reward),
        Metric(
            "progress",
            "progress",
            "",
            "average progress at the end, 0 to 1",
            lambda record: record.progress,
        ),
        Metric(
            "repetition",
            "repetition",
            "",
            "average share of repeated actions, 0 to 1",
            lambda record: record.repetition_rate,
        ),
        Metric("invalid", "invalid", PERCENT, "average share of steps not carried out", _invalid),
        Metric(
            "behaviour",
            "behaviour",
            "points",
            "average behaviour score, 0 to 100, and its grade",
            partial(_behaviour, verbs=verbs),
            digits=1,
            label=grade,
        ),
    ]


def _steps(record: EpisodeRecord) -> float:
    return float(len(record.steps))


def _invalid(record: EpisodeRecord) -> float | None:
    return record.invalid_actions / len(record.steps) if record.steps else None


def _behaviour(record: EpisodeRecord, verbs: Verbs) -> float:
    return behaviour_of(record, verbs).overall.unrounded_score


def _load(path: str, table: Sequence[Metric]) -> Metric:
    metric = registry.load_object("metric", path)
    if not isinstance(metric, Metric):
        raise ConfigError(
            f"metric {path!r} is a {type(metric).__name__}, not an agentquest.metrics.table.Metric"
        )
    if not _KEY.fullmatch(metric.key):
        raise ConfigError(f"metric {path!r}: its key {metric.key!r} is not of the form a_b_1")
    if any(metric.key == other.key for other in table):
        raise ConfigError(f"metric {path!r}: another metric already has the key {metric.key!r}")
    if not callable(metric.value):
        raise ConfigError(f"metric {path!r}: its value is not a function of a record")
    if metric.estimator not in ("rate", "mean"):
        raise ConfigError(f"metric {path!r}: its estimator must be 'rate' or 'mean'")
    return replace(metric, path=path)
