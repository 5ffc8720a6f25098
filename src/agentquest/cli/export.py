"""`agentquest export`: a run in the format of another tool."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from agentquest.records.run_directory import RunDirectory
from agentquest.reports.exports.exported import Exported
from agentquest.run_result import plain_row
from agentquest.viewer.library import OpenRun


class Format(str, Enum):
    """Formats that a run can be exported to."""

    CSV = "csv"
    PARQUET = "parquet"
    EVAL = "eval"
    INSPECT = "inspect"
    ATIF = "atif"
    HF = "hf"


def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run directory.")],
    to: Annotated[
        Format,
        typer.Option(
            help="csv, parquet: one row per episode. eval (or inspect): a log for Inspect. atif:"
            " one trajectory per episode. hf: a Hugging Face dataset."
        ),
    ] = Format.EVAL,
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
    RunDirectory(run).manifest()  # raises a clear error if this is not a run directory
    typer.echo(str(_write(_exported(run), to, output or run)))


def _exported(path: Path) -> Exported:
    """The run, whose records are read one at a time."""
    run = OpenRun(path.name, path)
    episodes = run.in_order()
    return Exported(
        manifest=run.manifest,
        report=run.report,
        rows=[plain_row(one.row) for one in episodes],
        records=(run.index.record(one) for one in episodes),
    )


def _write(run: Exported, to: Format, folder: Path) -> Path:
    if to in (Format.EVAL, Format.INSPECT):
        from agentquest.reports.exports.inspect_log import write_inspect_log

        return write_inspect_log(run.manifest, run.records, folder)
    if to is Format.ATIF:
        from agentquest.reports.exports.atif import write_atif

        return write_atif(run, folder)
    if to is Format.HF:
        from agentquest.reports.exports.hf_dataset import write_hf_dataset

        return write_hf_dataset(run, folder)
    from agentquest.reports.exports.table_files import write_csv, write_parquet

    return write_csv(run, folder) if to is Format.CSV else write_parquet(run, folder)
