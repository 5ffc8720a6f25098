"""`agentquest compare`: what changed between runs on the same tasks."""

import os
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from agentquest.cli.terminal import say_json, terminal_width, warn
from agentquest.errors import UserError
from agentquest.reports.compare import Comparison, compare_runs, open_runs
from agentquest.reports.render.comparison import (
    json_comparison,
    markdown_comparison,
    text_comparison,
)
from agentquest.reports.render.csv import csv_comparison
from agentquest.safe_text import say


class ComparisonFormat(str, Enum):
    """Output formats of a comparison."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"


Format = Annotated[
    ComparisonFormat, typer.Option("--format", "-f", help="Format of tables and comparisons.")
]
ListTasks = Annotated[bool, typer.Option("--list", help="List the tasks that changed.")]


def command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN…", help="Run directories.")],
    baseline: Annotated[
        int, typer.Option(help="Position of the run that the others are compared with, from 1.")
    ] = 1,
    format: Format = ComparisonFormat.TEXT,
    list_tasks: ListTasks = False,
) -> None:
    """Compare runs task by task: do they differ, by how much, and how certain is that?

    Example: agentquest compare runs/before runs/after
    """
    for run, number in Counter(map(os.path.realpath, runs)).items():
        if number > 1:
            raise UserError(f"{Path(run).name} is named {number} times; compare it with other runs")
    if not 1 <= baseline <= len(runs):
        raise UserError(f"--baseline must be between 1 and {len(runs)}, not {baseline}")
    first = runs.pop(baseline - 1)
    found, broken = open_runs([first, *runs])
    if broken and (len(found) < 2 or found[0].path != first):
        raise UserError(f"{broken[0].name} cannot be read: {broken[0].problem}")
    comparisons = compare_runs(found)
    if format is ComparisonFormat.JSON:
        say_json(json_comparison(comparisons))
    else:
        say(format_comparisons(comparisons, format, list_tasks), nl=False)
    warn(*(f"{one.name} cannot be read: {one.problem}" for one in broken))
    if broken:
        raise typer.Exit(1)


def format_comparisons(
    comparisons: Sequence[Comparison], format: ComparisonFormat, list_tasks: bool
) -> str:
    """Comparisons as CSV, as Markdown, or as text as wide as the terminal."""
    if format is ComparisonFormat.CSV:
        return csv_comparison(comparisons)
    if format is ComparisonFormat.MARKDOWN:
        return markdown_comparison(comparisons, list_tasks)
    return text_comparison(comparisons, terminal_width(), list_tasks)
