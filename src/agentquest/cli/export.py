"""`agentquest export`: a run in the format of another tool."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from agentquest.records.run_directory import RunDirectory


class Format(str, Enum):
    """The tools whose formats can be written."""

    INSPECT = "inspect"


def command(
    run: Annotated[Path, typer.Argument(help="The run directory.")],
    to: Annotated[Format, typer.Option(help="Whose format.")] = Format.INSPECT,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder; default: the run's own.")
    ] = None,
) -> None:
    """Write a run as an Inspect log, which `inspect view` opens.

    Example: agentquest export runs/my-run --to inspect -o logs && inspect view --log-dir logs
    """
    from agentquest.reports.exports.inspect_log import write_inspect_log

    directory = RunDirectory(run)
    manifest = directory.manifest()
    file = write_inspect_log(manifest, directory.records(), output or run)
    typer.echo(str(file))
