"""How sure the numbers are: intervals for rates and means, several trials, two runs.

A bare percentage over 134 games hides about four points of standard error either
way, so every figure comes with its interval and its denominator. No data means
no figure: None, never 0.
"""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from agentquest.errors import UserError


@dataclass(frozen=True)
class Estimate:
    """A figure, the interval that holds it at the confidence asked for, and its denominator."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class PairedCounts:
    """How two runs did on the same tasks."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def n(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither


@dataclass(frozen=True)
class McNemar:
    """Whether two runs on the same tasks differ; only the tasks they disagree on tell."""

    p_value: float
    only_first: int
    only_second: int
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
    values: Sequence[float],
    *,
    seed: int = 0,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Estimate | None:
    """A mean with its percentile bootstrap interval; None without values.

    The same values in the same order with the same seed give the same interval.
    Quantiles are interpolated linearly between the resampled means.
    """
    _require_confidence(confidence)
    if resamples < 1:
        raise UserError(f"resamples must be at least 1, not {resamples}")
    for position, value in enumerate(values):
        if not math.isfinite(value):
            raise UserError(f"values[{position}] is {value}, not a finite number")
    n = len(values)
    if n == 0:
        return None
    rng = random.Random(seed)
    means = sorted(math.fsum(rng.choices(values, k=n)) / n for _ in range(resamples))
    tail = (1 - confidence) / 2
    mean = math.fsum(values) / n
    return Estimate(mean, _quantile(means, tail), _quantile(means, 1 - tail), n)


def chance_of_any(trials: int, successes: int, k: int) -> float:
    """pass@k of one task: that k of its trials hold a success, 1 - C(n-c, k) / C(n, k)."""
    _require_trials(trials, successes, k)
    return float(1 - Fraction(math.comb(trials - successes, k), math.comb(trials, k)))


def chance_of_all(trials: int, successes: int, k: int) -> float:
    """pass^k of one task: that k of its trials are all successes, C(c, k) / C(n, k)."""
    _require_trials(trials, successes, k)
    return float(Fraction(math.comb(successes, k), math.comb(trials, k)))


def pass_at_k(
    trials: Mapping[str, Sequence[bool]], k: int, *, seed: int = 0, confidence: float = 0.95
) -> Estimate | None:
    """Mean over tasks of the chance that at least one of k trials succeeds.

    The interval is a percentile bootstrap over tasks; None without tasks.
    """
    return _mean_over_tasks(chance_of_any, trials, k, seed, confidence)


def pass_hat_k(
    trials: Mapping[str, Sequence[bool]], k: int, *, seed: int = 0, confidence: float = 0.95
) -> Estimate | None:
    """Mean over tasks of the chance that all of k trials succeed (pass^k); else as pass_at_k."""
    return _mean_over_tasks(chance_of_all, trials, k, seed, confidence)


def count_pairs(first: Sequence[bool], second: Sequence[bool]) -> PairedCounts:
    """Tell the tasks apart by which of two runs solved them; position by position."""
    _require_pairs(first, second)
    pairs = [(bool(a), bool(b)) for a, b in zip(first, second, strict=True)]
    return PairedCounts(
        both=pairs.count((True, True)),
        only_first=pairs.count((True, False)),
        only_second=pairs.count((False, True)),
        neither=pairs.count((False, False)),
    )


def mcnemar(counts: PairedCounts) -> McNemar:
    """Exact two-sided McNemar test.

    Were the runs equally good, each would win half of the disagreements: the
    p-value is twice the binomial tail of the smaller side, at most 1. Runs that
    never disagree give 1.
    """
    disagreements = counts.only_first + counts.only_second
    smaller = min(counts.only_first, counts.only_second)
    tail = sum(math.comb(disagreements, i) for i in range(smaller + 1))
    p_value = min(1.0, 2 * tail / 2**disagreements)
    return McNemar(p_value, counts.only_first, counts.only_second, counts.n)


def paired_rate_difference(counts: PairedCounts, confidence: float = 0.95) -> Estimate | None:
    """Success rate of the second run minus that of the first, on the same tasks.

    Newcombe's square-and-add interval for paired proportions (1998, method 10):
    the Wilson bounds of the two rates, joined under their continuity-corrected
    correlation. Unlike a bootstrap it does not shrink to nothing when the runs
    never disagree. None without tasks.
    """
    n = counts.n
    first = wilson(counts.both + counts.only_first, n, confidence)
    second = wilson(counts.both + counts.only_second, n, confidence)
    if first is None or second is None:
        return None
    value = (counts.only_second - counts.only_first) / n
    phi = _correlation(counts)
    low = value - _joined(second.value - second.low, first.high - first.value, phi)
    high = value + _joined(second.high - second.value, first.value - first.low, phi)
    return Estimate(value, max(low, -1.0), min(high, 1.0), n)


def paired_mean_difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int = 0,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> Estimate | None:
    """Mean of second minus first, task by task, for any measured quantity.

    Percentile bootstrap over the pairs, so that what the tasks have in common
    cancels. None without tasks.
    """
    _require_pairs(first, second)
    differences = [b - a for a, b in zip(first, second, strict=True)]
    return bootstrap_mean(differences, seed=seed, resamples=resamples, confidence=confidence)


def _mean_over_tasks(
    chance: Callable[[int, int, int], float],
    trials: Mapping[str, Sequence[bool]],
    k: int,
    seed: int,
    confidence: float,
) -> Estimate | None:
    for task, outcomes in trials.items():
        if k > len(outcomes):
            raise UserError(f"k={k} needs {k} trials of every task; {task!r} has {len(outcomes)}")
    values = [chance(len(o), sum(map(bool, o)), k) for o in trials.values()]
    return bootstrap_mean(values, seed=seed, confidence=confidence)


def _correlation(counts: PairedCounts) -> float:
    """Phi of the two runs, corrected towards 0 when positive; 0 where a run never varies."""
    a, b, c, d = counts.both, counts.only_first, counts.only_second, counts.neither
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if margins == 0:
        return 0.0
    product = a * d - b * c
    corrected = max(product - counts.n / 2, 0.0) if product > 0 else float(product)
    return corrected / math.sqrt(margins)


def _joined(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(one * one - 2 * phi * one * other + other * other, 0.0))


def _quantile(ordered: Sequence[float], q: float) -> float:
    position = q * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    if ordered[below] == ordered[above]:
        return ordered[below]
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


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


def _require_pairs(first: Sequence[object], second: Sequence[object]) -> None:
    if len(first) != len(second):
        raise UserError(f"paired runs need the same tasks: {len(first)} against {len(second)}")
