"""`agentquest demo`: the baseline agents on the built-in data, side by side."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from agentquest.cli.benchmark_choice import BENCHMARK_HELP, SPLIT_HELP, chosen_benchmark
from agentquest.lib import Benchmark, Task
from agentquest.metrics.summary import Group, summarise
from agentquest.records.episode import EpisodeRecord
from agentquest.running.assemble import make_agent
from agentquest.running.one_episode import EpisodePlayer, Origin, Rules, versions

AGENTS = ("oracle", "scripted", "random")
_TITLES = {"alfworld": "ALFWorld, built-in homes", "webshop": "WebShop, built-in products"}


def command(
    benchmark: Annotated[str, typer.Argument(help=BENCHMARK_HELP)] = "alfworld",
    games: Annotated[int, typer.Option(help="Games a task type; 0 plays the whole split.")] = 0,
    split: Annotated[str | None, typer.Option(help=SPLIT_HELP)] = None,
    dialect: Annotated[str | None, typer.Option(help="alfworld: 0.3 or 0.4.")] = None,
    max_steps: Annotated[int, typer.Option(help="Steps before a game counts as lost.")] = 50,
) -> None:
    """Play oracle, scripted and random agents on the built-in data; no key, no download."""
    console = Console()
    source = chosen_benchmark(
        benchmark, {"split": split, "data_path": "builtin", "dialect": dialect}
    )
    tasks = _first_of_each_type(source.tasks(), games)
    played = source.provenance()["split"]
    console.print(
        f"{_TITLES.get(benchmark, benchmark)}, {played}: {len(tasks)} games, "
        f"{max_steps} steps at most"
    )
    for name in AGENTS:
        records = [
            asyncio.run(_play(source, name, task, max_steps))
            for task in track(tasks, f"{name:>8}", console=console, transient=True)
        ]
        console.print(_table(name, records, source.task_types))
    console.print(
        "oracle knows the shortest plan, scripted reads only what an LLM would read,\n"
        "random picks any admissible command; [95% intervals].\n"
        f"Next: agentquest play {benchmark}"
    )


async def _play(benchmark: Benchmark, name: str, task: Task, max_steps: int) -> EpisodeRecord:
    origin = Origin("demo", "", versions(), benchmark.name, name)
    player = EpisodePlayer(
        benchmark.driver(task), make_agent(name, benchmark), task, Rules(max_steps=max_steps)
    )
    return await player.play(origin)


def _first_of_each_type(tasks: list[Task], games: int) -> list[Task]:
    seen: dict[str, int] = {}
    chosen = []
    for task in tasks:
        seen[task.task_type] = seen.get(task.task_type, 0) + 1
        if not games or seen[task.task_type] <= games:
            chosen.append(task)
    return chosen


def _table(agent: str, records: list[EpisodeRecord], task_types: tuple[str, ...]) -> Table:
    summary = summarise(records)
    table = Table(title=f"\n{agent}", title_justify="left", box=None, padding=(0, 1, 0, 0))
    table.add_column("task type", no_wrap=True)
    for heading in ("games", "success", "steps", "progress", "repetition"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in task_types:
        if name in summary.by_type:
            table.add_row(name, *_cells(summary.by_type[name]))
    table.add_row("all", *_cells(summary.overall))
    return table


def _cells(group: Group) -> list[str]:
    success = group.success
    return [
        str(group.scored),
        "–"
        if success is None
        else f"{success.value:.0%} [{success.low * 100:.0f}–{success.high * 100:.0f}]",
        *(
            "–" if mean is None else f"{mean.value:.{digits}f}"
            for mean, digits in ((group.steps, 1), (group.progress, 2), (group.repetition, 2))
        ),
    ]
