"""`agentquest export`: a run in the format of another tool."""

from pathlib import Path
from typing import Annotated

import typer

from agentquest.reports.exports import FORMATS, export_run
from agentquest.store.stored_run import StoredRun

_MEANINGS = "; ".join(f"{name}: {one.meaning}" for name, one in FORMATS.items())


def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run directory.")],
    to: Annotated[
        str, typer.Option(metavar=f"[{'|'.join(FORMATS)}]", help=f"The format. {_MEANINGS}.")
    ] = "eval",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Output folder; default: the run directory."),
    ] = None,
) -> None:
    """Export a run for other tools; prints the files written.

    \b
    Examples:
      agentquest export runs/my-run --to csv
      agentquest export runs/my-run -o logs
      inspect view --log-dir logs
    """
    if to not in FORMATS:
        known = ", ".join(map(repr, FORMATS))
        raise typer.BadParameter(f"{to!r} is not one of {known}.", param_hint="'--to'")
    typer.echo(str(export_run(StoredRun(run), to, output or run)))
