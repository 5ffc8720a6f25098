"""`agentquest eval`: run a configured evaluation, or go on with one."""

import asyncio
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from agentquest.cli.live import LiveView, Tally
from agentquest.config import load_config
from agentquest.errors import Cause
from agentquest.records.episode import EpisodeRecord
from agentquest.records.run_directory import LOG, RESULTS
from agentquest.reports.figures import build_report
from agentquest.reports.results_json import results_document
from agentquest.reports.safe_text import one_line
from agentquest.reports.text import text_report
from agentquest.running.evaluation import Evaluation
from agentquest.running.many_episodes import Job

_FAILURES_SHOWN = 3


def command(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(help="key.path=value, such as num_games=12 llm.temperature=0.7"),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="YAML file; see `agentquest init`.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be run, and run nothing.")
    ] = False,
) -> None:
    """Evaluate an agent. The same command again goes on where it stopped.

    Without a configured model the scripted model answers, so this works offline:

        agentquest eval num_games=12

    With a model behind any OpenAI-compatible server:

        agentquest eval -c run.yaml parallel=32
    """
    # An agent or benchmark of the user's own may stand in the folder they are in.
    sys.path.append(str(Path.cwd()))
    settings, warnings = load_config(config, overrides or [])
    for warning in warnings:
        typer.secho(f"warning: {warning}", fg="yellow", err=True)
    evaluation = Evaluation(settings)
    for note in evaluation.selection.notes:
        typer.secho(f"note: {note}", fg="yellow", err=True)
    if dry_run:
        typer.echo(settings.to_yaml())
        typer.echo(f"{len(evaluation.jobs)} episodes, run directory {evaluation.directory.path}")
        return
    owed = evaluation.prepare()
    _announce(evaluation, owed)
    if owed:
        reason = asyncio.run(_run(evaluation, owed))
    else:
        # The run may have been killed after its last episode and before its results.
        reason = None
        with evaluation.directory.locked():
            _save_results(evaluation, evaluation.in_order(evaluation.directory.records(slim=True)))
    _conclude(evaluation, reason)


def _announce(evaluation: Evaluation, owed: Sequence[Job]) -> None:
    done = len(evaluation.jobs) - len(owed)
    typer.echo(f"run directory: {evaluation.directory.path}", err=True)
    if done:
        typer.echo(f"going on: {done} of {len(evaluation.jobs)} episodes are there", err=True)


async def _run(evaluation: Evaluation, owed: Sequence[Job]) -> str | None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    before = [record for record in evaluation.directory.records(slim=True) if record.scored]
    tally = Tally(len(evaluation.jobs), sum(r.success for r in before), len(before))
    log_file = evaluation.directory.path / LOG
    with LiveView(tally, log_file, evaluation.config.debug) as view:
        return await evaluation.run(owed, view, stop, partial(_save_results, evaluation))


def _save_results(evaluation: Evaluation, records: Sequence[EpisodeRecord]) -> None:
    directory = evaluation.directory
    directory.write_results(results_document(records, directory.manifest()))


def _conclude(evaluation: Evaluation, reason: str | None) -> None:
    directory = evaluation.directory
    records = directory.records(slim=True)
    typer.echo(text_report(build_report(records, directory.manifest())))
    typer.echo(f"results: {directory.path / RESULTS}", err=True)
    scored = {record.key for record in records if record.scored}
    left = sum(job.key not in scored for job in evaluation.jobs)
    for failure, number in _failures(records):
        typer.secho(f"{number} times {failure}", fg="yellow", err=True)
    if reason is not None:
        typer.secho(f"stopped: {reason}", fg="red", err=True)
    if left:
        typer.secho(
            f"{left} of {len(evaluation.jobs)} episodes are owed; "
            "the same command again runs exactly those",
            fg="yellow",
            err=True,
        )
        raise typer.Exit(1)


def _failures(records: Sequence[EpisodeRecord]) -> list[tuple[str, int]]:
    """What the episodes without a score met, the most frequent first."""
    met = Counter(
        f"{record.end.value}: {one_line(record.error.message)[:300]}"
        for record in records
        if record.error is not None and record.end is not Cause.CANCELLED
    )
    return met.most_common(_FAILURES_SHOWN)
