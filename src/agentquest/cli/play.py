"""`agentquest play`: a person plays what the agents play."""

import random
from pathlib import Path
from typing import Annotated

import typer

from agentquest.cli.benchmark_choice import (
    BenchmarkWords,
    TaskTypes,
    read_benchmark,
    read_words,
)
from agentquest.people.recorder import GameRecorder
from agentquest.people.terminal import TerminalGames
from agentquest.running.factory import make_benchmark


def command(
    words: BenchmarkWords = None,
    task_type: TaskTypes = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="A task: its id, a unique part of it, or its position in the list that"
            " `agentquest tasks` prints for the same split and type."
        ),
    ] = None,
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
    name, settings = read_benchmark(words)
    settings |= {"task_types": task_type} if task_type else {}
    source = make_benchmark(name, settings)
    # A game is named with its own split when it is to be played again.
    given = [word for word in read_words(words)[1] if not word.startswith("split=")]
    command_line = ["agentquest", "play", name, *given]
    recorder = GameRecorder(source, settings, output_dir) if record else None
    TerminalGames(source, random.Random(seed), command_line, recorder).play(task)
