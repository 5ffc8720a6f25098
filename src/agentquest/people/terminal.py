"""Games in the terminal: choosing one, playing it, and how it looks.

In a pipe the same text comes as plain lines that are not wrapped.
"""

import collections
import itertools
import random
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from rich.columns import Columns
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from agentquest.errors import UnknownName, UserError
from agentquest.lib import Benchmark, Task
from agentquest.people.prompt import make_reader
from agentquest.people.recorder import GameRecorder
from agentquest.people.session import WORDS, Continuation, GameReply, Groups, PlaySession
from agentquest.running.selection import pick_by_name
from agentquest.safe_text import visible
from agentquest.words import counted, parse_whole_number

T = TypeVar("T")
_BAR = 20
_THING = r"\b[a-z]+ \d+\b"
_SHOWN_TASKS = 8


class TerminalGames:
    """Game after game of one benchmark."""

    def __init__(
        self,
        benchmark: Benchmark,
        rng: random.Random,
        command_line: list[str],
        recorder: GameRecorder | None,
    ) -> None:
        self.command_line = command_line
        self.benchmark = benchmark
        self.view = benchmark.view()
        self.rng = rng
        self.recorder = recorder
        self.screen = Screen(benchmark.title)
        self.reader = make_reader()

    def play(self, wanted: str | None) -> None:
        """Play from the task that is wanted, or from one that the player chooses."""
        tasks = self.benchmark.tasks()
        if not tasks:
            raise UserError("no task has that split and type; `agentquest tasks` lists them")
        first = 0 if wanted is None else tasks.index(find_task(tasks, wanted))
        if self.reader.remark:
            self.screen.line(self.reader.remark, "dim")
        queue = self._choose(tasks) if wanted is None else tasks[first:] + tasks[:first]
        for task in itertools.cycle(queue):
            if self._one_game(task) is Continuation.LEAVE:
                break

    def _choose(self, tasks: list[Task]) -> list[Task]:
        """The tasks to play one after the other; none if the player leaves."""
        data = self.benchmark.provenance().data
        title = f"{self.benchmark.title} {tasks[0].split}, {data} data"
        self.screen.line(f"{title}: {counted(len(tasks), 'game')}", "bold")
        numbers = collections.Counter(task.task_type for task in tasks)
        if len(numbers) == 1:
            return self._choose_task(tasks)
        self.screen.menu(
            [
                (place, name, counted(numbers[name], "game"))
                for place, name in enumerate(self.benchmark.task_types, 1)
                if name in numbers
            ]
        )

        def find_type(text: str) -> str:
            name = self.benchmark.type_named(text) if text else ""
            if name and name not in numbers:
                raise UnknownName(f"no game here is of type {name}")
            return name

        chosen = self._ask("Type (Enter: any game) > ", find_type)
        if chosen is None:
            return []
        if chosen == "":
            return self.rng.sample(tasks, len(tasks))
        return self._choose_task([task for task in tasks if task.task_type == chosen])

    def _choose_task(self, tasks: list[Task]) -> list[Task]:
        shown = min(_SHOWN_TASKS, len(tasks))
        places = sorted(self.rng.sample(range(1, len(tasks) + 1), shown))
        self.screen.menu([(place, *self._describe(tasks[place - 1])) for place in places])
        if shown < len(tasks):
            left_out = f"Showing {shown} of {len(tasks)} games; any other number works too."
            self.screen.line(left_out, "dim")
        chosen = self._ask(
            f"Game, 1 to {len(tasks)} (Enter: any) > ",
            lambda text: find_task(tasks, text) if text else self.rng.choice(tasks),
        )
        if chosen is None:
            return []
        first = tasks.index(chosen)
        return tasks[first:] + tasks[:first]

    def _describe(self, task: Task) -> tuple[str, str]:
        """A task's goal, and how many steps it takes."""
        session = self._session(task)
        return session.goal, counted(session.shortest, "step") if session.shortest else ""

    def _ask(self, prompt: str, read: Callable[[str], T]) -> T | None:
        """Ask until the answer is valid; None when the player leaves."""
        while (line := self.reader.ask(prompt)) is not None and line.strip() != "quit":
            try:
                return read(line.strip())
            except UnknownName as error:
                self.screen.line(str(error), "magenta")
        return None

    def _one_game(self, task: Task) -> Continuation:
        session = self._session(task)
        self.screen.introduction(session, task)
        self.screen.line(f"Besides commands you can type: {', '.join(WORDS)}.", "dim")
        then = Continuation.GO_ON
        while then is Continuation.GO_ON:
            below = f" {session.goal}   [Tab completes, ? for a hint, Ctrl-D leaves]"
            line = self.reader.ask("> ", session.completions, below)
            reply = GameReply(then=Continuation.LEAVE) if line is None else session.answer(line)
            self.screen.reply(reply, session, task)
            if reply.moved and session.over:
                self.screen.result(session, self._again(task))
            then = reply.then
        if not session.over:
            self.screen.farewell(session)
        self._record(session, task)
        return then

    def _session(self, task: Task) -> PlaySession:
        driver = self.benchmark.driver(task)
        return PlaySession(driver, self.view, self.benchmark.oracle(driver))

    def _record(self, session: PlaySession, task: Task) -> None:
        if self.recorder is None or not session.steps:
            return
        try:
            self.recorder.save(session.finish(task))
        except UserError as error:
            self.screen.line(f"This game is not recorded: {error}", "magenta")
            return
        self.screen.line(f"Recorded in {self.recorder.path}", "dim", whole=True)

    def _again(self, task: Task) -> str:
        """The command that plays this game again."""
        return shlex.join([*self.command_line, "--split", task.split, "--task", task.id])


def find_task(tasks: Sequence[Task], wanted: str) -> Task:
    """A task by its position in the list (from 1), its id, or a unique part of it."""
    number = parse_whole_number(wanted)
    if number is None:
        (found,) = pick_by_name(tasks, [wanted]).tasks
        return found
    if not 1 <= number <= len(tasks):
        there = f"the {counted(len(tasks), 'task')} of {tasks[0].split} to choose from"
        raise UnknownName(f"task {number} is not among {there}: 1 to {len(tasks)}")
    return tasks[number - 1]


class _Visible:
    """Whatever is laid out, with what a game's text could do to the terminal as visible text."""

    def __init__(self, shown: RenderableType) -> None:
        self._shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for text, style, control in console.render(self._shown, options):
            yield Segment(text if control else visible(text), style, control)


class Screen:
    """Prints a game for its player, under the benchmark's title."""

    def __init__(self, title: str, console: Console | None = None) -> None:
        self.title = title
        self.console = console or Console(highlight=False)

    def line(self, text: str | Text = "", style: str = "", whole: bool = False) -> None:
        """`whole` keeps it on one line for copying, however narrow the terminal is."""
        shown = Text(text, style) if isinstance(text, str) else text
        self._show(shown, soft_wrap=whole or not self.console.is_terminal)

    def _show(self, shown: RenderableType, soft_wrap: bool = False) -> None:
        self.console.print(_Visible(shown), soft_wrap=soft_wrap)

    def menu(self, rows: Sequence[tuple[int, str, str]]) -> None:
        """Numbered choices, each with a remark."""
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(justify="right", style="bold cyan", no_wrap=True)
        table.add_column(overflow="fold")
        table.add_column(style="dim", overflow="fold")
        for number, text, remark in rows:
            table.add_row(str(number), Text(text), Text(remark))
        self._show(Padding(table, (0, 0, 0, 2)))

    def introduction(self, session: PlaySession, task: Task) -> None:
        """The room and the goal, under the benchmark's title."""
        room = Text(session.view.room(session.introduction))
        goal = Text.assemble(("Goal  ", "bold"), (session.goal, "bold yellow"))
        title = f"{self.title} {task.task_type}"
        self.line()
        if self.console.is_terminal:
            body = Text("\n\n").join([room, goal])
            self._show(Panel(body, title=Text(title), title_align="left", padding=(1, 2)))
        else:
            for text in (Text(title), room, goal):
                self.line(text)
        self.line(task.id, "dim", whole=True)
        if session.shortest:
            self.line(f"It can be done in {counted(session.shortest, 'step')}.", "dim")

    def reply(self, reply: GameReply, session: PlaySession, task: Task) -> None:
        """Show everything that the player's line caused."""
        if reply.chosen:
            self.line(f"> {reply.chosen}", "bold")
        if reply.notice:
            self.line(reply.notice, "magenta")
        if reply.opening:
            self.introduction(session, task)
        if reply.text:
            text = Text(reply.text)
            text.highlight_regex(_THING, "cyan")
            self.line(text)
        if reply.hint:
            self.line(reply.hint, "magenta")
        if reply.groups:
            self._listing(reply.groups)
        if reply.moved:
            self.status(session)
        if reply.warning:
            self.line(reply.warning, "bold magenta")

    def status(self, session: PlaySession) -> None:
        """Progress as the oracle sees it, steps, and how many of them were repetitions."""
        progress = session.driver.outcome.progress
        full, empty = ("━", "─") if self.console.encoding.startswith("utf") else ("#", "-")
        done = int(progress * _BAR + 1e-9)
        self.line(
            Text.assemble(
                (full * done, "green"),
                (empty * (_BAR - done), "dim"),
                f" {progress:4.0%}",
                (f"  {counted(session.steps, 'step')}, repetition {session.repetition:.2f}", "dim"),
            )
        )

    def result(self, session: PlaySession, command: str) -> None:
        """How a game ended, and what the player can do next."""
        outcome = session.driver.outcome
        steps = counted(session.steps, "step")
        head = f"Solved in {steps}" if outcome.success else f"Over after {steps}"
        if session.shortest:
            best = session.shortest
            fewest = session.steps == best
            head += ", the fewest possible" if fewest else f"; {best} would have been enough"
        if not outcome.success:
            head += f"; reward {outcome.reward:.2f}"
        self.line()
        self.line(f"{head}.", "bold green" if outcome.success else "bold red")
        if outcome.explanation:
            self.line(outcome.explanation)
        if help_taken := _help_taken(session):
            self.line(help_taken, "dim")
        self.line("Enter: next game; or type `restart`, `undo` (the last step), `quit`.")
        self.line(f"This game again: {command}", "dim", whole=True)

    def farewell(self, session: PlaySession) -> None:
        """The state of a game that the player left unfinished."""
        progress = session.driver.outcome.progress
        self.line(f"Left after {counted(session.steps, 'step')}, progress {progress:.0%}.", "dim")

    def _listing(self, groups: Groups) -> None:
        width = max(map(len, groups))
        for verb, numbered in groups.items():
            entries = [Text.assemble((f"{n:2d}) ", "cyan"), text) for n, text in numbered]
            if not verb:  # a plan: one step per line
                self.line(Text("\n").join(entries))
            elif self.console.is_terminal:
                row = Table.grid(padding=(0, 2, 0, 0))
                row.add_column(style="bold", width=width)
                row.add_row(verb, Columns(entries, padding=(0, 2)))
                self._show(row)
            else:
                self.line(Text("  ").join([Text(verb.ljust(width)), *entries]))


def _help_taken(session: PlaySession) -> str:
    taken = []
    if session.hints:
        taken.append(counted(session.hints, "hint"))
    if session.undone:
        taken.append(f"{counted(session.undone, 'step')} undone")
    return f"With {' and '.join(taken)}." if taken else ""
