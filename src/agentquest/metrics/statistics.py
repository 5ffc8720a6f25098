"""How sure the numbers are: intervals for rates and means, several trials, two runs.

A bare percentage over 134 games hides about four points of standard error either
way, so every figure comes with its interval and its denominator. Trials of one
task are alike, so intervals over several trials resample tasks, not episodes.
No data means no figure: None, never 0.

Resampling stays fast at any size. Up to `_DRAWN` numbers every resample is drawn one by
one. Beyond, the sorted numbers are put into bins, only how often each bin is drawn is
random, and the differences within a bin are added as normal noise of the same variance.
Numbers with few different values are binned without any loss.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentquest.errors import UserError

Floats = NDArray[np.floating[Any]]

RESAMPLES = 2000
_DRAWN = 1000
_BINS = 64
_EXACT_FLIPS = 20
_FLIPS = 20_000
_CHUNK = 1 << 20


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
    _require_confidence(confidence)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if total == 0:
        return None
    rate = successes / total
    centre = rate + z * z / (2 * total)
    spread = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    # At the ends the bound is the end itself; rounding must not move it beyond.
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
    over tasks. Where all or none succeed a bootstrap has zero width: then Wilson over tasks."""
    won = np.asarray(outcomes, dtype=float)
    successes = int(won.sum())
    tasks = won.size if clusters is None else np.unique(np.asarray(clusters)).size
    if tasks == won.size:
        return wilson(successes, won.size)
    if successes in (0, won.size):
        found = wilson(tasks if successes else 0, tasks)
        return found and replace(found, n=won.size)
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


def _require_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise UserError(f"confidence must lie between 0 and 1, not {confidence}")


def _require_trials(trials: int, successes: int, k: int) -> None:
    if not 0 <= successes <= trials:
        raise UserError(f"successes must be between 0 and trials={trials}, not {successes}")
    if not 1 <= k <= trials:
        raise UserError(f"k must be between 1 and trials={trials}, not {k}")


class Bins(NamedTuple):
    """How many numbers each bin holds, their mean and their variance."""

    sizes: NDArray[np.int64]
    means: Floats
    variances: Floats


def resampled_ratios(
    sums: Floats, counts: Floats, resamples: int, random: np.random.Generator
) -> Floats:
    """Sum of the sums by sum of the counts, for each resample of the pairs with replacement."""
    n = sums.size
    if n > _DRAWN:
        # To first order a ratio is the mean of these, and n is large.
        ratio, mean_count = sums.sum() / counts.sum(), counts.mean()
        return _resampled_means(ratio + (sums - ratio * counts) / mean_count, resamples, random)
    found = np.empty(resamples)
    rows = max(1, _CHUNK // n)
    for start in range(0, resamples, rows):
        some = slice(start, min(start + rows, resamples))
        drawn = random.integers(0, n, size=(some.stop - start, n), dtype=np.int32)
        found[some] = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    return found


def _resampled_means(values: Floats, resamples: int, random: np.random.Generator) -> Floats:
    bins, n = put_into_bins(values), values.size
    drawn = random.multinomial(n, bins.sizes / n, size=resamples)
    noise = random.standard_normal(resamples) * np.sqrt(drawn @ bins.variances)
    return np.clip((drawn @ bins.means + noise) / n, values.min(), values.max())


def put_into_bins(values: Floats) -> Bins:
    """The values by what they are where they are few, else in bins of equal size."""
    different, sizes = np.unique(values, return_counts=True)
    if different.size <= _BINS:
        return Bins(sizes, different, np.zeros(different.size))
    parts = np.array_split(np.sort(values), _BINS)
    return Bins(
        np.array([part.size for part in parts]),
        np.array([part.mean() for part in parts]),
        np.array([part.var() for part in parts]),
    )


def sign_flip_p_value(differences: Floats, seed: int = 0) -> float:
    """How often random signs make the sum of the differences at least as far from 0, two-sided.

    Every choice of signs is tried where there are few differences; else random
    ones, with the observed one counted among them, so that p is never 0.
    """
    sizes = np.abs(differences[differences != 0])
    if sizes.size == 0:
        return 1.0
    # Sums that are equal on paper must count as equal here.
    limit = abs(float(differences.sum())) * (1 - 1e-9) - 1e-12 * float(sizes.sum())
    if sizes.size <= _EXACT_FLIPS:
        sums: Floats = np.zeros(1)
        for size in sizes:
            sums = np.concatenate((sums + size, sums - size))
        return float(np.mean(np.abs(sums) >= limit))
    sums = _flipped_sums(sizes, np.random.default_rng(seed))
    return (1 + int(np.sum(np.abs(sums) >= limit))) / (1 + sums.size)


def _flipped_sums(sizes: Floats, random: np.random.Generator) -> Floats:
    """The sums of the sizes under random signs."""
    if sizes.size > _DRAWN:
        bins = put_into_bins(sizes)
        positive = random.binomial(bins.sizes, 0.5, size=(_FLIPS, bins.sizes.size))
        # The root of the mean square keeps the variance of a bin's sum.
        signed = (2 * positive - bins.sizes).astype(float)
        return signed @ np.sqrt(bins.means**2 + bins.variances)
    found = np.empty(_FLIPS)
    rows = max(1, _CHUNK // sizes.size)
    for start in range(0, _FLIPS, rows):
        some = slice(start, min(start + rows, _FLIPS))
        signs = random.integers(0, 2, size=(some.stop - start, sizes.size), dtype=np.int8)
        found[some] = 2 * (signs @ sizes) - sizes.sum()
    return found
