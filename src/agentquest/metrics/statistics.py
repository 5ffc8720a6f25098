"""How sure the numbers are: intervals for rates and means, several trials, two runs.

A bare percentage over 134 games hides about four points of standard error either
way, so every figure comes with its interval and its denominator. Trials of one
task are alike, so intervals over several trials resample tasks, not episodes.
No data means no figure: None, never 0.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentquest.errors import UserError
from agentquest.metrics.resampling import Floats, resampled_ratios

RESAMPLES = 2000


@dataclass(frozen=True)
class Estimate:
    """A figure, the interval that holds it at the confidence asked for, and its denominator."""

    value: float
    low: float
    high: float
    n: int


def wilson(successes: int, total: int, confidence: float = 0.95) -> Estimate | None:
    """A rate with its Wilson score interval; None when nothing was tried."""
    if not 0 <= successes <= total:
        raise UserError(f"successes must be between 0 and total={total}, not {successes}")
    z = _normal_quantile(confidence)
    if total == 0:
        return None
    rate = successes / total
    centre = rate + z * z / (2 * total)
    spread = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    # At the ends the bound is the end itself; rounding must not move it past.
    low = 0.0 if successes == 0 else (centre - spread) / scale
    high = 1.0 if successes == total else (centre + spread) / scale
    return Estimate(rate, low, high, total)


def bootstrap_mean(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Estimate | None:
    """A mean with its percentile bootstrap interval; None without values.

    `clusters` numbers the task that each value belongs to: whole tasks are then
    resampled. The same values in the same order with the same seed give the same
    interval.
    """
    _require_confidence(confidence)
    if resamples < 1:
        raise UserError(f"resamples must be at least 1, not {resamples}")
    numbers = np.asarray(values, dtype=float)
    for position in np.flatnonzero(~np.isfinite(numbers))[:1]:
        raise UserError(f"values[{position}] is {numbers[position]}, not a finite number")
    if numbers.size == 0:
        return None
    mean = math.fsum(numbers) / numbers.size
    sums, counts = _by_cluster(numbers, clusters)
    if np.all(sums == sums[0]) and np.all(counts == counts[0]):
        return Estimate(mean, mean, mean, numbers.size)
    tail = (1 - confidence) / 2
    ratios = resampled_ratios(sums, counts, resamples, np.random.default_rng(seed))
    low, high = np.quantile(ratios, (tail, 1 - tail))
    return Estimate(mean, float(low), float(high), numbers.size)


def rate(outcomes: ArrayLike, clusters: ArrayLike | None = None) -> Estimate | None:
    """The share of successes: Wilson's interval where every task has one trial, else a bootstrap
    over tasks. Where all or none succeed a bootstrap knows no doubt: then Wilson over tasks."""
    won = np.asarray(outcomes, dtype=float)
    successes = int(won.sum())
    tasks = won.size if clusters is None else np.unique(np.asarray(clusters)).size
    if tasks == won.size:
        return wilson(successes, won.size)
    if successes in (0, won.size):
        return _certain(wilson(tasks if successes else 0, tasks), won.size)
    return bootstrap_mean(won, clusters)


def chance_of_any(trials: int, successes: int, k: int) -> float:
    """pass@k of one task: that k of its trials hold a success, 1 - C(n-c, k) / C(n, k)."""
    _require_trials(trials, successes, k)
    return float(1 - Fraction(math.comb(trials - successes, k), math.comb(trials, k)))


def chance_of_all(trials: int, successes: int, k: int) -> float:
    """pass^k of one task: that k of its trials are all successes, C(c, k) / C(n, k)."""
    _require_trials(trials, successes, k)
    return float(Fraction(math.comb(successes, k), math.comb(trials, k)))


def pass_at_k(trials: Mapping[str, Sequence[bool]], k: int) -> Estimate | None:
    """Mean over tasks of the chance that at least one of k trials succeeds.

    The interval is a bootstrap over tasks; None without tasks.
    """
    return _mean_over_tasks(chance_of_any, trials, k)


def pass_hat_k(trials: Mapping[str, Sequence[bool]], k: int) -> Estimate | None:
    """Mean over tasks of the chance that all of k trials succeed (pass^k); else as pass_at_k."""
    return _mean_over_tasks(chance_of_all, trials, k)


def _mean_over_tasks(
    chance: Callable[[int, int, int], float], trials: Mapping[str, Sequence[bool]], k: int
) -> Estimate | None:
    for task, outcomes in trials.items():
        if k > len(outcomes):
            raise UserError(f"k={k} needs {k} trials of every task; {task!r} has {len(outcomes)}")
    chance = lru_cache(None)(chance)
    values = [chance(len(o), sum(map(bool, o)), k) for o in trials.values()]
    if values and set(values) in ({0.0}, {1.0}):
        return wilson(round(sum(values)), len(values))
    return bootstrap_mean(values)


def _by_cluster(values: Floats, clusters: ArrayLike | None) -> tuple[Floats, Floats]:
    """The sum and the number of values of each cluster."""
    if clusters is None:
        return values, np.ones(values.size)
    numbers = np.asarray(clusters)
    if numbers.size != values.size:
        raise UserError(f"{values.size} values but {numbers.size} clusters")
    places: NDArray[Any] = np.unique(numbers, return_inverse=True)[1]
    sums = np.asarray(np.bincount(places, weights=values), dtype=float)
    return sums, np.bincount(places).astype(float)


def _certain(estimate: Estimate | None, n: int) -> Estimate | None:
    """The interval of fewer independent trials around the same rate."""
    return estimate and Estimate(estimate.value, estimate.low, estimate.high, n)


def _normal_quantile(confidence: float) -> float:
    _require_confidence(confidence)
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _require_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise UserError(f"confidence must lie between 0 and 1, not {confidence}")


def _require_trials(trials: int, successes: int, k: int) -> None:
    if not 0 <= successes <= trials:
        raise UserError(f"successes must be between 0 and trials={trials}, not {successes}")
    if not 1 <= k <= trials:
        raise UserError(f"k must be between 1 and trials={trials}, not {k}")
