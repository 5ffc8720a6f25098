"""`agentquest sweep`: models × agents × protocols × seeds as one job."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from agentquest.api import name_model, try_model
from agentquest.cli.benchmark_choice import as_overrides
from agentquest.cli.compare import ComparisonFormat, Format, ListTasks, format_comparisons
from agentquest.cli.eval import play_watched, show
from agentquest.cli.terminal import StopSignals, say_json, terminal_width, warn
from agentquest.errors import AgentQuestError, UserError
from agentquest.reports.render.comparison import json_comparison
from agentquest.reports.render.csv import csv_sweep
from agentquest.reports.render.text import markdown_table, text_table
from agentquest.reports.sweep import json_rows, sweep_comparison, sweep_rows, sweep_table
from agentquest.running.play import run_to_end
from agentquest.running.run import Run
from agentquest.running.sweep import Sweep, load_sweep
from agentquest.safe_text import one_line, say
from agentquest.words import counted


def command(
    file: Annotated[
        Path, typer.Argument(metavar="SWEEP.yaml", help="YAML file that says what to combine.")
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(help="key.path=value or --key value for every run, such as executor=ray."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the runs without running them.")
    ] = False,
    format: Format = ComparisonFormat.TEXT,
    list_tasks: ListTasks = False,
) -> None:
    """Run every combination of models, agents, protocols and seeds, then compare them.

    A file like this one makes 2 × 2 × 3 = 12 runs in runs/first-sweep:

    \b
        name: first-sweep
        models: [scripted, {model: qwen/qwen3-8b, base_url: ADDRESS}]
        agents: [react, tools]
        seeds: [1, 2, 3]
        run: {num_games: 60, parallel: 32}

    Runs are played one after another, each with all of `parallel`. The same command resumes an
    interrupted sweep: nothing is lost and nothing is played twice. Every model is asked first;
    one that does not answer is named, and the others are played. If a server fails later, the
    sweep goes on with the next run.

    Exit codes: the same as those of `agentquest eval`.

    Example: agentquest sweep sweep.yaml --dry-run
    """
    sweep = load_sweep(file, as_overrides(overrides or [], ["--dry-run"]))
    runs = [Run(one.config) for one in sweep.runs]
    show(sweep.warnings, *runs)
    if dry_run:
        _list(runs)
        return
    dead = _ask_models(runs)
    for run in runs:
        run.prepare()
    remarks = dict.fromkeys(one_line(remark) for run in runs for remark in run.remarks)
    warn(*remarks, heading="note: ")
    asked = [run for run in runs if run.run_id not in dead]
    episodes = counted(sum(len(run.pending) for run in asked), "episode")
    say(f"{counted(len(asked), 'run')} in {sweep.folder}, {episodes} to play", err=True)
    signals = StopSignals()
    is_complete = _play(asked, signals) and not dead
    if not signals.has_hung_up:
        _show(sweep, format, list_tasks)
    if not is_complete:
        warn("some episodes have no score; run the same command again to play them")
        raise typer.Exit(signals.exit_code or 1)


def _list(runs: Sequence[Run]) -> None:
    for run in runs:
        say(f"{run.directory.path}: {counted(len(run.specs), 'episode')}")
    total = sum(len(run.specs) for run in runs)
    say(f"{counted(len(runs), 'run')}, {counted(total, 'episode')}")


def _ask_models(runs: Sequence[Run]) -> set[str]:
    """Ask every model before anything is played; the runs whose model does not answer.

    These are left out, and the others played. Raises UserError where none would be left.
    """
    answers: dict[str, bool] = {}
    dead: set[str] = set()
    unfinished = [run for run in runs if not run.directory.exists or run.prepare()]
    for run in unfinished:
        context = run.specs[0].context
        question = repr((context.model, context.agent))
        if question not in answers:
            try:
                remarks = asyncio.run(try_model(run, partial(say, err=True)))
                warn(*map(one_line, remarks), heading="note: ")
                answers[question] = True
            except AgentQuestError as error:
                answers[question] = False
                text = f"{name_model(run)} cannot be asked, and its runs are not played: {error}"
                say(text, fg="red", err=True)
        if not answers[question]:
            dead.add(run.run_id)
    if dead and len(dead) == len(unfinished):
        raise UserError("no run is left to play")
    return dead


def _play(runs: Sequence[Run], signals: StopSignals) -> bool:
    """Play each run's remaining episodes; whether every episode then has a score."""
    is_complete = True
    for place, run in enumerate(runs, start=1):
        pending = run.pending
        if signals.received is None:
            try:
                if pending:
                    say(f"run {place} of {len(runs)}: {run.run_id}", err=True)
                    asyncio.run(run.identify_agent())
                reason = run_to_end(play_watched(run, run.pending, signals)).reason
            except AgentQuestError as error:
                reason = str(error)
            if reason is not None:
                say(f"{run.run_id} stopped: {reason}", fg="red", err=True)
        is_complete = is_complete and not run.pending
    return is_complete


def _show(sweep: Sweep, format: ComparisonFormat, list_tasks: bool) -> None:
    rows = sweep_rows(sweep.runs)
    comparisons, problems = sweep_comparison(sweep.runs)
    if format is ComparisonFormat.JSON:
        say_json({"runs": json_rows(rows), **json_comparison(comparisons)})
    elif format is ComparisonFormat.CSV:
        say(csv_sweep(rows), nl=False)
    else:
        is_text, table = format is ComparisonFormat.TEXT, sweep_table(rows)
        say(text_table(table, terminal_width()) if is_text else markdown_table(table))
        if comparisons:
            say("\n" + format_comparisons(comparisons, format, list_tasks), nl=False)
    warn(*problems, heading="not compared: ")
