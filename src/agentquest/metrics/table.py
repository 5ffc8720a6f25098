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
from agentquest.metrics.behaviour import behaviour_of, grade, round_graded
from agentquest.metrics.statistics import SHARE, Bounds, Estimate
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest, Verbs

Value = Callable[[EpisodeRecord], float | None]
PERCENT = "%"
_KEY = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Metric:
    """`value` is None for a record that says nothing. Only scored episodes count.

    `unit` is shown beside the explanation; "%" means that values are fractions of 1
    and written as percentages. The estimator `rate` is for values that are 0 or 1.
    `bounds` are the least and the largest value possible: the interval needs them, and
    without them covers less than it says if values are skewed. `label` adds a word to a
    mean, such as a grade. `path` is where a configuration found it; the built-in ones have none.
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
    bounds: Bounds | None = None

    @property
    def limits(self) -> Bounds | None:
        """The bounds, where they are known; those of a rate are."""
        return SHARE if self.estimator == "rate" else self.bounds

    def format_value(self, value: float, sign: str = "") -> str:
        """A value of this metric; `sign` is `+` for differences."""
        if self.unit == PERCENT:
            return f"{value * 100:{sign}.1f}%"
        digits = self.digits
        if self.label is not None and not sign:
            _, digits = round_graded(value, digits, self.label)
        return f"{value:{sign},.{digits}f}"

    def format_interval(self, estimate: Estimate) -> str:
        """The ends of an interval, without the unit: `23.1–88.2`."""
        ends = (self.format_value(end) for end in (estimate.low, estimate.high))
        return "–".join(end.removesuffix(PERCENT) for end in ends)


class NotMeasured(Exception):
    """Raised by `value` where there should be a number; the text says why there is none."""


def metrics_table(manifest: Manifest) -> tuple[Metric, ...]:
    """The metrics of a run that is played here: the built-in ones, its benchmark's, the user's.

    Imports what the manifest names, so never for a run that is only read: see `measured`.
    """
    table = built_in(manifest)
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


def built_in(manifest: Manifest) -> list[Metric]:
    """The metrics that every run has."""
    limit = (0.0, float(manifest.max_steps))
    return [
        SUCCESS,
        Metric("steps", "steps", "steps", "average steps", _steps, digits=1, bounds=limit),
        Metric(
            "steps_of_successes",
            "steps if solved",
            "steps",
            "average steps of the solved episodes",
            _steps,
            only_solved=True,
            digits=1,
            bounds=limit,
        ),
        _share("reward", "", "average reward, 0 to 1", lambda record: record.reward),
        _share(
            "progress", "", "average progress at the end, 0 to 1", lambda record: record.progress
        ),
        _share(
            "repetition",
            "",
            "average share of repeated actions, 0 to 1",
            lambda record: record.repetition_rate,
        ),
        _share("invalid", PERCENT, "average share of steps not carried out", _invalid),
        Metric(
            "behaviour",
            "behaviour",
            "points",
            "average behaviour score, 0 to 100, and its grade",
            partial(_behaviour, verbs=manifest.verbs),
            digits=1,
            label=grade,
            bounds=(0.0, 100.0),
        ),
    ]


def _share(key: str, unit: str, explanation: str, value: Value) -> Metric:
    return Metric(key, key, unit, explanation, value, bounds=SHARE)


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
    if metric.bounds is not None and not metric.bounds[0] < metric.bounds[1]:
        raise ConfigError(f"metric {path!r}: its bounds must be the least value and the largest")
    return replace(metric, path=path)
