"""Two or more runs on the same tasks, task by task.

Only tasks that both runs scored are compared; what is left out is named. Tasks
count by the mean of their scored trials. The exact test and the flips need one
outcome a task: that of its first scored trial.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from agentquest.errors import UserError
from agentquest.metrics.statistics import (
    Estimate,
    PairedCounts,
    count_pairs,
    mcnemar,
    paired_mean_difference,
    paired_rate_difference,
)
from agentquest.records.episode import EpisodeRecord
from agentquest.reports.about import plain

Tasks = dict[str, list[EpisodeRecord]]


@dataclass(frozen=True)
class ComparedRun:
    """A run to compare: what to call it, and what is known of it. Records may be slim."""

    label: str
    records: Sequence[EpisodeRecord]
    manifest: Mapping[str, Any]


@dataclass(frozen=True)
class LeftOut:
    """Tasks that cannot be paired, by name."""

    only_in_baseline: tuple[str, ...]
    only_in_other: tuple[str, ...]
    unscored_in_baseline: tuple[str, ...]
    unscored_in_other: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """`other` against `baseline`; every difference is other minus baseline."""

    baseline: str
    other: str
    tasks: int
    several_trials: bool
    baseline_success: float
    other_success: float
    success: Estimate
    counts: PairedCounts
    p_value: float
    steps: Estimate
    progress: Estimate
    reward: Estimate
    won_to_lost: tuple[str, ...]
    lost_to_won: tuple[str, ...]
    changed_data: tuple[str, ...]
    left_out: LeftOut
    unscored_episodes: tuple[int, int]
    warnings: tuple[str, ...]


def compare_runs(runs: Sequence[ComparedRun], baseline: int = 1) -> list[Comparison]:
    """Each run against the baseline, which is counted from 1."""
    if len(runs) < 2:
        raise UserError("compare needs at least two runs")
    if not 1 <= baseline <= len(runs):
        raise UserError(f"baseline must be between 1 and {len(runs)}, not {baseline}")
    first = runs[baseline - 1]
    return [
        _compare(first, run) for position, run in enumerate(runs, start=1) if position != baseline
    ]


def _compare(baseline: ComparedRun, other: ComparedRun) -> Comparison:
    _require_same_benchmark(baseline, other)
    all_before, all_after = _by_task(baseline.records), _by_task(other.records)
    before, after = _scored(all_before), _scored(all_after)
    shared = [task for task in before if task in after]
    if not shared:
        raise UserError(f"{baseline.label} and {other.label} have no scored task in common")
    first = [before[task][0].success for task in shared]
    second = [after[task][0].success for task in shared]
    counts = count_pairs(first, second)
    several = any(len(before[task]) > 1 or len(after[task]) > 1 for task in shared)

    def means(tasks: Tasks, value: Callable[[EpisodeRecord], float]) -> list[float]:
        return [_mean([value(record) for record in tasks[task]]) for task in shared]

    def difference(value: Callable[[EpisodeRecord], float]) -> Estimate:
        return _known(paired_mean_difference(means(before, value), means(after, value)))

    return Comparison(
        baseline=baseline.label,
        other=other.label,
        tasks=len(shared),
        several_trials=several,
        baseline_success=_mean(means(before, _success)),
        other_success=_mean(means(after, _success)),
        success=difference(_success) if several else _known(paired_rate_difference(counts)),
        counts=counts,
        p_value=mcnemar(counts).p_value,
        steps=difference(lambda record: float(len(record.steps))),
        progress=difference(lambda record: record.progress),
        reward=difference(lambda record: record.reward),
        won_to_lost=_flipped(shared, first, second),
        lost_to_won=_flipped(shared, second, first),
        changed_data=_changed_data(before, after),
        left_out=_left_out(all_before, all_after, before, after),
        unscored_episodes=(_unscored(baseline), _unscored(other)),
        warnings=_differences(baseline, other, before, after),
    )


def _require_same_benchmark(baseline: ComparedRun, other: ComparedRun) -> None:
    for run in (baseline, other):
        if not run.records:
            raise UserError(f"{run.label} has no finished episode")
    first, second = _values(baseline, "benchmark"), _values(other, "benchmark")
    if first != second:
        raise UserError(
            f"{baseline.label} is of {first} and {other.label} of {second}:"
            " runs of different benchmarks cannot be compared"
        )


def _by_task(records: Sequence[EpisodeRecord]) -> Tasks:
    tasks: Tasks = {}
    for record in sorted(records, key=lambda record: (record.task_id, record.trial)):
        tasks.setdefault(record.task_id, []).append(record)
    return tasks


def _scored(tasks: Tasks) -> Tasks:
    kept = {task: [record for record in all_ if record.scored] for task, all_ in tasks.items()}
    return {task: records for task, records in kept.items() if records}


def _left_out(all_before: Tasks, all_after: Tasks, before: Tasks, after: Tasks) -> LeftOut:
    both = [task for task in all_before if task in all_after]
    return LeftOut(
        only_in_baseline=tuple(task for task in all_before if task not in all_after),
        only_in_other=tuple(task for task in all_after if task not in all_before),
        unscored_in_baseline=tuple(task for task in both if task not in before),
        unscored_in_other=tuple(task for task in both if task not in after),
    )


def _flipped(
    tasks: Sequence[str], won: Sequence[bool], then_won: Sequence[bool]
) -> tuple[str, ...]:
    return tuple(t for t, was, now in zip(tasks, won, then_won, strict=True) if was and not now)


def _differences(
    baseline: ComparedRun, other: ComparedRun, before: Tasks, after: Tasks
) -> tuple[str, ...]:
    """What makes the two runs' numbers say different things, whatever the agents did."""
    found = []
    protocols = [plain(run.manifest.get("protocol")) or "none" for run in (baseline, other)]
    if protocols[0] != protocols[1]:
        found.append(f"protocol differs: {protocols[0]} against {protocols[1]}")
    for field in ("split", "dialect", "max_steps"):
        first, second = _values(baseline, field), _values(other, field)
        if first != second:
            found.append(f"{field} differs: {first} against {second}")
    changed = len(_changed_data(before, after))
    if changed:
        found.append(f"the data of {changed} tasks differs: same name, but not the same task")
    uneven = sum(len(before[task]) != len(after[task]) for task in before if task in after)
    if uneven:
        found.append(f"{uneven} tasks were scored a different number of times in the two runs")
    return tuple(found)


def _changed_data(before: Tasks, after: Tasks) -> tuple[str, ...]:
    shared = (task for task in before if task in after)
    return tuple(task for task in shared if _hashes(before[task]) != _hashes(after[task]))


def _values(run: ComparedRun, field: str) -> str:
    return ", ".join(sorted({str(getattr(record, field)) or "none" for record in run.records}))


def _hashes(records: Sequence[EpisodeRecord]) -> set[str]:
    return {record.data_hash for record in records}


def _unscored(run: ComparedRun) -> int:
    return sum(not record.scored for record in run.records)


def _success(record: EpisodeRecord) -> float:
    return float(record.success)


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def _known(estimate: Estimate | None) -> Estimate:
    assert estimate is not None, "there is at least one shared task"
    return estimate
