"""`agentquest play`: a person plays what the agents play."""

import random
from pathlib import Path
from typing import Annotated

import typer

from agentquest.cli.benchmark_choice import (
    DATA_HELP,
    SETTING_HELP,
    SPLIT_HELP,
    BenchmarkWords,
    chosen_settings,
    read_words,
)
from agentquest.people.recorder import GameRecorder
from agentquest.people.terminal import TerminalGames
from agentquest.running.factory import make_benchmark


def command(
    benchmark: BenchmarkWords = None,
    split: Annotated[str | None, typer.Option(help=SPLIT_HELP)] = None,
    task_type: Annotated[
        list[str] | None,
        typer.Option("--type", "-t", help="Only this task type (number or name); may be repeated."),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="A task: its id, a unique part of it, or its position in the list that"
            " `agentquest tasks` prints for the same split and type."
        ),
    ] = None,
    data_path: Annotated[str | None, typer.Option(help=DATA_HELP)] = None,
    setting: Annotated[list[str] | None, typer.Option(help=SETTING_HELP)] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed that makes random choices repeatable.")
    ] = None,
    record: Annotated[
        bool, typer.Option(help="Record the games in a run directory, like an agent's.")
    ] = True,
    output_dir: Annotated[Path, typer.Option(help="Folder for run directories.")] = Path("runs"),
) -> None:
    """Play a game in the terminal; Tab completes, `hint` asks the oracle.

    Games are recorded unless --no-record is given.

    \b
    Example, the third game of the second task type:
      agentquest play alfworld --type 2 --task 3
    """
    name, options = read_words(benchmark)
    given = {"split": split, "data_path": data_path}
    settings = chosen_settings({**given, "task_types": task_type}, setting, options)
    source = make_benchmark(name, settings)
    command_line = ["agentquest", "play", name]
    command_line += ["--data-path", data_path] if data_path is not None else []
    for key, _, value in (text.partition("=") for text in [*(setting or ()), *options]):
        command_line += [f"--{key.replace('_', '-')}", value]
    recorder = GameRecorder(source, settings, output_dir) if record else None
    games = TerminalGames(source, random.Random(seed), command_line, recorder)
    try:
        games.play(task)
    except KeyboardInterrupt:
        games.screen.line()
