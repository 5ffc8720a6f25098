"""`agentquest report`: a run as text, Markdown, CSV or one HTML page."""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from agentquest.errors import UserError
from agentquest.records.run_directory import RunDirectory, write_atomically
from agentquest.reports.csv_table import csv_report
from agentquest.reports.figures import build_report
from agentquest.reports.html import write_html_report
from agentquest.reports.markdown import markdown_report
from agentquest.reports.text import text_report


class Format(str, Enum):
    TEXT = "text"
    MARKDOWN = "markdown"
    CSV = "csv"
    HTML = "html"


_PRINTED = {Format.TEXT: text_report, Format.MARKDOWN: markdown_report, Format.CSV: csv_report}


def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run directory.")],
    format: Annotated[Format, typer.Option("--format", "-f", help="How to show it.")] = Format.TEXT,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file (html: RUN/report.html)."),
    ] = None,
) -> None:
    """Report a run, finished or not: what was run, and its figures by task type.

    Example: agentquest report runs/my-run --format html
    """
    directory = RunDirectory(run)
    if format is Format.HTML:
        page = output or run / "report.html"
        _write(page, lambda: write_html_report(directory, page))
        return
    content = _PRINTED[format](build_report(directory.records(slim=True), directory.manifest()))
    if output is None:
        typer.echo(content, nl=False)
    else:
        file = output
        _write(file, lambda: write_atomically(file, content))


def _write(file: Path, write: Callable[[], None]) -> None:
    try:
        write()
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from None
    typer.echo(f"wrote {file}", err=True)
