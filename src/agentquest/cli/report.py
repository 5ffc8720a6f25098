"""`agentquest report` and `agentquest export`: a run for people, and for other tools."""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from agentquest.cli.runs import Episodes, PriceOption, listing, read_price
from agentquest.cli.terminal import terminal_width
from agentquest.errors import UserError
from agentquest.files import explain_errors, write_atomically
from agentquest.metrics.report import Report, hide_success
from agentquest.reports.exports import FORMATS, export_run
from agentquest.reports.render.csv import csv_report
from agentquest.reports.render.text import markdown_report, text_report
from agentquest.safe_text import say
from agentquest.store.folder import RunFolder
from agentquest.store.library import Library, RunSummary
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.addresses import MOST_EPISODES

_MEANINGS = "; ".join(f"{name}: {meaning}" for name, (meaning, _) in FORMATS.items())


class ReportFormat(str, Enum):
    """Output formats of a report."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CSV = "csv"
    HTML = "html"


_PRINTED: dict[ReportFormat, Callable[[Report], str]] = {
    ReportFormat.TEXT: lambda report: text_report(report, terminal_width()),
    ReportFormat.MARKDOWN: markdown_report,
    ReportFormat.CSV: csv_report,
}


def command(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="The run directory; a folder of runs is listed.")
    ],
    format: Annotated[
        ReportFormat, typer.Option("--format", "-f", help="Output format.")
    ] = ReportFormat.TEXT,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Output file; for html a folder, by default RUN/report."
        ),
    ] = None,
    episodes: Episodes = MOST_EPISODES,
    price: PriceOption = None,
) -> None:
    """Report on a run, finished or not: what was run, and the results by task type.

    Example: agentquest report runs/my-run --format html
    """
    directory = RunFolder(run)
    if run.is_dir() and not directory.exists and format is ReportFormat.TEXT and output is None:
        _list_instead(run)
    if format is ReportFormat.HTML:
        from agentquest.viewer.export import export as export_pages

        directory.manifest()  # raises a clear error if this is not a run
        folder = output or run / "report"
        export_pages(Library(run, read_price(price)), folder, episodes)
        say(f"wrote {folder / 'index.html'}", err=True)
        return
    stored = StoredRun(run, price=read_price(price))
    found = hide_success(stored.report, stored.standing) if stored.standing else stored.report
    content = _PRINTED[format](found)
    if output is None:
        say(content, nl=False)
        return
    with explain_errors("write", output):
        if output.exists() and not output.is_file():
            output.write_text(content, encoding="utf-8")  # a device or pipe, such as /dev/stdout
        else:
            write_atomically(output, content)
    say(f"wrote {output}", err=True)


def export(
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
    say(str(export_run(StoredRun(run), to, output or run)))


def _list_instead(folder: Path) -> NoReturn:
    """The folder holds runs but is not one: list them."""
    found = [run for run in Library(folder).summaries() if isinstance(run, RunSummary)]
    if not found:
        raise UserError(
            f"{folder} is not a run directory and contains none; `agentquest runs` lists runs"
        )
    say(listing(found, terminal_width()))
    say(f"to report on one: agentquest report {folder / found[-1].name}", err=True)
    raise typer.Exit
