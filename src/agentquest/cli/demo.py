"""`agentquest demo`: four baseline agents on built-in data, and a replay of two games."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
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
from agentquest.cli.benchmark_choice import BenchmarkWords, read_words
from agentquest.cli.view import PORT, serve_viewer
from agentquest.errors import ConfigError
from agentquest.metrics.summary import Group
from agentquest.metrics.table import Metric
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.reports.safe_text import one_line
from agentquest.running.events import RunEvents
from agentquest.running.spec import EpisodeSpec
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
    benchmark: BenchmarkWords = None,
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

    Needs no API key and no download. Default: the benchmarks with published data.

    Example: agentquest demo mastermind --games 6
    """
    console = Console()
    names = [_read_name(benchmark)] if benchmark else _benchmarks_with_data()
    means = _choose_means(console.width)
    table = _new_table(means)
    shown: list[tuple[RunResult, RunResult]] = []
    for name in names:
        results = {agent: _play(console, name, agent, games, max_steps, output_dir)
                   for agent in AGENTS}  # fmt: skip
        _fill(table, results, means)
        shown.append((results["scripted"], results["clumsy"]))
    console.print(table)
    console.print()
    console.print(_make_legend(), highlight=False)
    for good, bad in shown[:1]:
        _replay_episodes(console, good, bad)
    if open_browser:
        serve_viewer(output_dir, "127.0.0.1", port, open_browser=True)
        return
    _print_next_commands(console, output_dir, names[0])


def _read_name(words: Sequence[str]) -> str:
    """The benchmark that is asked for; the demo has options, and no settings."""
    name, settings = read_words(words, "")
    if settings:
        raise ConfigError(f"{settings[0]}: the demo takes only options, such as --games 12")
    return name


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


def _choose_means(width: int) -> tuple[str, ...]:
    """As many of the means as a terminal of this width has room for."""
    room = width - _NAMES_AND_SUCCESS
    ends = accumulate(len(heading) + 1 for heading in _SHOWN)
    return tuple(heading for heading, end in zip(_SHOWN, ends, strict=True) if end <= room)


def _new_table(means: Sequence[str]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    table.add_column("player", no_wrap=True)
    table.add_column("success", no_wrap=True)
    for heading in means:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _fill(table: Table, results: dict[str, RunResult], means: Sequence[str]) -> None:
    for place, (agent, result) in enumerate(results.items()):
        report = result.report
        title = report.manifest.benchmark_title if place == 0 else ""
        metrics = {metric.key: metric for metric in report.metrics}
        overall = report.overall.group
        table.add_row(
            f"[bold]{title}[/bold]",
            agent,
            _format_success(overall),
            *(_format_mean(metrics[key], overall) for key in means),
        )
    table.add_section()


def _make_legend() -> Table:
    legend = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    legend.add_column(no_wrap=True)
    legend.add_column()
    for agent, meaning in AGENTS.items():
        legend.add_row(f"  {agent}", meaning)
    return legend


def _format_success(group: Group) -> str:
    found = group.figures["success"]
    if found is None:
        return "–"
    full = round(found.value * _BAR)
    bar = f"[cyan]{'█' * full}[/cyan][dim]{'░' * (_BAR - full)}[/dim]"
    return f"{bar} {found.value:4.0%} [dim]{found.low * 100:.0f}–{found.high * 100:.0f}[/dim]"


def _format_mean(metric: Metric, group: Group) -> str:
    found = group.figures[metric.key]
    return "–" if found is None else metric.format_value(found.value)


def _replay_episodes(console: Console, good: RunResult, bad: RunResult) -> None:
    win, failure = shortest_win(good.records), failure_worth_seeing(bad.records)
    for title, result, record in (("A win", good, win), ("A failure", bad, failure)):
        if record is not None:
            console.print()
            goal = escape(one_line(record.goal))
            console.print(f"[bold]{title}[/bold] of {record.agent}: {goal}", highlight=False)
            for line in replay(record, result.manifest, console.width):
                console.print(f"  {line}", highlight=False)


def _print_next_commands(console: Console, folder: Path, benchmark: str) -> None:
    """Commands that work as printed, wherever the program is installed."""
    command, shown = _find_own_command(), shlex.quote(str(folder))
    rows: Sequence[tuple[str, str]] = (
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


def shortest_win(records: Iterable[EpisodeRecord]) -> EpisodeRecord | None:
    """The solved episode with the fewest steps; None if none was solved."""
    won = [record for record in records if record.success]
    return min(won, key=lambda record: (len(record.steps), record.key), default=None)


def failure_worth_seeing(records: Iterable[EpisodeRecord]) -> EpisodeRecord | None:
    """The failure that came closest to its goal: there is a step at which it went wrong."""
    lost = [record for record in records if record.scored and not record.success]
    return max(
        lost,
        key=lambda record: (max((s.progress for s in record.steps), default=0.0), record.key),
        default=None,
    )


def replay(record: EpisodeRecord, manifest: Manifest, width: int) -> Iterator[str]:
    """The steps worth showing, one line each in Rich markup, with the number of skipped ones."""
    room = min(_COMMAND, max(_COMMAND // 3, width - _AROUND_COMMAND))
    seen = analyse_episode(record, manifest)
    places = _choose_steps(record, seen)
    before = 0
    for place in places:
        if place > before + 1:
            yield f"[dim]… {counted(place - before - 1, 'step')}[/dim]"
        yield _format_step(record, seen, place, room)
        before = place
    if before < len(record.steps):
        left = counted(len(record.steps) - before, "step")
        yield f"[dim]… {left}, then: {record.end.value}[/dim]"


def _choose_steps(record: EpisodeRecord, seen: Analysis) -> list[int]:
    """All steps of a short episode; of a long one those around the first harmful step."""
    count = len(record.steps)
    if count <= _MOST_LINES:
        return list(range(1, count + 1))
    middle = seen.first_harmful or count // 2
    first = max(1, min(middle - _MOST_LINES // 2, count - _MOST_LINES + 1))
    return list(range(first, first + _MOST_LINES))


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
