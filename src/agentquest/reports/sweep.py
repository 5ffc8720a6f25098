"""What came of a sweep: one table of all runs, and each setting against the first.

Runs that differ in nothing but their seed belong together: a task that several of them played
counts by the mean over its runs, as with several trials.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agentquest.errors import UserError
from agentquest.metrics.report import (
    NOTHING,
    Cell,
    Table,
    amount_text,
    figure_text,
    make_row,
    mark_few,
)
from agentquest.metrics.rows import Pace, Spent, total
from agentquest.metrics.summary import summarise
from agentquest.reports.compare import (
    ComparedRun,
    Comparison,
    PooledRun,
    compare_runs,
    correct_together,
    open_runs,
)
from agentquest.store.library import SweptRun
from agentquest.store.stored_run import StoredRun

# Agent, model and protocol, by the names that the sweep gives them: everything but the seed.
SettingNames = tuple[str, str | None, str | None]
_SHOWN = ("success", "reward", "progress", "steps")


@dataclass(frozen=True)
class SweepRow:
    """The figures of one run, or of all runs of a setting (`seed` is None)."""

    name: str
    setting: SettingNames
    seed: int | None
    scored: int
    requested: int
    figures: Mapping[str, Cell]
    spent: Spent
    pace: Pace


def sweep_rows(runs: Sequence[SweptRun]) -> list[SweepRow]:
    """A row per run, and one over all seeds of a setting where there are several."""
    rows = []
    for setting, members in _by_setting(runs).items():
        seeds = {run.path: run.seed for run in members}
        loaded, _ = open_runs(list(seeds))
        rows += [_row(setting, seeds[one.path], [one]) for one in loaded]
        if len(loaded) > 1:
            rows.append(_row(setting, None, loaded))
    return rows


def sweep_table(rows: Sequence[SweepRow]) -> Table:
    """The rows as people read them."""
    lines = (
        (
            row.name,
            mark_few(f"{row.scored}/{row.requested}", row.figures["success"]),
            *(row.figures[key].text for key in _SHOWN),
            figure_text(row.pace.tokens_per_step, 0),
            figure_text(row.pace.latency_p50, 2),
            figure_text(row.pace.latency_p95, 2),
            amount_text(row.spent) if row.spent.calls else NOTHING,
        )
        for row in rows
    )
    headings = ("run", "scored", *_SHOWN, "tokens/step", "call p50 s", "call p95 s", "cost")
    columns = [
        column for column in zip(headings, *lines, strict=True) if {*column[1:]} != {NOTHING}
    ]
    names, *shown = zip(*columns, strict=True)
    return Table("Runs", names, tuple(shown), numbers=False)


def json_rows(rows: Sequence[SweepRow]) -> list[dict[str, Any]]:
    """The rows as plain data; `seed` is null in those over all seeds."""
    return [
        {
            **dict(zip(("agent", "model", "protocol"), row.setting, strict=True)),
            "seed": row.seed,
            "scored": row.scored,
            "requested": row.requested,
            "metrics": {
                key: asdict(cell.estimate) if cell.estimate else None
                for key, cell in row.figures.items()
            },
            "spent": row.spent.plain(),
            "pace": asdict(row.pace),
        }
        for row in rows
    ]


def sweep_comparison(runs: Sequence[SweptRun]) -> tuple[list[Comparison], list[str]]:
    """Each agent and model against the first of its protocol that has played; and why some
    could not be compared."""
    by_protocol: dict[str | None, list[ComparedRun]] = {}
    problems: list[str] = []
    for setting, members in _by_setting(runs).items():
        loaded, broken = open_runs([run.path for run in members])
        problems += [f"{one.name} cannot be read: {one.problem}" for one in broken]
        if any(run.rows for run in loaded):
            by_protocol.setdefault(setting[2], []).append(_pool(setting, loaded))
        elif loaded:
            problems.append(f"{_label(setting)} has no finished episode")
    found: list[Comparison] = []
    for group in by_protocol.values():
        first, *others = group
        for other in others:
            try:
                found += compare_runs([first, other])
            except UserError as error:
                problems.append(str(error))
    return correct_together(found), problems


def _by_setting(runs: Sequence[SweptRun]) -> dict[SettingNames, list[SweptRun]]:
    groups: dict[SettingNames, list[SweptRun]] = {}
    for run in runs:
        groups.setdefault((run.agent, run.model, run.protocol), []).append(run)
    return groups


def _pool(setting: SettingNames, members: Sequence[StoredRun]) -> PooledRun:
    rows = [row for member in members for row in member.rows]
    damage = "; ".join(member.damage for member in members if member.damage)
    return PooledRun(_label(setting), members[0].manifest, rows, members[0].table, damage)


def _row(setting: SettingNames, seed: int | None, members: Sequence[StoredRun]) -> SweepRow:
    rows = [row for member in members for row in member.rows]
    summary = summarise(rows, members[0].table, total(member.replaced for member in members))
    group = summary.overall
    return SweepRow(
        name=f"{_label(setting)}, {'all seeds' if seed is None else f'seed {seed}'}",
        setting=setting,
        seed=seed,
        scored=group.scored,
        requested=sum(member.manifest.requested for member in members),
        figures=make_row("", group, members[0].table).cells,
        spent=summary.spent,
        pace=summary.pace,
    )


def _label(setting: SettingNames) -> str:
    return " ".join(part for part in setting if part is not None)
