"""`agentquest power`: how many games a question needs, before they are played."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from agentquest.cli.terminal import say_json, terminal_width
from agentquest.errors import UserError
from agentquest.metrics.power import ASSUMED_ICC, POWER, Prospect, expect
from agentquest.metrics.report import NOTHING, Table
from agentquest.metrics.summary import group_outcomes
from agentquest.reports.render.text import text_table, wrap_text
from agentquest.safe_text import say
from agentquest.store.stored_run import StoredRun

_TRIALS = (1, 2, 3, 5, 8)
_HEADINGS = {
    "trials": "trials per task",
    "tasks_for_precision": "tasks for ±{precision:g} points",
    "tasks_for_difference": "tasks to see {difference:g} points",
    "precision": "interval of {tasks:,} tasks",
    "detectable_difference": "what {tasks:,} tasks can show",
}


def command(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN [OTHER]]",
            help="A run to learn rate and correlation from, and one on the same tasks.",
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option(min=0, max=1, help="The expected success rate, 0 to 1.")
    ] = None,
    icc: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Correlation of two trials of one task, from 0 to 1; default: what the run shows,"
            f" or {ASSUMED_ICC}.",
        ),
    ] = None,
    precision: Annotated[
        float | None, typer.Option(min=0.01, max=50, help="An interval of ± so many points.")
    ] = None,
    difference: Annotated[
        float | None, typer.Option(min=0.01, max=100, help="A difference of so many points.")
    ] = None,
    tasks: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, help="What so many tasks can show.")
    ] = None,
    trials: Annotated[
        list[int] | None, typer.Option(min=1, max=1000, help="Trials per task; may be repeated.")
    ] = None,
    power: Annotated[
        float,
        typer.Option(min=0.5, max=0.999, help="The chance of seeing a difference that exists."),
    ] = POWER,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Say how many games, and trials of each, an answer needs.

    \b
    Examples:
      agentquest power --rate 0.6 --precision 5
      agentquest power runs/baseline --difference 9
      agentquest power runs/a runs/b --tasks 134 --trials 1 --trials 3
    """
    prospect, played = _expect(runs or [], rate, icc)
    if precision is None and difference is None and tasks is None:
        if played is None:
            raise UserError("say what is asked for: --precision, --difference or --tasks")
        tasks = played
    rows = []
    for each in sorted(set(trials or _TRIALS)):
        row: dict[str, float | None] = {"trials": each}
        if precision is not None:
            row["tasks_for_precision"] = prospect.tasks_for_precision(precision / 100, each)
        if difference is not None:
            row["tasks_for_difference"] = prospect.tasks_for_difference(
                difference / 100, each, power=power
            )
        if tasks is not None:
            row["precision"] = prospect.precision(tasks, each)
            row["detectable_difference"] = prospect.detectable(tasks, each, power=power)
        rows.append(row)
    if as_json:
        facts = {"rate": prospect.rate, "icc": prospect.icc, "shared": prospect.shared}
        say_json({**facts, "power": power, "rows": rows})
        return
    width = terminal_width()
    assumed = (
        f"For a success rate of {prospect.rate:.1%}, trials of one task correlated by"
        f" {prospect.icc:.2f}, and those of two runs by {prospect.shared:.2f}; 95% intervals, p <"
        f" 0.05 with {power:.0%} power."
    )
    cells = tuple(tuple(_cell(name, value) for name, value in row.items()) for row in rows)
    asked = {"precision": precision, "difference": difference, "tasks": tasks}
    headings = tuple(_HEADINGS[name].format(**asked) for name in rows[0])
    say(f"{wrap_text(assumed, width)}\n\n{text_table(Table('Power', headings, cells), width)}")


def _expect(
    paths: Sequence[Path], rate: float | None, icc: float | None
) -> tuple[Prospect, int | None]:
    """What is known of the run to come, from runs or options; and how many tasks were played."""
    if len(paths) > 2:
        raise UserError("power learns from one run, or from two on the same tasks")
    if not paths:
        if rate is None:
            raise UserError("name a run, or give the expected success rate: --rate 0.6")
        known = ASSUMED_ICC if icc is None else icc
        return Prospect(rate, known, known / 2), None
    first, *others = map(StoredRun, paths)
    found = expect(first.rows, others[0].rows if others else ())
    known = found.icc if icc is None else icc
    shared = min(found.shared, known) if others else known / 2
    played = len(group_outcomes(first.rows))
    return Prospect(found.rate if rate is None else rate, known, shared), played


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return NOTHING
    if name == "precision":
        return f"±{value * 100:.1f} points"
    return f"{value * 100:.1f} points" if name == "detectable_difference" else f"{value:,}"
