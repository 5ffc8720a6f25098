"""The figures of a run, overall and by task type, from its rows and nothing else.

Denominators are the episodes that were scored. Episodes lost to infrastructure
are counted beside them, never as failures.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from agentquest.metrics.rows import NO_CALLS, EpisodeRow, Pace, Spent, measure_pace, total
from agentquest.metrics.statistics import Estimate, estimate_mean, pass_at_k, pass_hat_k
from agentquest.metrics.table import Metric
from agentquest.records.outcome import End

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Every number of trials up to ten, then some.
_KS = (*range(1, 11), 20, 50, 100)


@dataclass(frozen=True)
class Group:
    """Figures over some episodes; None where no episode has the figure."""

    episodes: int
    scored: int
    successes: int
    figures: Mapping[str, Estimate | None]
    ends: Mapping[End, int]
    replies: Mapping[str, int]
    unread: Mapping[str, int]


@dataclass(frozen=True)
class Summary:
    """What a run came to. `pass_at` and `pass_hat` are by k, for runs with several trials.
    `spent` includes what was `replaced`: attempts that were paid for and played again."""

    overall: Group
    by_type: Mapping[str, Group]
    spent: Spent
    pace: Pace
    several_trials: bool
    pass_at: Mapping[int, Estimate] = field(default_factory=dict)
    pass_hat: Mapping[int, Estimate] = field(default_factory=dict)
    replaced: Spent = NO_CALLS


@dataclass(frozen=True)
class RunFigures:
    """What a list of runs shows of one. Means are over scored episodes; None is unknown, never
    zero. `damage` says what is wrong with its file of episodes."""

    episodes: int
    scored: int
    success: Estimate | None
    progress: float | None
    steps: float | None
    tokens: int | None
    cost: float | None
    damage: str = ""

    @property
    def solved(self) -> int:
        """How many of the scored episodes solved their task."""
        return round(self.success.value * self.success.n) if self.success else 0


@dataclass(frozen=True)
class Standing:
    """How far a run is that is being played. Its wins end early and its losses late, so the rate
    of what has ended says little; `bounds` are the rates that it can still come to."""

    solved: int
    not_solved: int
    playing: int
    waiting: int

    @classmethod
    def count(cls, requested: int, scored: int, solved: int, playing: int) -> "Standing":
        """What is neither scored nor playing waits, also what will be played again."""
        playing = max(0, min(playing, requested - scored))
        return cls(solved, scored - solved, playing, max(0, requested - scored - playing))

    @property
    def bounds(self) -> tuple[float, float]:
        """The success rate if all that is left fails, and if all of it succeeds."""
        total = self.solved + self.not_solved + self.playing + self.waiting
        return self.solved / max(total, 1), 1 - self.not_solved / max(total, 1)

    @property
    def counts(self) -> tuple[str, str, str, str]:
        """The four numbers with their words."""
        return (
            f"{self.solved:,} solved",
            f"{self.not_solved:,} not solved",
            f"{self.playing:,} playing",
            f"{self.waiting:,} waiting",
        )

    @property
    def outlook(self) -> str:
        """The bounds, as `success will be 2.2–98.5%`."""
        low, high = (f"{bound * 100:.1f}" for bound in self.bounds)
        return f"success will be {low}–{high}%"


def summarise(
    rows: Sequence[EpisodeRow], table: Sequence[Metric], replaced: Spent = NO_CALLS
) -> Summary:
    """One pass for all documents of a run, the same whichever episode was finished first."""
    rows = in_order(rows)
    columns = _Columns(rows, table)
    by_type: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        by_type.setdefault(row.task_type, []).append(place)
    at, hat = _several_trials(rows)
    return Summary(
        overall=columns.group(range(len(rows))),
        by_type={name: columns.group(by_type[name]) for name in sorted(by_type)},
        spent=total([replaced, *(row.spent for row in rows)]),
        replaced=replaced,
        pace=measure_pace(rows),
        several_trials=any(row.trial for row in rows),
        pass_at=at,
        pass_hat=hat,
    )


def headline_figures(
    rows: Iterable[EpisodeRow], damage: str = "", replaced: Spent = NO_CALLS
) -> RunFigures:
    """The same figures as the report's, without the intervals of means."""
    every = list(rows)
    scored = in_order(row for row in every if row.scored)
    tasks: dict[str, int] = {}
    clusters = [tasks.setdefault(row.task_id, len(tasks)) for row in scored]
    spent = total([replaced, *(row.spent for row in every)])
    return RunFigures(
        episodes=len(every),
        scored=len(scored),
        success=estimate_mean([float(row.success) for row in scored], clusters),
        progress=mean_of_known([row.values.get("progress") for row in scored]),
        steps=mean_of_known([float(row.steps) for row in scored]),
        tokens=spent.tokens,
        cost=spent.whole_cost,
        damage=damage,
    )


def mean_of_known(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known; None if none is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def mean_progress(rows: Sequence[EpisodeRow], steps: int) -> list[float]:
    """From the start to step `steps`; an episode that has ended keeps its last progress."""
    # What each step adds to the sum, so that long runs are read once.
    added = [0.0] * (steps + 1)
    for row in rows:
        before = 0.0
        for place, value in enumerate(row.progress_curve, start=1):
            added[place] += value - before
            before = value
    return [total / len(rows) for total in accumulate(added)]


def in_order(rows: Iterable[EpisodeRow]) -> list[EpisodeRow]:
    """By task and trial, so that sums do not depend on which episode was finished first."""
    return sorted(rows, key=lambda row: (row.task_id, row.trial))


def group_outcomes(rows: Iterable[EpisodeRow]) -> dict[str, list[bool]]:
    """Whether each scored trial of a task succeeded."""
    found: dict[str, list[bool]] = {}
    for row in rows:
        if row.scored:
            found.setdefault(row.task_id, []).append(row.success)
    return found


class _Columns:
    """The rows' values as one array per metric; an unknown value is NaN."""

    def __init__(self, rows: Sequence[EpisodeRow], table: Sequence[Metric]) -> None:
        import numpy as np

        self._rows = rows
        self._table = table
        tasks: dict[str, int] = {}
        self._tasks = np.array([tasks.setdefault(row.task_id, len(tasks)) for row in rows], int)
        scored = np.array([row.scored for row in rows], bool)
        self._values = {
            metric.key: np.where(
                scored, np.array([row.values[metric.key] for row in rows], dtype=float), np.nan
            )
            for metric in table
        }

    def group(self, places: Sequence[int]) -> Group:
        import numpy as np

        members = [self._rows[place] for place in places]
        chosen = np.asarray(places, dtype=int)
        scored = [row for row in members if row.scored]
        return Group(
            episodes=len(members),
            scored=len(scored),
            successes=sum(row.success for row in scored),
            figures={metric.key: self._figure(metric, chosen) for metric in self._table},
            ends=Counter(row.end for row in members),
            replies=_add_counts(row.replies for row in members),
            unread=_add_counts(row.unread for row in members),
        )

    def _figure(self, metric: Metric, chosen: "NDArray[Any]") -> Estimate | None:
        import numpy as np

        values, tasks = self._values[metric.key][chosen], self._tasks[chosen]
        known = ~np.isnan(values)
        return estimate_mean(values[known], tasks[known], metric.limits)


def _add_counts(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Sums by name, the largest first."""
    sums: Counter[str] = Counter()
    for one in counts:
        for name, number in one.items():
            sums[name] += number
    return dict(sums.most_common())


def _several_trials(
    rows: Sequence[EpisodeRow],
) -> tuple[dict[int, Estimate], dict[int, Estimate]]:
    """pass@k and pass^k up to the smallest number of scored trials any task has."""
    trials = group_outcomes(rows)
    most = min((len(outcomes) for outcomes in trials.values()), default=0)
    if most < 2:
        return {}, {}
    ks = sorted({*(k for k in _KS if k <= most), most})
    at = {k: found for k in ks if (found := pass_at_k(trials, k))}
    hat = {k: found for k in ks if (found := pass_hat_k(trials, k))}
    return at, hat
