"""`agentquest eval` runs or resumes an evaluation; `agentquest init` writes its configuration."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from agentquest.api import RunResult, play_pending, prepare_run, start_anew
from agentquest.cli.benchmark_choice import as_overrides
from agentquest.cli.terminal import StopSignals, terminal_width, warn
from agentquest.config import load_config
from agentquest.config.example import example_config
from agentquest.errors import UserError
from agentquest.files import explain_errors
from agentquest.records.outcome import MEANINGS, End
from agentquest.reports.render.text import text_summary
from agentquest.running.monitor import COST_REACHED
from agentquest.running.play import run_to_end
from agentquest.running.run import Run
from agentquest.running.spec import EpisodeSpec
from agentquest.safe_text import one_line, say
from agentquest.store.folder import LOG
from agentquest.words import counted

_FAILURES_SHOWN = 3
_FAILURES_READ = 500


def command(
    overrides: Annotated[
        list[str] | None,
        typer.Argument(
            help="key.path=value, such as num_games=12 llm.temperature=0.7;"
            " every key also works as an option: --num-games 12"
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="YAML file; see `agentquest init`.")
    ] = None,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Start a new run; where there is one already, it stays, and the new one is"
            " called NAME-2, NAME-3, …",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be run, without running it.")
    ] = False,
) -> None:
    """Evaluate an agent. Run the same command again to resume an interrupted run.

    Without a configured model a scripted one answers, so this works offline:

        agentquest eval num_games=12

    With a model behind any OpenAI-compatible server:

        agentquest eval -c run.yaml parallel=32

    Exit code 0: every episode has a score; 1: some have none, run the command again;
    2: bad arguments or configuration, nothing ran; 130: stopped by Ctrl-C (143, 129: by
    SIGTERM, SIGHUP).
    """
    settings, warnings = load_config(
        config, as_overrides(overrides or [], ["--dry-run", "--fresh"])
    )
    run = start_anew(Run(settings)) if fresh else Run(settings)
    show(warnings, run)
    if dry_run:
        run.check_directory()
        say(settings.to_yaml())
        say(f"{counted(len(run.specs), 'episode')}, run directory {run.directory.path}")
        return
    evaluate_here(run)


def write_example(
    file: Annotated[
        Path, typer.Argument(help="File to write; `-` prints to standard output.")
    ] = Path("run.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write an example configuration with every key explained.

    \b
    Example:
      agentquest init run.yaml
      agentquest eval -c run.yaml
    """
    if str(file) == "-":
        say(example_config(), nl=False)
        return
    if file.exists() and not force:
        raise UserError(f"{file} already exists; use --force to overwrite it")
    with explain_errors("write", file):
        file.write_text(example_config(), encoding="utf-8")
    say(f"wrote {file}; next: agentquest eval -c {file}")


def show(warnings: Sequence[str], *runs: Run) -> None:
    """Warnings that should be seen before anything is played, each once, and of how many runs."""
    warn(*warnings, heading="warning: ")
    notes = Counter(
        note
        for run in runs
        for note in (*run.stand_ins, run.benchmark.provenance().warning, *run.selection.notes)
        if note
    )
    for note, count in notes.items():
        where = "" if count == len(runs) else f" (in {count} of {len(runs)} runs)"
        warn(f"{note}{where}", heading="note: ")


def evaluate_here(run: Run) -> None:
    """Play the remaining episodes with the live view, and report."""
    pending, remarks = asyncio.run(prepare_run(run, lambda text: say(text, err=True)))
    warn(*map(one_line, remarks), heading="note: ")
    say(f"run directory: {run.directory.path}", err=True)
    if done := len(run.specs) - len(pending):
        episodes = counted(len(run.specs), "episode")
        say(f"resuming: {done} of {episodes} already played", err=True)
    signals = StopSignals()
    result = run_to_end(play_watched(run, pending, signals))
    if not signals.has_hung_up:
        _report(run, result)
    if not result.complete:
        raise typer.Exit(signals.exit_code or 1)


async def play_watched(run: Run, pending: Sequence[EpisodeSpec], signals: StopSignals) -> RunResult:
    """Play with the live view until everything is played or a signal arrives."""
    if not pending:
        return await play_pending(run, pending)
    # Imported once the model has answered, because drawing takes a while to import.
    from agentquest.cli.live import LiveView, Tally

    live = LiveView(Tally.resume(run), run.directory.path / LOG, run.config.debug)
    with signals.listening() as stop, live as view:
        return await play_pending(run, pending, view, stop)


def _report(run: Run, result: RunResult) -> None:
    failures = _failures(result)
    says_figures = any(row.scored for row in result.rows)
    if not says_figures:
        warn(*failures)
    say(text_summary(result.report, terminal_width()))
    say(f"next: agentquest report {result.path}", err=True)
    if says_figures:
        warn(*failures)
    if result.reason is not None:
        say(f"stopped: {result.reason}", fg="red", err=True)
    if not result.complete:
        episodes = counted(len(run.specs), "episode")
        warn(f"{len(run.pending)} of {episodes} still to play; {_advise(result)}")


def _advise(result: RunResult) -> str:
    """How to play the rest; after a limit or a crash the same command alone would not."""
    if (result.reason or "").startswith(COST_REACHED):
        return "raise cost_limit to play the rest (what was spent before counts)"
    is_faulty = any(row.end is End.AGENT_FAULT and not row.scored for row in result.rows)
    mended = "mend the agent and " if is_faulty else ""
    return f"{mended}run the same command again to play the rest"


def _failures(result: RunResult) -> list[str]:
    """Why episodes have no score, the most frequent reason first."""
    unscored = [row for row in result.rows if not row.scored and row.end is not End.CANCELLED]
    records = (result.record(row.key) for row in unscored[:_FAILURES_READ])
    met = Counter(
        f"{MEANINGS[record.end]}: {one_line(record.error.message)[:300]}"
        for record in records
        if record.error is not None
    )
    shown = met.most_common(_FAILURES_SHOWN)
    return [f"{'once' if number == 1 else f'{number} times'}: {why}" for why, number in shown]
