"""`agentquest play`: a person plays what the agents play."""

import collections
import itertools
import random
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from agentquest.cli.benchmark_choice import (
    DATA_HELP,
    SETTING_HELP,
    SPLIT_HELP,
    BenchmarkWords,
    chosen_settings,
    read_words,
)
from agentquest.cli.play_choice import find_task, find_type, some_tasks
from agentquest.cli.play_prompt import make_reader
from agentquest.cli.play_record import GameLog
from agentquest.cli.play_screen import Screen
from agentquest.errors import UnknownName, UserError
from agentquest.lib import Benchmark, Task
from agentquest.lib.play_session import WORDS, PlaySession, Reply, Turn
from agentquest.running.factory import make_benchmark
from agentquest.words import counted

T = TypeVar("T")


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
    log = GameLog(source, settings, output_dir) if record else None
    loop = _PlayLoop(source, random.Random(seed), command_line, log)
    try:
        loop.play(task)
    except KeyboardInterrupt:
        loop.screen.line()


class _PlayLoop:
    """Game after game of one benchmark."""

    def __init__(
        self,
        benchmark: Benchmark,
        rng: random.Random,
        command_line: list[str],
        log: GameLog | None,
    ) -> None:
        self.command_line = command_line
        self.benchmark = benchmark
        self.view = benchmark.view()
        self.rng = rng
        self.log = log
        self.screen = Screen(benchmark.title)
        self.reader = make_reader()

    def play(self, wanted: str | None) -> None:
        tasks = self.benchmark.tasks()
        if not tasks:
            raise UserError("no task has that split and type; `agentquest tasks` lists them")
        first = 0 if wanted is None else tasks.index(find_task(tasks, wanted))
        if self.reader.remark:
            self.screen.line(self.reader.remark, "dim")
        queue = self._choose(tasks) if wanted is None else tasks[first:] + tasks[:first]
        for task in itertools.cycle(queue):
            if self._one_game(task) is Turn.LEAVE:
                break

    def _choose(self, tasks: list[Task]) -> list[Task]:
        """The tasks to play one after the other; none if the player leaves."""
        data = self.benchmark.provenance().data
        title = f"{self.benchmark.title} {tasks[0].split}, {data} data"
        self.screen.line(f"{title}: {counted(len(tasks), 'game')}", "bold")
        numbers = collections.Counter(task.task_type for task in tasks)
        if len(numbers) == 1:
            return self._choose_task(tasks)
        all_types = self.benchmark.task_types
        self.screen.menu(
            [
                (place, name, counted(numbers[name], "game"))
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
        if len(places) < len(tasks):
            left_out = f"Showing {len(places)} of {len(tasks)} games; any other number works too."
            self.screen.line(left_out, "dim")
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
        session = self._session(task)
        return session.goal, counted(session.shortest, "step") if session.shortest else ""

    def _ask(self, prompt: str, meant: Callable[[str], T]) -> T | None:
        """Ask until the answer is valid; None when the player leaves."""
        while (line := self.reader.ask(prompt)) is not None and line.strip() != "quit":
            try:
                return meant(line.strip())
            except UnknownName as error:
                self.screen.line(str(error), "magenta")
        return None

    def _one_game(self, task: Task) -> Turn:
        session = self._session(task)
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
        self._write_down(session, task)
        return turn

    def _session(self, task: Task) -> PlaySession:
        driver = self.benchmark.driver(task)
        return PlaySession(driver, self.view, self.benchmark.oracle(driver))

    def _write_down(self, session: PlaySession, task: Task) -> None:
        if self.log is None or not session.steps:
            return
        try:
            self.log.save(session, task)
        except UserError as error:
            self.screen.line(f"This game is not recorded: {error}", "magenta")
            return
        self.screen.line(f"Recorded in {self.log.path}", "dim", whole=True)

    def _again(self, task: Task) -> str:
        """The command that plays this game again."""
        return shlex.join([*self.command_line, "--split", task.split, "--task", task.id])
