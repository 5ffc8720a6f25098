"""`agentquest demo`: four baseline agents on built-in data, and a replay of two games."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from agentquest import registry
from agentquest.api import RunResult, evaluate
from agentquest.cli.view import PORT, serve_viewer
from agentquest.http.access import Access
from agentquest.metrics.report import short_rate
from agentquest.metrics.statistics import Estimate
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.running.events import RunEvents
from agentquest.running.spec import EpisodeSpec
from agentquest.safe_text import one_line
from agentquest.viewer.replay import Analysis, analyse_episode
from agentquest.words import counted

AGENTS = {
    "oracle": "knows the shortest plan",
    "scripted": "follows rules, reads only what an LLM would read",
    "clumsy": "the same, but slips in three turns out of ten",
    "random": "picks any possible command",
}
_SHOWN = ("steps", "progress", "repetition", "behaviour")
_BAR = 10
_NAMES_AND_SUCCESS = 43  # columns that the table takes without the means in _SHOWN
# Of a replay: lines, columns of a command, and columns of what is printed before and after it.
_MOST_LINES = 12
_COMMAND = 44
_AROUND_COMMAND = 31


class _Bar(RunEvents):
    def __init__(self, bars: Progress, title: str, total: int) -> None:
        self._bars = bars
        self._task = bars.add_task(title, total=total)

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        self._bars.advance(self._task)


def command(
    benchmark: Annotated[
        str | None, typer.Argument(help="Only this one; default: those with published data.")
    ] = None,
    games: Annotated[int, typer.Option(min=1, help="Games per benchmark and agent.")] = 24,
    max_steps: Annotated[
        int, typer.Option(min=1, max=10_000, help="Steps before a game counts as lost.")
    ] = 25,
    output_dir: Annotated[Path, typer.Option(help="Folder for the runs.")] = Path("runs"),
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the runs in the browser at the end.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where --open serves; 0 takes any free port.")
    ] = PORT,
) -> None:
    """Play four baseline agents on built-in data and replay a win and a failure.

    Needs no API key and no download.

    Example: agentquest demo mastermind --games 6
    """
    console = Console()
    names = [benchmark] if benchmark else _benchmarks_with_data()
    results = [
        {agent: _play(console, name, agent, games, max_steps, output_dir) for agent in AGENTS}
        for name in names
    ]
    console.print(_make_table(results, console.width))
    console.print()
    legend = Table.grid(padding=(0, 1, 0, 0))
    for agent, meaning in AGENTS.items():
        legend.add_row(f"  {agent}", meaning)
    console.print(legend, highlight=False)
    _replay_episodes(console, results[0]["scripted"], results[0]["clumsy"])
    if open_browser:
        serve_viewer(output_dir, Access(), port, open_browser=True)
        return
    _print_next_commands(console, output_dir, names[0])


def _benchmarks_with_data() -> list[str]:
    """The benchmarks that stand in for published data."""
    return [
        name
        for name in registry.BENCHMARKS
        if "data_path" in registry.load("benchmark", name).Settings.model_fields
    ]


def _play(
    console: Console, name: str, agent: str, games: int, max_steps: int, folder: Path
) -> RunResult:
    settings = registry.load("benchmark", name).Settings.model_fields
    given: dict[str, Any] = {"data_path": "builtin"} if "data_path" in settings else {}
    # Where nothing can be taken back, each bar would leave an empty line.
    with Progress(console=console, transient=True, disable=not console.is_interactive) as bars:
        return evaluate(
            benchmark=name,
            agent=agent,
            num_games=games,
            max_steps=max_steps,
            output_dir=str(folder),
            watcher=_Bar(bars, f"{name} · {agent}", games),
            **given,
        )


def _make_table(results: Sequence[dict[str, RunResult]], width: int) -> Table:
    """Each player's success, and as many of the means as there is room for."""
    ends = accumulate((len(heading) + 1 for heading in _SHOWN), initial=_NAMES_AND_SUCCESS)
    means = [heading for heading, end in zip(_SHOWN, [*ends][1:], strict=True) if end <= width]
    table = Table(box=None, padding=(0, 1, 0, 0))
    for heading in ("", "player", "success"):
        table.add_column(heading, no_wrap=True)
    for heading in means:
        table.add_column(heading, justify="right", no_wrap=True)
    for of_benchmark in results:
        title = next(iter(of_benchmark.values())).report.manifest.benchmark_title
        for agent, result in of_benchmark.items():
            metrics = {metric.key: metric for metric in result.report.metrics}
            figures = result.report.overall.group.figures
            cells = [
                "–" if (found := figures[key]) is None else metrics[key].format_value(found.value)
                for key in means
            ]
            table.add_row(f"[bold]{title}[/bold]", agent, _draw_success(figures["success"]), *cells)
            title = ""
        table.add_section()
    return table


def _draw_success(rate: Estimate | None) -> str:
    if rate is None:
        return "–"
    full = round(rate.value * _BAR)
    bar = f"[cyan]{'█' * full}[/cyan][dim]{'░' * (_BAR - full)}[/dim]"
    return f"{bar} {rate.value:4.0%} [dim]{short_rate(rate)[1]}[/dim]"


def _replay_episodes(console: Console, good: RunResult, bad: RunResult) -> None:
    """The shortest win, and the failure that came closest to its goal: there is a step at which
    it went wrong."""

    def closeness(record: EpisodeRecord) -> tuple[float, str]:
        return max((step.progress for step in record.steps), default=0.0), record.key

    won = (record for record in good.records if record.success)
    lost = (record for record in bad.records if record.scored and not record.success)
    win = min(won, key=lambda record: (len(record.steps), record.key), default=None)
    failure = max(lost, key=closeness, default=None)
    for title, result, record in (("A win", good, win), ("A failure", bad, failure)):
        if record is not None:
            console.print()
            goal = escape(one_line(record.goal))
            console.print(f"[bold]{title}[/bold] of {record.agent}: {goal}", highlight=False)
            for line in _replay(record, result.manifest, console.width):
                console.print(f"  {line}", highlight=False)


def _print_next_commands(console: Console, folder: Path, benchmark: str) -> None:
    """Commands that work as printed, wherever the program is installed."""
    command, shown = _find_own_command(), shlex.quote(str(folder))
    rows = (
        (f"{command} view {shown}", f"every step of these runs at http://127.0.0.1:{PORT}"),
        (f"{command} play {benchmark}", "play yourself"),
        (f"{command} eval num_games=12", "an evaluation; `init` writes a configuration"),
    )
    console.print()
    # In one line each, however narrow the terminal: a command is copied as a whole.
    looks: dict[str, Any] = {"highlight": False, "markup": False, "soft_wrap": True}
    console.print(f"The runs are in {folder}. Next:", **looks)
    for text, meaning in rows:
        console.print(f"  {text}", **looks)
        console.print(f"      {meaning}", style="dim", **looks)


def _find_own_command() -> str:
    """How to call this program again from here."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{_shorten_path(Path(sys.executable))} -m agentquest"
    on_path = shutil.which("agentquest")
    # Only `uv run` itself has the environment's programs on its path.
    if on_path and "UV_RUN_RECURSION_DEPTH" not in os.environ:
        return "agentquest"
    return _shorten_path(Path(on_path or called))


def _shorten_path(program: Path) -> str:
    here = Path.cwd()
    return shlex.quote(str(program.relative_to(here) if here in program.parents else program))


def _replay(record: EpisodeRecord, manifest: Manifest, width: int) -> Iterator[str]:
    """The steps worth showing, one line each in Rich markup, with the number of skipped ones."""
    room = min(_COMMAND, max(_COMMAND // 3, width - _AROUND_COMMAND))
    seen = analyse_episode(record, manifest)
    count = len(record.steps)
    # Of a long episode, the steps around the first harmful one.
    middle = seen.first_harmful or count // 2
    first = max(1, min(middle - _MOST_LINES // 2, count - _MOST_LINES + 1))
    last = min(count, first + _MOST_LINES - 1)
    if first > 1:
        yield f"[dim]… {counted(first - 1, 'step')}[/dim]"
    for place in range(first, last + 1):
        yield _format_step(record, seen, place, room)
    if last < count:
        yield f"[dim]… {counted(count - last, 'step')}, then: {record.end.value}[/dim]"


def _format_step(record: EpisodeRecord, seen: Analysis, place: int, room: int) -> str:
    step = record.steps[place - 1]
    action = one_line(step.action if step.action is not None else "(no action)")
    shown = action if len(action) <= room else f"{action[: room - 1]}…"
    marks = []
    if place < len(seen.distances):
        distance = seen.distances[place]
        marks.append("out of reach" if distance is None else f"{distance} to go")
    if place == seen.first_harmful:
        marks.append("[red]first step away[/red]")
    elif seen.repeated[place - 1]:
        marks.append("[dim]again[/dim]")
    escaped = shown.ljust(room).replace("[", "\\[")
    return f"{place:3} {escaped} {'  '.join(marks)}"
