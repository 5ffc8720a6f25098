"""`agentquest compare`: what changed between runs on the same tasks."""

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from agentquest.cli.terminal import say, say_json, terminal_width
from agentquest.errors import UserError
from agentquest.reports.compare import Comparison, compare_runs, open_runs
from agentquest.reports.render.comparison import (
    json_comparison,
    markdown_comparison,
    text_comparison,
)


class ComparisonFormat(str, Enum):
    """Output formats of a comparison."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


def command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN…", help="Run directories.")],
    baseline: Annotated[
        int, typer.Option(help="Position of the run that the others are compared with, from 1.")
    ] = 1,
    format: Annotated[
        ComparisonFormat, typer.Option("--format", "-f", help="Output format.")
    ] = ComparisonFormat.TEXT,
    list_tasks: Annotated[
        bool, typer.Option("--list", help="List the tasks that changed.")
    ] = False,
) -> None:
    """Compare runs task by task: do they differ, by how much, and how certain is that?

    Example: agentquest compare runs/before runs/after
    """
    for run, number in Counter(path.resolve() for path in runs).items():
        if number > 1:
            raise UserError(f"{run.name} is named {number} times; compare it with other runs")
    found, broken = open_runs(runs)
    if broken and (len(found) < 2 or runs[baseline - 1] not in {run.path for run in found}):
        raise UserError(f"{broken[0].name} cannot be read: {broken[0].problem}")
    before = {run.path for run in found}.intersection(runs[: baseline - 1])
    comparisons = compare_runs(found, len(before) + 1 if broken else baseline)
    if format is ComparisonFormat.JSON:
        say_json(json_comparison(comparisons))
    else:
        say(format_comparisons(comparisons, format, list_tasks), nl=False)
    for one in broken:
        say(f"{one.name} cannot be read: {one.problem}", fg="yellow", err=True)
    if broken:
        raise typer.Exit(1)


def format_comparisons(
    comparisons: Sequence[Comparison], format: ComparisonFormat, list_tasks: bool
) -> str:
    """Comparisons for people: as Markdown, or as text as wide as the terminal."""
    if format is ComparisonFormat.MARKDOWN:
        return markdown_comparison(comparisons, list_tasks)
    return text_comparison(comparisons, terminal_width(), list_tasks)
