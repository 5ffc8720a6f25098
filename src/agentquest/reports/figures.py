"""The content of a report, made once: text, Markdown, CSV and HTML only lay it out.

Every figure is a Cell that holds its number, its interval, its denominator and
how it is written, so that no two formats can disagree.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentquest.errors import Cause
from agentquest.metrics.behaviour import assess_behaviour, grade
from agentquest.metrics.statistics import Estimate, bootstrap_mean
from agentquest.metrics.summary import Group, Spent, Summary, summarise
from agentquest.records.episode import EpisodeRecord
from agentquest.reports.about import Fact, about, comparable
from agentquest.reports.completeness import notes, warnings

NOTHING = "–"
ALL = "all"

# What a reader is told of each end; the record's own word stands beside it.
ENDS = {
    Cause.WON: "task solved",
    Cause.LOST: "ended unsolved",
    Cause.MAX_STEPS: "step limit reached",
    Cause.AGENT_GAVE_UP: "agent gave up",
    Cause.AGENT_ERROR: "agent failed (no score)",
    Cause.AGENT_TIMEOUT: "agent did not answer in time (no score)",
    Cause.MODEL_ERROR: "model call failed (no score)",
    Cause.ENVIRONMENT_ERROR: "environment failed (no score)",
    Cause.CANCELLED: "cancelled (no score)",
}


@dataclass(frozen=True)
class Cell:
    """One figure: how it is written, and the number behind it."""

    text: str
    estimate: Estimate | None = None
    count: int | None = None


@dataclass(frozen=True)
class Column:
    key: str
    heading: str
    explanation: str


@dataclass(frozen=True)
class Row:
    """All episodes, or those of one task type; one cell for each column."""

    name: str
    group: Group
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class EndCount:
    cause: Cause
    meaning: str
    episodes: int


@dataclass(frozen=True)
class Report:
    title: str
    facts: tuple[Fact, ...]
    comparable: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    columns: tuple[Column, ...]
    overall: Row
    by_type: tuple[Row, ...]
    trials: tuple[tuple[str, Cell], ...]
    ends: tuple[EndCount, ...]
    spent: tuple[tuple[str, str], ...]
    summary: Summary

    @property
    def rows(self) -> tuple[Row, ...]:
        return (*self.by_type, self.overall)


COLUMNS = (
    Column("episodes", "episodes", "episodes on record"),
    Column("scored", "scored", "episodes that say something about the agent; the denominator"),
    Column("success", "success", "share of scored episodes that solved the task, Wilson interval"),
    Column("steps", "steps", "average steps of scored episodes"),
    Column("steps_of_successes", "steps if solved", "average steps of the solved episodes"),
    Column("reward", "reward", "average reward, 0 to 1"),
    Column("progress", "progress", "average progress at the end, 0 to 1"),
    Column("repetition", "repetition", "average share of repeated actions, 0 to 1"),
    Column("invalid", "invalid", "average share of steps without a valid action"),
    Column("behaviour", "behaviour", "average behaviour score, 0 to 100, and its grade"),
)


def build_report(records: Sequence[EpisodeRecord], manifest: Mapping[str, Any]) -> Report:
    """Everything a report says; `records` may be slim."""
    summary = summarise(records)
    columns = tuple(
        column for column in COLUMNS if column.key != "reward" or _reward_tells_more(records)
    )

    def row(name: str, group: Group, members: Sequence[EpisodeRecord]) -> Row:
        cells = _cells(group, members)
        return Row(name, group, {column.key: cells[column.key] for column in columns})

    return Report(
        title=str(manifest.get("run_id") or (records[0].run_id if records else "run")),
        facts=about(records, manifest),
        comparable=comparable(manifest),
        warnings=warnings(records, manifest),
        notes=notes(records, summary),
        columns=columns,
        overall=row(ALL, summary.overall, records),
        by_type=tuple(
            row(name, group, [record for record in records if record.task_type == name])
            for name, group in summary.by_type.items()
        ),
        trials=_trials(summary),
        ends=_ends(summary.overall),
        spent=_spent(summary.spent),
        summary=summary,
    )


def behaviour_score(record: EpisodeRecord) -> float:
    """The 0-100 behaviour score of one episode."""
    return assess_behaviour(record.actions, record.success).overall.unrounded_score


def _reward_tells_more(records: Sequence[EpisodeRecord]) -> bool:
    return any(record.scored and record.reward != float(record.success) for record in records)


def _cells(group: Group, records: Sequence[EpisodeRecord]) -> dict[str, Cell]:
    behaviour = bootstrap_mean([behaviour_score(record) for record in records if record.scored])
    n = group.scored
    return {
        "episodes": Cell(str(group.episodes), count=group.episodes),
        "scored": Cell(str(n), count=n),
        "success": rate_cell(group.success, group.successes),
        "steps": mean_cell(group.steps, n, _one),
        "steps_of_successes": mean_cell(group.steps_of_successes, n, _one),
        "reward": mean_cell(group.reward, n, _two),
        "progress": mean_cell(group.progress, n, _two),
        "repetition": mean_cell(group.repetition, n, _two),
        "invalid": mean_cell(group.invalid, n, _percent),
        "behaviour": _graded(mean_cell(behaviour, n, _one)),
    }


def rate_cell(estimate: Estimate | None, successes: int) -> Cell:
    """A rate with its interval and its counts: `60.0% [23.1–88.2] 3/5`."""
    if estimate is None:
        return Cell(NOTHING)
    low, high = _percent(estimate.low)[:-1], _percent(estimate.high)[:-1]
    return Cell(f"{_percent(estimate.value)} [{low}–{high}] {successes}/{estimate.n}", estimate)


def mean_cell(
    estimate: Estimate | None, usual_n: int | None, written: Callable[[float], str]
) -> Cell:
    """A mean with its interval, and its denominator where that is not the row's own."""
    if estimate is None:
        return Cell(NOTHING)
    low, high = (written(bound).removesuffix("%") for bound in (estimate.low, estimate.high))
    other = "" if estimate.n == usual_n else f" n={estimate.n}"
    return Cell(f"{written(estimate.value)} [{low}–{high}]{other}", estimate)


def _graded(cell: Cell) -> Cell:
    if cell.estimate is None:
        return cell
    return Cell(f"{cell.text} {grade(cell.estimate.value)}", cell.estimate)


def _trials(summary: Summary) -> tuple[tuple[str, Cell], ...]:
    # pass^1 is pass@1.
    at = [(f"pass@{k}", mean_cell(value, None, _percent)) for k, value in summary.pass_at.items()]
    hat = [
        (f"pass^{k}", mean_cell(value, None, _percent))
        for k, value in summary.pass_hat.items()
        if k > 1
    ]
    return (*at, *hat)


def _ends(group: Group) -> tuple[EndCount, ...]:
    return tuple(
        EndCount(cause, meaning, group.ends[cause.value])
        for cause, meaning in ENDS.items()
        if cause.value in group.ends
    )


def _spent(spent: Spent) -> tuple[tuple[str, str], ...]:
    if not spent.calls:
        return ()
    tokens = f"{'at least ' if spent.uncounted_calls else ''}{{:,}}".format
    lines = [
        ("model calls", f"{spent.calls:,}"),
        ("prompt tokens", tokens(spent.prompt_tokens)),
        ("completion tokens", tokens(spent.completion_tokens)),
        ("of these reasoning", tokens(spent.reasoning_tokens)),
        ("cost", _cost(spent)),
    ]
    if spent.uncounted_calls:
        lines.append(("calls without counts", f"{spent.uncounted_calls:,} of {spent.calls:,}"))
    return tuple(lines)


def _cost(spent: Spent) -> str:
    if spent.unpriced_calls == spent.calls:
        return "not known (no price configured)"
    if spent.unpriced_calls:
        return f"at least {spent.cost:.4f} ({spent.unpriced_calls:,} calls without a price)"
    return f"{spent.cost:.4f} (in the currency of the configured price)"


def _one(value: float) -> str:
    return f"{value:.1f}"


def _two(value: float) -> str:
    return f"{value:.2f}"


def _percent(value: float) -> str:
    return f"{value * 100:.1f}%"
