"""`agentquest compare`: what changed between runs on the same tasks."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from agentquest.records.run_directory import RunDirectory, to_json
from agentquest.reports.compare import ComparedRun, compare_runs
from agentquest.reports.compare_render import (
    json_comparison,
    markdown_comparison,
    text_comparison,
)


class Format(str, Enum):
    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


def command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN RUN…", help="Run directories.")],
    baseline: Annotated[
        int, typer.Option(help="Which of the runs the others are compared with, from 1.")
    ] = 1,
    format: Annotated[Format, typer.Option("--format", "-f", help="How to show it.")] = Format.TEXT,
) -> None:
    """Compare runs task by task: paired differences, an exact test, the tasks that flipped.

    Example: agentquest compare runs/before runs/after
    """
    compared = [_load(path) for path in runs]
    comparisons = compare_runs(compared, baseline)
    if format is Format.JSON:
        typer.echo(to_json(json_comparison(comparisons)), nl=False)
    elif format is Format.MARKDOWN:
        typer.echo(markdown_comparison(comparisons), nl=False)
    else:
        typer.echo(text_comparison(comparisons), nl=False)


def _load(path: Path) -> ComparedRun:
    run = RunDirectory(path)
    manifest = run.manifest()
    return ComparedRun(str(path), run.records(slim=True), manifest)
