"""Two or more runs on the same tasks, task by task.

Only tasks that both runs scored are compared; what is left out is named. With
several trials a task counts by the mean of its scored trials, everywhere.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import fsum
from pathlib import Path

from agentquest.errors import AgentQuestError, UserError, explain
from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.statistics import Estimate, Spread, correct_p_values, estimate_difference
from agentquest.metrics.summary import in_order
from agentquest.metrics.table import Metric
from agentquest.records.manifest import Manifest
from agentquest.store.folder import RunFolder
from agentquest.store.library import BrokenRun
from agentquest.store.stored_run import StoredRun
from agentquest.words import counted

Tasks = dict[str, list[EpisodeRow]]
Means = dict[str, float | None]  # by metric


@dataclass(frozen=True)
class PooledRun:
    """Several runs taken as one, and what to call them."""

    name: str
    manifest: Manifest
    rows: Sequence[EpisodeRow]
    table: tuple[Metric, ...]
    damage: str = ""


ComparedRun = StoredRun | PooledRun


@dataclass(frozen=True)
class Difference:
    """One metric in both runs, over the tasks that have it in both; other minus baseline.
    `corrected_p_value` is Holm's, see `correct_together`."""

    metric: Metric
    baseline: float
    other: float
    difference: Estimate
    p_value: float
    corrected_p_value: float
    spread: Spread


@dataclass(frozen=True)
class Comparison:
    """`other` against `baseline`; `trials` is how many a task has on average. `worse` and `better`
    are the tasks whose success changed; `counts`, by who solved them, is None where the trials of
    a task went differently. `by_type` is success in each task type, where there are several;
    `left_out` has the tasks that cannot be paired, by the reason."""

    baseline: str
    other: str
    tasks: int
    trials: float
    several_trials: bool
    differences: Mapping[str, Difference]
    by_type: Mapping[str, Difference]
    counts: Mapping[str, int] | None
    worse: tuple[str, ...]
    better: tuple[str, ...]
    changed_data: tuple[str, ...]
    left_out: Mapping[str, Sequence[str]]
    unscored_episodes: tuple[int, int]
    warnings: tuple[str, ...]

    @property
    def success(self) -> Difference:
        """The difference in success, which the answer is about."""
        return self.differences["success"]


def open_runs(paths: Sequence[Path]) -> tuple[list[StoredRun], list[BrokenRun]]:
    """The runs that can be read and those that cannot, by the names of their folders, or by their
    paths where names are not enough."""
    names = [RunFolder(path).name for path in paths]
    labels = names if len(set(names)) == len(names) else [str(path) for path in paths]
    found: list[StoredRun] = []
    broken: list[BrokenRun] = []
    for path, label in zip(paths, labels, strict=True):
        try:
            run = StoredRun(path, name=label)
            run.report  # noqa: B018  read now, so that a damaged run is a broken one
            found.append(run)
        except (AgentQuestError, OSError) as error:
            broken.append(BrokenRun(label, explain(error)))
    return found, broken


def compare_runs(runs: Sequence[ComparedRun]) -> list[Comparison]:
    """Each run against the first, the baseline."""
    if len(runs) < 2:
        raise UserError("compare needs at least two runs")
    first, *others = runs
    return correct_together([_compare(first, run) for run in others])


def correct_together(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Correct the p-values of comparisons that are shown together (Holm): those of success, which
    the answers are about, among themselves, and so those of all other metrics and those of success
    in the task types."""
    success = _correct([{"success": one.success} for one in comparisons])
    others = _correct(
        [
            {key: it for key, it in one.differences.items() if key != "success"}
            for one in comparisons
        ]
    )
    types = _correct([one.by_type for one in comparisons])
    return [
        replace(one, differences={**success[at], **others[at]}, by_type=types[at])
        for at, one in enumerate(comparisons)
    ]


def _correct(family: Sequence[Mapping[str, Difference]]) -> list[dict[str, Difference]]:
    """The same differences, with their p-values corrected for all of the family."""
    p_values = iter(correct_p_values([it.p_value for one in family for it in one.values()]))
    return [
        {key: replace(it, corrected_p_value=next(p_values)) for key, it in one.items()}
        for one in family
    ]


def _compare(baseline: ComparedRun, other: ComparedRun) -> Comparison:
    _require_same_benchmark(baseline, other)
    all_before, all_after = group_by_task(baseline.rows), group_by_task(other.rows)
    before, after = keep_scored(all_before), keep_scored(all_after)
    shared = [task for task in before if task in after]
    if not shared:
        raise UserError(f"{baseline.name} and {other.name} have no scored task in common")
    rates = [(task, mean_success(before[task]), mean_success(after[task])) for task in shared]
    trials = {task: (len(before[task]) + len(after[task])) / 2 for task in shared}
    # Trials that all agree say as much as one.
    telling = [
        trials[task] if _is_mixed(before[task]) or _is_mixed(after[task]) else 1.0
        for task in shared
    ]
    theirs = {metric.key for metric in other.table}
    table = [metric for metric in baseline.table if metric.key in theirs]
    was = [_means(table, before[task]) for task in shared]
    now = [_means(table, after[task]) for task in shared]
    found = {metric.key: _difference(metric, was, now, telling) for metric in table}
    types = [before[task][0].task_type for task in shared]
    changed = tuple(
        task
        for task in shared
        if {row.data_hash for row in before[task]} != {row.data_hash for row in after[task]}
    )
    return Comparison(
        baseline=baseline.name,
        other=other.name,
        tasks=len(shared),
        trials=fsum(trials.values()) / len(shared),
        several_trials=any(row.trial for run in (baseline, other) for row in run.rows),
        differences={key: it for key, it in found.items() if it is not None},
        by_type=_differences_by_type(table[0], types, was, now, telling),
        counts=_count_outcomes([(was, now) for _, was, now in rates]),
        worse=tuple(task for task, was, now in rates if now < was),
        better=tuple(task for task, was, now in rates if now > was),
        changed_data=changed,
        left_out=_list_left_out(all_before, all_after, before, after),
        unscored_episodes=(
            sum(not row.scored for row in baseline.rows),
            sum(not row.scored for row in other.rows),
        ),
        warnings=_warnings(baseline, other, before, after, changed),
    )


def _count_outcomes(rates: Sequence[tuple[float, float]]) -> dict[str, int] | None:
    """How many tasks both runs solved, one of them or neither; None where trials disagree."""
    if any(rate not in (0, 1) for pair in rates for rate in pair):
        return None
    pairs = Counter(rates)
    return {
        "both": pairs[1, 1],
        "only_first": pairs[1, 0],
        "only_second": pairs[0, 1],
        "neither": pairs[0, 0],
    }


def _differences_by_type(
    success: Metric,
    types: Sequence[str],
    was: Sequence[Means],
    now: Sequence[Means],
    trials: Sequence[float],
) -> dict[str, Difference]:
    """The difference in success of each task type; none where all tasks are of one."""
    found = {}
    for name in sorted({*types}) if len({*types}) > 1 else ():
        chosen = [one == name for one in types]
        difference = _difference(
            success,
            list(compress(was, chosen)),
            list(compress(now, chosen)),
            list(compress(trials, chosen)),
        )
        assert difference is not None, "every scored episode has a success"
        found[name] = difference
    return found


def _list_left_out(
    all_before: Tasks, all_after: Tasks, before: Tasks, after: Tasks
) -> dict[str, list[str]]:
    """The tasks that cannot be paired, by the reason."""
    both = [task for task in all_before if task in all_after]
    return {
        "only_in_baseline": [task for task in all_before if task not in all_after],
        "only_in_other": [task for task in all_after if task not in all_before],
        "unscored_in_baseline": [task for task in both if task not in before],
        "unscored_in_other": [task for task in both if task not in after],
    }


def _means(table: Sequence[Metric], rows: Sequence[EpisodeRow]) -> Means:
    """Every metric over the trials of one task. Task by task, as the rows of a large run do not
    fit into the processor's cache."""
    found: Means = {}
    for key in [metric.key for metric in table]:
        values = [value for row in rows if (value := row.values[key]) is not None]
        found[key] = fsum(values) / len(values) if values else None
    return found


def _difference(
    metric: Metric, before: Sequence[Means], after: Sequence[Means], trials: Sequence[float]
) -> Difference | None:
    pairs = [(one[metric.key], two[metric.key]) for one, two in zip(before, after, strict=True)]
    known = [(was, now) for was, now in pairs if was is not None and now is not None]
    if not known:
        return None
    was, now = (list(values) for values in zip(*known, strict=True))
    found = estimate_difference(was, now, metric.limits, fsum(trials) / len(trials))
    assert found is not None, "there is at least one pair"
    estimate, spread = found
    p_value = spread.p_value()
    baseline, other = fsum(was) / len(was), fsum(now) / len(now)
    return Difference(metric, baseline, other, estimate, p_value, p_value, spread)


def mean_success(rows: Sequence[EpisodeRow]) -> float:
    """The share of these trials that solved the task."""
    return sum(row.success for row in rows) / len(rows)


def _is_mixed(rows: Sequence[EpisodeRow]) -> bool:
    return len({row.success for row in rows}) > 1


def _require_same_benchmark(baseline: ComparedRun, other: ComparedRun) -> None:
    for run in (baseline, other):
        if not run.rows:
            raise UserError(f"{run.name} has no finished episode")
    first, second = baseline.manifest.benchmark, other.manifest.benchmark
    if first != second:
        raise UserError(
            f"{baseline.name} is a run of {first}, {other.name} of {second}:"
            " runs of different benchmarks cannot be compared"
        )


def group_by_task(rows: Sequence[EpisodeRow]) -> Tasks:
    """The trials of each task."""
    tasks: Tasks = {}
    for row in in_order(rows):
        tasks.setdefault(row.task_id, []).append(row)
    return tasks


def keep_scored(tasks: Tasks) -> Tasks:
    """The trials with a score, of the tasks that have such."""
    kept = {task: [row for row in rows if row.scored] for task, rows in tasks.items()}
    return {task: rows for task, rows in kept.items() if rows}


def _warnings(
    baseline: ComparedRun,
    other: ComparedRun,
    before: Tasks,
    after: Tasks,
    changed: Sequence[str],
) -> tuple[str, ...]:
    """What makes the two runs' numbers say different things, whatever the agents did."""
    first, second = _conditions(baseline), _conditions(other)
    found = [run.damage for run in (baseline, other) if run.damage]
    found += [
        f"{name} differs: {first.get(name, 'none')} against {second.get(name, 'none')}"
        for name in dict.fromkeys((*first, *second))
        if first.get(name) != second.get(name)
    ]
    if changed:
        tasks = counted(len(changed), "task")
        found.append(f"the data of {tasks} differs: same name, but not the same task")
    uneven = sum(len(before[task]) != len(after[task]) for task in before if task in after)
    if uneven:
        tasks = counted(uneven, "task")
        found.append(f"different numbers of scored trials in the two runs, for {tasks}")
    return tuple(found)


def _conditions(run: ComparedRun) -> dict[str, str]:
    """What should be the same in runs that are compared."""
    settings = {row.setting for row in run.rows}
    facts: dict[str, set[str]] = {}
    for setting in settings:
        for name, value in setting.facts:
            facts.setdefault(name, set()).add(value)
    return {
        "protocol": run.manifest.protocol or "none",
        "split": ", ".join(sorted({setting.split for setting in settings})),
        "max_steps": ", ".join(sorted({str(setting.max_steps) for setting in settings})),
        "agent_faults": run.manifest.agent_faults.value,
        "informed": "yes" if run.manifest.informed else "no",
        **{name: ", ".join(sorted(values)) for name, values in sorted(facts.items())},
    }
