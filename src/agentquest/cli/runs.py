"""`agentquest runs`: the runs in a folder with their results."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from agentquest.cli.terminal import say_json, terminal_width, warn
from agentquest.errors import AgentQuestError, UserError, explain
from agentquest.metrics.report import NOTHING, Table, figure_text, short_rate
from agentquest.metrics.statistics import FEW
from agentquest.records.usage import Price, read_amount
from agentquest.reports.render.text import keep_columns, shorten_names, text_table, wrap_text
from agentquest.safe_text import one_line, say
from agentquest.store.library import BrokenRun, Library, RunSummary
from agentquest.store.stored_run import StoredRun

_LONGEST_AGENT = 22
_LEAST_WANTED = ("tags", "cost", "benchmark", "model", "agent")
Episodes = Annotated[
    int,
    typer.Option(
        min=0,
        help="How many episodes of each run get pages of their own, those not solved first.",
    ),
]
_STATES = ("complete", "pending", "running", "stopped")
_FACTS = {
    "created_at", "benchmark", "protocol", "agent", "informed", "model", "trials", "max_steps",
    "tags", "note", "config_hash", "data_hash",
}  # fmt: skip


PriceOption = Annotated[
    str | None,
    typer.Option(
        metavar="PROMPT,COMPLETION[,CACHED[,CACHE_WRITE]]",
        help="Prices per million tokens, for calls that had none when they were made.",
    ),
]


def read_price(text: str | None) -> Price | None:
    """The prices of the option; UserError if they make no sense."""
    if text is None:
        return None
    known = [number for part in text.split(",") if (number := read_amount(part)) is not None]
    if not 2 <= len(known) <= 4 or len(known) != len(text.split(",")):
        raise UserError(
            f"--price must be two to four prices per million tokens, such as 0.1,0.4, not {text!r}"
        )
    prompt, completion, *rest = known
    cached, written, *_ = (*rest, None, None)
    return Price(prompt, completion, cached, written)


def command(
    folder: Annotated[Path, typer.Argument(help="A folder of runs, or one run.")] = Path("runs"),
    tag: Annotated[
        list[str] | None, typer.Option(help="Only runs with this tag; may be repeated.")
    ] = None,
    state: Annotated[
        str | None, typer.Option(help=f"Only runs in this state: {', '.join(_STATES)}.")
    ] = None,
    match: Annotated[
        str,
        typer.Option(
            "--match", "-m", help="Only runs whose name, benchmark, agent or model contains this."
        ),
    ] = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything known about them as JSON.")
    ] = False,
    price: PriceOption = None,
) -> None:
    """List runs: which agent played what, its progress and its results.

    States: `complete`: every episode has a score; `running`: a process is playing it;
    `pending`: all played, but some without a score; `stopped`: not all played.

    \b
    Examples:
      agentquest runs
      agentquest runs --tag cold --state complete
    """
    if state is not None and state not in _STATES:
        raise UserError(f"--state must be one of {', '.join(_STATES)}, not {state!r}")
    library = open_library(folder, read_price(price))
    found = library.summaries()
    chosen = [
        run for run in found if isinstance(run, RunSummary) and _matches(run, tag, state, match)
    ]
    chosen.sort(key=lambda run: (run.manifest.created_at, run.name))
    broken = [run for run in found if isinstance(run, BrokenRun)]
    if as_json:
        plain = []
        for run in chosen:
            try:
                plain.append(_plain(library.run(run.name)))
            except (AgentQuestError, OSError) as error:
                broken.append(BrokenRun(run.name, explain(error)))
        say_json(plain)
    else:
        say(listing(chosen, terminal_width()))
    warn(*(f"{run.name} cannot be read: {run.problem}" for run in broken))


def open_library(folder: Path, price: Price | None = None) -> Library:
    """The runs in a folder; UserError if it is none."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder; `agentquest eval` writes runs to `runs`")
    return Library(folder, price)


def listing(runs: Sequence[RunSummary], width: int) -> str:
    """A table of runs, as wide as the terminal."""
    if not runs:
        return "no runs found; `agentquest eval` makes one"
    headings = ("run", "state", "scored", "success", "benchmark", "agent", "model", "cost", "tags")
    columns = [
        (heading, shorten_names(cells, _LONGEST_AGENT) if heading == "agent" else cells)
        for heading, *cells in zip(headings, *(_row(run) for run in runs), strict=True)
        if {*cells} != {NOTHING}  # what is known of none has no place
    ]
    rows = tuple(zip(*(cells for _, cells in columns), strict=True))
    table = Table("Runs", tuple(heading for heading, _ in columns), rows, numbers=False)
    table, left_out = keep_columns(table, width, _LEAST_WANTED)
    hint = f"  in a wider terminal, or with --json: {', '.join(left_out)}"
    more = wrap_text(hint, width, "  ") if left_out else ""
    notes = [
        wrap_text(f"{run.name}: {one_line(run.manifest.note)}", width, "  ")
        for run in runs
        if run.manifest.note
    ]
    playing = [
        wrap_text(f"{run.name}: {', '.join(run.standing.counts)}; {run.standing.outlook}", width)
        for run in runs
        if run.standing is not None
    ]
    rates = ((run.name, run.figures.success) for run in runs if not run.standing)
    few = [name for name, rate in rates if rate and rate.of_few_tasks]
    marked = [wrap_text(f"fewer than {FEW} tasks: {', '.join(few)}", width, "  ")] if few else []
    below = map("\n".join, (playing, marked, notes))
    return "\n\n".join(filter(None, [text_table(table, width), more, *below]))


def _row(run: RunSummary) -> tuple[str, ...]:
    manifest, figures = run.manifest, run.figures
    return (
        run.name,
        run.state,
        run.scored,
        _success(run),
        f"{manifest.benchmark} {manifest.provenance.split}",
        manifest.agent,
        manifest.model or NOTHING,
        figure_text(figures.cost, 4),
        ", ".join(manifest.tags) or NOTHING,
    )


def _success(run: RunSummary) -> str:
    """Short, so that a list fits: how many were scored stands beside it."""
    if run.standing is not None:
        return "{:.0%} to {:.0%}".format(*run.standing.bounds)
    rate = run.figures.success
    return NOTHING if rate is None else "{} [{}]".format(*short_rate(rate))


def _matches(run: RunSummary, tags: Sequence[str] | None, state: str | None, match: str) -> bool:
    manifest = run.manifest
    words = (run.name, manifest.benchmark, manifest.agent, manifest.model or "")
    return (
        set(tags or ()) <= set(manifest.tags)
        and state in (None, run.state)
        and any(match.lower() in word.lower() for word in words)
    )


def _plain(run: StoredRun) -> dict[str, Any]:
    facts = run.manifest.model_dump(include=_FACTS)
    of_data = run.manifest.provenance.model_dump(include={"data", "split"})
    place = {"name": run.name, "path": str(run.path), "state": run.state}
    summary, standing = run.summary, run.standing
    if standing is not None:  # no interval of what happens to have ended
        summary = {**summary, "interval": None}
    so_far = asdict(standing) if standing else None
    return {**place, **facts, **of_data, "standing": so_far, "summary": summary}
