"""`agentquest play`: a person plays what the agents play."""

import collections
import itertools
import random
import shlex
from collections.abc import Callable
from typing import Annotated, TypeVar

import typer

from agentquest.cli.benchmark_choice import (
    BENCHMARK_HELP,
    SETTING_HELP,
    SPLIT_HELP,
    chosen_benchmark,
)
from agentquest.cli.play_choice import find_task, find_type, some_tasks
from agentquest.cli.play_prompt import make_reader
from agentquest.cli.play_screen import Screen
from agentquest.cli.play_session import WORDS, PlaySession, Reply, Turn, count
from agentquest.cli.play_views import view_of
from agentquest.errors import UnknownName, UserError
from agentquest.lib import Benchmark, Task

T = TypeVar("T")


def command(
    benchmark: Annotated[str, typer.Argument(help=BENCHMARK_HELP)],
    split: Annotated[str | None, typer.Option(help=SPLIT_HELP)] = None,
    task_type: Annotated[
        list[str] | None,
        typer.Option("--type", "-t", help="Only this task type (number or name); may be repeated."),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="The id of a task, part of it that no other has, or its place in what"
            " `agentquest tasks` lists for the same split and type."
        ),
    ] = None,
    data_path: Annotated[
        str | None, typer.Option(help="Folder of the real data, or `builtin`.")
    ] = None,
    dialect: Annotated[
        str | None, typer.Option(help="alfworld: 0.3 or 0.4; by default the game's own.")
    ] = None,
    setting: Annotated[list[str] | None, typer.Option(help=SETTING_HELP)] = None,
    seed: Annotated[
        int | None, typer.Option(help="Makes the random choices the same every time.")
    ] = None,
) -> None:
    """Play a game in the terminal; Tab completes, `hint` asks the oracle.

    Examples: agentquest play alfworld --type heat --seed 1
              agentquest play webshop --type fashion
    """
    options = {"split": split, "data_path": data_path, "dialect": dialect}
    source = chosen_benchmark(benchmark, {**options, "task_types": task_type}, setting)
    command_line = ["agentquest", "play", benchmark]
    for key, value in (("data-path", data_path), ("dialect", dialect)):
        command_line += [f"--{key}", value] if value is not None else []
    for text in setting or ():
        command_line += ["--setting", text]
    evening = _Evening(source, random.Random(seed), command_line)
    try:
        evening.play(task)
    except KeyboardInterrupt:
        evening.screen.line()


class _Evening:
    """Game after game of one benchmark."""

    def __init__(self, benchmark: Benchmark, rng: random.Random, command_line: list[str]) -> None:
        self.command_line = command_line
        self.benchmark = benchmark
        self.view = view_of(benchmark.name)
        self.rng = rng
        self.screen = Screen()
        self.reader = make_reader()

    def play(self, wanted: str | None) -> None:
        tasks = self.benchmark.tasks()
        if not tasks:
            raise UserError("there is no task of that split and type")
        first = 0 if wanted is None else tasks.index(find_task(tasks, wanted))
        if self.reader.remark:
            self.screen.line(self.reader.remark, "dim")
        queue = self._choose(tasks) if wanted is None else tasks[first:] + tasks[:first]
        for task in itertools.cycle(queue):
            if self._one_game(task) is Turn.LEAVE:
                break

    def _choose(self, tasks: list[Task]) -> list[Task]:
        """The tasks to play one after the other; none if the player leaves."""
        data = self.benchmark.provenance().get("data", "")
        title = f"{self.view.title} {tasks[0].split}, {data} data".strip()
        self.screen.line(f"{title}: {count(len(tasks), 'game')}", "bold")
        numbers = collections.Counter(task.task_type for task in tasks)
        if len(numbers) == 1:
            return self._choose_task(tasks)
        all_types = self.benchmark.task_types
        self.screen.menu(
            [
                (place, name, count(numbers[name], "game"))
                for place, name in enumerate(all_types, 1)
                if name in numbers
            ]
        )
        chosen = self._ask(
            "Type (Enter: any game) > ",
            lambda text: find_type(all_types, list(numbers), text) if text else "",
        )
        if chosen is None:
            return []
        if chosen == "":
            return self.rng.sample(tasks, len(tasks))
        return self._choose_task([task for task in tasks if task.task_type == chosen])

    def _choose_task(self, tasks: list[Task]) -> list[Task]:
        places = some_tasks(tasks, self.rng)
        self.screen.menu([(place, *self._described(tasks[place - 1])) for place in places])
        chosen = self._ask(
            f"Game, 1 to {len(tasks)} (Enter: any) > ",
            lambda text: find_task(tasks, text) if text else self.rng.choice(tasks),
        )
        if chosen is None:
            return []
        first = tasks.index(chosen)
        return tasks[first:] + tasks[:first]

    def _described(self, task: Task) -> tuple[str, str]:
        """A task's goal, and how many steps it takes."""
        session = PlaySession(self.benchmark.driver(task), self.view)
        return session.goal, count(session.shortest, "step") if session.shortest else ""

    def _ask(self, prompt: str, meant: Callable[[str], T]) -> T | None:
        """Ask until the answer means something; None when the player leaves."""
        while (line := self.reader.ask(prompt)) is not None and line.strip() != "quit":
            try:
                return meant(line.strip())
            except UnknownName as error:
                self.screen.line(str(error), "magenta")
        return None

    def _one_game(self, task: Task) -> Turn:
        session = PlaySession(self.benchmark.driver(task), self.view)
        self.screen.introduction(session, task)
        self.screen.line(f"Besides commands you can type: {', '.join(WORDS)}.", "dim")
        turn = Turn.GO_ON
        while turn is Turn.GO_ON:
            below = f" {session.goal}   [Tab completes, ? for a hint, Ctrl-D leaves]"
            line = self.reader.ask("> ", session.completions, below)
            reply = Reply(turn=Turn.LEAVE) if line is None else session.answer(line)
            self.screen.reply(reply, session, task)
            if reply.moved and session.over:
                self.screen.result(session, self._again(task))
            turn = reply.turn
        if not session.over:
            self.screen.farewell(session)
        return turn

    def _again(self, task: Task) -> str:
        """The command line that plays this very game."""
        return shlex.join([*self.command_line, "--split", task.split, "--task", task.id])
