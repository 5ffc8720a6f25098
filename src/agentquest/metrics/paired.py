"""Whether two runs on the same tasks differ, task by task."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agentquest.errors import UserError
from agentquest.metrics.statistics import (
    Estimate,
    Floats,
    bootstrap_mean,
    sign_flip_p_value,
    wilson,
)


@dataclass(frozen=True)
class PairedCounts:
    """How two runs did on the same tasks."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def n(self) -> int:
        """How many tasks both runs have played."""
        return self.both + self.only_first + self.only_second + self.neither


def count_pairs(first: Sequence[bool], second: Sequence[bool]) -> PairedCounts:
    """Tell the tasks apart by which of two runs solved them; position by position."""
    _require_pairs(len(first), len(second))
    pairs = [(bool(a), bool(b)) for a, b in zip(first, second, strict=True)]
    return PairedCounts(
        both=pairs.count((True, True)),
        only_first=pairs.count((True, False)),
        only_second=pairs.count((False, True)),
        neither=pairs.count((False, False)),
    )


def mcnemar(counts: PairedCounts) -> float:
    """The p-value of the exact two-sided McNemar test.

    Were the runs equally good, each would win half of the disagreements: the
    p-value is twice the binomial tail of the smaller side, at most 1. Runs that
    never disagree give 1.
    """
    disagreements = counts.only_first + counts.only_second
    smaller = min(counts.only_first, counts.only_second)
    tail, term = 0, 1
    for i in range(smaller + 1):
        tail += term
        term = term * (disagreements - i) // (i + 1)
    return min(1.0, float(2 * tail / 2**disagreements))


def permutation_test(first: ArrayLike, second: ArrayLike) -> float:
    """The p-value of a paired permutation test over tasks, two-sided.

    Were the runs equally good, each task's two values could as well stand the
    other way round. With one trial a task and success it is the McNemar test.
    """
    return sign_flip_p_value(_differences(first, second))


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
    low = value - _join_bounds(second.value - second.low, first.high - first.value, phi)
    high = value + _join_bounds(second.high - second.value, first.value - first.low, phi)
    return Estimate(value, max(low, -1.0), min(high, 1.0), n)


def paired_mean_difference(first: ArrayLike, second: ArrayLike) -> Estimate | None:
    """Mean of second minus first, task by task, for any measured quantity.

    Percentile bootstrap over the pairs, so that what the tasks have in common
    cancels. None without tasks.
    """
    return bootstrap_mean(_differences(first, second))


def _differences(first: ArrayLike, second: ArrayLike) -> Floats:
    before, after = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    _require_pairs(before.size, after.size)
    differences: Floats = after - before
    return differences


def _correlation(counts: PairedCounts) -> float:
    """Phi of the two runs, corrected towards 0 when positive; 0 where a run never varies."""
    a, b, c, d = counts.both, counts.only_first, counts.only_second, counts.neither
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if margins == 0:
        return 0.0
    product = a * d - b * c
    corrected = max(product - counts.n / 2, 0.0) if product > 0 else float(product)
    return corrected / math.sqrt(margins)


def _join_bounds(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(one * one - 2 * phi * one * other + other * other, 0.0))


def _require_pairs(first: int, second: int) -> None:
    if first != second:
        raise UserError(f"paired runs need the same tasks: {first} against {second}")
