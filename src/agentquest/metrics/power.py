"""How many tasks and trials a question needs, by the formula that will answer it.

A run's outcomes vary for two reasons: tasks are hard or easy, and trials of one task differ.
How much of the variance is the tasks' is the intraclass correlation; two runs on the same
tasks share a part of it, which cancels in their difference.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agentquest.errors import UserError
from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.statistics import (
    AT_EACH_BOUND,
    AT_EACH_SIDE,
    CONFIDENCE,
    SHARE,
    Spread,
    find_sides,
    spread_from,
    t_quantile,
)
from agentquest.metrics.summary import group_outcomes

POWER = 0.8
ASSUMED_ICC = 0.3
_MOST_TASKS = 1_000_000

Outcomes = Mapping[str, Sequence[bool]]


@dataclass(frozen=True)
class Prospect:
    """What is expected of a run, and of another one that it will be compared with.

    `icc` is the correlation of two trials of one task, `shared` that of a trial of this run
    and one of the other. Where nothing is known, half of the tasks' part is taken as shared.
    """

    rate: float
    icc: float = ASSUMED_ICC
    shared: float = ASSUMED_ICC / 2

    def __post_init__(self) -> None:
        for name in ("rate", "icc"):
            if not 0 <= getattr(self, name) <= 1:
                raise UserError(f"{name} must be between 0 and 1, not {getattr(self, name):g}")

    def precision(self, tasks: int, trials: int = 1) -> float:
        """Half the width of the interval that so many tasks and trials will give."""
        variance = self._variance(self.rate, trials)
        low, high = spread_from(tasks, self.rate, variance, SHARE, AT_EACH_BOUND).interval()
        return (min(high, 1.0) - max(low, 0.0)) / 2

    def detectable(self, tasks: int, trials: int = 1, power: float = POWER) -> float | None:
        """The smallest difference that so many tasks show with this power; None if none is.

        The other run's rate is taken to lie towards one half, where outcomes vary most."""
        if not self._shows(1.0, tasks, trials, power):
            return None
        low, high = 0.0, self._farthest
        while high - low > 1e-6:
            middle = (low + high) / 2
            low, high = (
                (low, middle) if self._shows(middle, tasks, trials, power) else (middle, high)
            )
        return high

    def tasks_for_precision(self, points: float, trials: int = 1) -> int | None:
        """The fewest tasks with an interval of no more than ± `points` (a fraction of 1)."""
        return _fewest(lambda tasks: self.precision(tasks, trials) <= points)

    def tasks_for_difference(
        self, points: float, trials: int = 1, power: float = POWER
    ) -> int | None:
        """The fewest tasks that show a difference of `points` with this power."""
        if not 0 < points <= self._farthest:
            raise UserError(
                f"no rate is {points * 100:g} points from {self.rate:.1%}; at most"
                f" {self._farthest * 100:.1f}"
            )
        return _fewest(lambda tasks: self._shows(points, tasks, trials, power))

    @property
    def _farthest(self) -> float:
        return max(self.rate, 1 - self.rate)

    def _shows(self, points: float, tasks: int, trials: int, power: float) -> bool:
        points = min(points, self._farthest)
        other = self.rate + points if self.rate <= 0.5 else self.rate - points
        common = math.sqrt(self.rate * (1 - self.rate) * other * (1 - other))
        variance = self._variance(self.rate, trials) + self._variance(other, trials)
        variance = max(0.0, variance - 2 * self.shared * common)
        sides = find_sides(SHARE, 1 + (trials - 1) * (1 - self.icc))
        spread = spread_from(tasks, points, variance, sides, AT_EACH_SIDE)
        return spread.centre >= find_detectable(spread, power)

    def _variance(self, rate: float, trials: int) -> float:
        """Of the mean of a task's trials, over tasks."""
        return rate * (1 - rate) * (self.icc + (1 - self.icc) / trials)


def find_detectable(spread: Spread, power: float = POWER) -> float:
    """The difference from 0 that a test with this spread shows with this power."""
    reach = t_quantile((1 + CONFIDENCE) / 2, spread.freedom) + t_quantile(power, spread.freedom)
    return reach * spread.error


def expect(rows: Iterable[EpisodeRow], other: Iterable[EpisodeRow] = ()) -> Prospect:
    """What the scored episodes of a run, and of another on the same tasks, let expect."""
    first, second = group_outcomes(rows), group_outcomes(other)
    if not first:
        raise UserError("the run has no scored episode to learn from")
    rate = sum(map(sum, first.values())) / sum(map(len, first.values()))
    icc = estimate_icc(first)
    both = [task for task in first if task in second]
    if not both:
        icc = ASSUMED_ICC if icc is None else icc
        return Prospect(rate, icc, icc / 2)
    means = np.array([[np.mean(first[task]), np.mean(second[task])] for task in both])
    varied = math.sqrt(math.prod(p * (1 - p) for p in means.mean(axis=0)))
    covariance = float(np.cov(means.T)[0, 1]) if len(both) > 1 else 0.0
    shared = min(1.0, max(0.0, covariance / varied)) if varied else 0.0
    return Prospect(rate, max(ASSUMED_ICC, shared) if icc is None else icc, shared)


def estimate_icc(outcomes: Outcomes) -> float | None:
    """How alike trials of one task are, by analysis of variance; None with single trials or
    where every outcome is the same."""
    tasks = [np.array(one, dtype=float) for one in outcomes.values()]
    total = sum(one.size for one in tasks)
    if len(tasks) < 2 or total <= len(tasks):
        return None
    mean = sum(one.sum() for one in tasks) / total
    between = sum(one.size * (one.mean() - mean) ** 2 for one in tasks) / (len(tasks) - 1)
    within = sum(((one - one.mean()) ** 2).sum() for one in tasks) / (total - len(tasks))
    trials = (total - sum(one.size**2 for one in tasks) / total) / (len(tasks) - 1)
    varied = between + (trials - 1) * within
    return min(1.0, max(0.0, float((between - within) / varied))) if varied else None


def _fewest(is_enough: Callable[[int], bool]) -> int | None:
    high = 2
    while not is_enough(high):
        high *= 2
        if high > _MOST_TASKS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
