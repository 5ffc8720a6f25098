"""How sure the numbers are: one interval for rates and means, and its sister for two runs.

A bare percentage over 134 games hides about four points of standard error either way, so every
figure comes with its interval and its denominator. Trials of one task are alike, so what counts
is the spread between tasks. No data means no figure: None, never 0.

The interval is Student's over the task means, after three quarters of an imaginary task have
been added at each bound of the metric. They keep the doubt that a perfect or hopeless run
leaves, and matter less the more tasks there are. One formula covers rates and means, one trial
or several; a simulation chose it (`make bench BENCH=coverage`, results in docs/metrics.md).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agentquest.errors import UserError

if TYPE_CHECKING:  # numpy is imported where it computes: a run starts without it
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.floating[Any]]

Bounds = tuple[float, float]

SHARE: Bounds = (0.0, 1.0)
CONFIDENCE = 0.95
CLEAR = 0.05  # a p-value below this is called a difference
FEW = 10  # fewer tasks than this are marked: how well their interval covers depends on the case
AT_EACH_BOUND = 0.75
AT_EACH_SIDE = 0.5


@dataclass(frozen=True)
class Estimate:
    """A figure, its 95% interval, how many episodes it is of, and of how many tasks these are."""

    value: float
    low: float
    high: float
    n: int
    tasks: int

    @property
    def of_few_tasks(self) -> bool:
        """Whether there are too few tasks for an interval that says much."""
        return self.tasks < FEW


@dataclass(frozen=True)
class Spread:
    """What Student's distribution needs to know of a sample: an interval and a test."""

    centre: float
    error: float
    freedom: float

    def interval(self) -> Bounds:
        """At 95%, symmetric about the centre."""
        if self.error == 0:
            return self.centre, self.centre
        reach = t_quantile((1 + CONFIDENCE) / 2, self.freedom) * self.error
        return self.centre - reach, self.centre + reach

    def p_value(self) -> float:
        """Two-sided, that the centre is 0: below 0.05 where `interval` leaves 0 out."""
        if self.error == 0:
            return 1.0 if self.centre == 0 else 0.0
        return 2 * t_cdf(-abs(self.centre) / self.error, self.freedom)


def spread_from(
    size: float, mean: float, variance: float, ends: Bounds | None, weight: float
) -> Spread:
    """The mean of `size` values with this mean and variance, and `weight` imaginary ones at each
    of the ends."""
    centre, squares = mean, size * variance
    if ends is not None:
        centre = (size * mean + weight * sum(ends)) / (size + 2 * weight)
        squares += size * (mean - centre) ** 2 + weight * sum((end - centre) ** 2 for end in ends)
        size += 2 * weight
    freedom = size - 1
    return Spread(centre, math.sqrt(squares / freedom / size) if freedom else 0.0, freedom)


def estimate_mean(
    values: "ArrayLike", tasks: "ArrayLike | None" = None, bounds: Bounds | None = SHARE
) -> Estimate | None:
    """A mean, or the rate of values that are 0 or 1, with its interval; None without values.

    `tasks` numbers the task that each value belongs to; without, each is a task of its own.
    `bounds` are the least and the largest value possible. Without them the interval is Student's
    alone, which covers less than it says where values are skewed.
    """
    import numpy as np

    numbers = np.asarray(values, dtype=float)
    for position in np.flatnonzero(~np.isfinite(numbers))[:1]:
        raise UserError(f"values[{position}] is {numbers[position]}, not a finite number")
    if numbers.size == 0:
        return None
    mean = math.fsum(numbers) / numbers.size
    by_task = _task_values(numbers, tasks, mean)
    variance = float(by_task.var())
    spread = spread_from(by_task.size, mean, variance, bounds, AT_EACH_BOUND)
    low, high = spread.interval()
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    # Rounding must not move the end of an interval past the figure itself.
    return Estimate(mean, min(low, mean), max(high, mean), numbers.size, by_task.size)


def _task_values(values: "Floats", tasks: "ArrayLike | None", mean: float) -> "Floats":
    """One value per task, whose mean is that of all values: its own mean where every task has
    equally many trials, else what the task contributes to the ratio of the sums."""
    import numpy as np

    if tasks is None:
        return values
    numbers = np.asarray(tasks)
    if numbers.size != values.size:
        raise UserError(f"{values.size} values but {numbers.size} tasks")
    places: NDArray[Any] = np.unique(numbers, return_inverse=True)[1]
    trials = np.bincount(places)
    found: Floats = mean + np.bincount(places, weights=values - mean) / trials.mean()
    return found


def estimate_difference(
    first: "ArrayLike", second: "ArrayLike", bounds: Bounds | None = SHARE, trials: float = 1
) -> tuple[Estimate, Spread] | None:
    """Mean of second minus first, task by task; None without tasks.

    Half an imaginary task is added on either side: one that goes from bound to bound where tasks
    have one trial, and as much less far as means of several trials vary less. The interval and
    the p-value are the spread's, so they always agree.
    """
    import numpy as np

    before, after = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if before.size != after.size:
        raise UserError(f"paired runs need the same tasks: {before.size} against {after.size}")
    if before.size == 0:
        return None
    differences: Floats = after - before
    value, n = math.fsum(differences) / before.size, before.size
    sides, variance = find_sides(bounds, trials), float(differences.var())
    found = spread_from(n, value, variance, sides, AT_EACH_SIDE)
    low, high = found.interval()
    if bounds is not None:
        span = bounds[1] - bounds[0]
        low, high = max(low, -span), min(high, span)
    return Estimate(value, min(low, value), max(high, value), n, n), found


def can_differ(tasks: int, trials: float = 1) -> bool:
    """Whether so many tasks can show any difference, even the largest, at p < 0.05."""
    largest = spread_from(tasks, 1.0, 0.0, find_sides(SHARE, trials), AT_EACH_SIDE)
    return largest.p_value() < CLEAR


def find_sides(bounds: Bounds | None, trials: float) -> Bounds | None:
    """The width of the bounds, down and up, as far as it is left in a mean of so many trials."""
    if bounds is None:
        return None
    side = (bounds[1] - bounds[0]) / math.sqrt(trials)
    return -side, side


def correct_p_values(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: below 0.05 only what is unlikely even as the best of so many tests."""
    corrected, least = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = least
    return corrected


def chance_of_any(trials: int, successes: int, k: int) -> float:
    """pass@k of one task: that k of its trials hold a success, 1 - C(n-c, k) / C(n, k)."""
    return float(1 - Fraction(math.comb(trials - successes, k), math.comb(trials, k)))


def chance_of_all(trials: int, successes: int, k: int) -> float:
    """pass^k of one task: that k of its trials are all successes, C(c, k) / C(n, k)."""
    return float(Fraction(math.comb(successes, k), math.comb(trials, k)))


def pass_at_k(trials: Mapping[str, Sequence[bool]], k: int) -> Estimate | None:
    """Mean over tasks of the chance that at least one of k trials succeeds; None without tasks."""
    return _mean_over_tasks(chance_of_any, trials, k)


def pass_hat_k(trials: Mapping[str, Sequence[bool]], k: int) -> Estimate | None:
    """Mean over tasks of the chance that all of k trials succeed (pass^k); else as pass_at_k."""
    return _mean_over_tasks(chance_of_all, trials, k)


def _mean_over_tasks(
    chance: Callable[[int, int, int], float], trials: Mapping[str, Sequence[bool]], k: int
) -> Estimate | None:
    if k < 1:
        raise UserError(f"k must be 1 or more, not {k}")
    for task, outcomes in trials.items():
        if k > len(outcomes):
            raise UserError(f"k={k} needs {k} trials of every task; {task!r} has {len(outcomes)}")
    chance = lru_cache(None)(chance)
    return estimate_mean([chance(len(o), sum(map(bool, o)), k) for o in trials.values()])


def t_cdf(t: float, freedom: float) -> float:
    """Student's distribution function, for any positive degrees of freedom."""
    tail = _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    return tail if t < 0 else 1 - tail


@lru_cache(maxsize=4096)
def t_quantile(chance: float, freedom: float) -> float:
    """Where Student's distribution function is `chance`, which is at least a half."""
    low, high = 0.0, 1.0
    while t_cdf(high, freedom) < chance:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, freedom) < chance else (low, middle)
    return high


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (DLMF 8.17.22)."""
    if x <= 0:
        return 0.0
    if x > (a + 1) / (a + b + 2):  # beyond its mean the fraction converges slowly
        return 1 - _incomplete_beta(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale + a * math.log(x) + b * math.log1p(-x)) / a
    fraction, numerator, denominator = 1.0, 1.0, 0.0
    for i in range(1, 20_000):
        m = i // 2
        term = -(a + m) * (a + b + m) if i % 2 else m * (b - m)
        term *= x / ((a + i - 1) * (a + i))
        denominator = 1 / (1 + term * denominator)
        numerator = 1 + term / numerator
        fraction *= numerator * denominator
        if abs(numerator * denominator - 1) < 1e-15:
            break
    return front / fraction
