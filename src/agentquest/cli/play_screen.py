"""How a game looks in the terminal; in a pipe the same text as plain lines, not wrapped."""

import sys
from collections.abc import Sequence
from io import TextIOWrapper

from rich.columns import Columns
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from agentquest.lib import Task
from agentquest.lib.play_session import Group, PlaySession, Reply
from agentquest.words import counted

_BAR = 20
_THING = r"\b[a-z]+ \d+\b"


class Screen:
    """Prints a game for its player; `title` stands above the room."""

    def __init__(self, title: str = "", console: Console | None = None) -> None:
        if isinstance(sys.stdout, TextIOWrapper):
            # A terminal that lacks a character shows `?` instead of ending the game.
            sys.stdout.reconfigure(errors="replace")
        self.title = title
        self.console = console or Console(highlight=False)

    def line(self, text: str | Text = "", style: str = "", whole: bool = False) -> None:
        """`whole` keeps it on one line for copying, however narrow the terminal is."""
        shown = Text(text, style) if isinstance(text, str) else text
        self.console.print(shown, soft_wrap=whole or not self.console.is_terminal)

    def menu(self, rows: Sequence[tuple[int, str, str]]) -> None:
        """Numbered choices, each with a remark."""
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(justify="right", style="bold cyan", no_wrap=True)
        table.add_column(overflow="fold")
        table.add_column(style="dim", overflow="fold")
        for number, text, remark in rows:
            table.add_row(str(number), Text(text), Text(remark))
        self.console.print(Padding(table, (0, 0, 0, 2)))

    def introduction(self, session: PlaySession, task: Task) -> None:
        """The room and the goal; the benchmark's title stands above them."""
        room = Text(session.view.room(session.introduction))
        goal = Text.assemble(("Goal  ", "bold"), (session.goal, "bold yellow"))
        title = f"{self.title} {task.task_type}".strip()
        self.line()
        if self.console.is_terminal:
            body = Text("\n\n").join([room, goal])
            self.console.print(Panel(body, title=Text(title), title_align="left", padding=(1, 2)))
        else:
            for text in (Text(title), room, goal):
                self.line(text)
        self.line(task.id, "dim", whole=True)
        if session.shortest:
            self.line(f"It can be done in {counted(session.shortest, 'step')}.", "dim")

    def reply(self, reply: Reply, session: PlaySession, task: Task) -> None:
        """Show everything that the player's line caused."""
        if reply.chosen:
            self.line(f"> {reply.chosen}", "bold")
        if reply.notice:
            self.line(reply.notice, "magenta")
        if reply.opening:
            self.introduction(session, task)
        if reply.said:
            said = Text(reply.said)
            said.highlight_regex(_THING, "cyan")
            self.line(said)
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
        if help_taken := _help_taken(session):
            self.line(help_taken, "dim")
        self.line("Enter: next game; or type `restart`, `undo` (the last step), `quit`.")
        self.line(f"This game again: {command}", "dim", whole=True)

    def farewell(self, session: PlaySession) -> None:
        """The state of a game that the player left unfinished."""
        progress = session.driver.outcome.progress
        self.line(f"Left after {counted(session.steps, 'step')}, progress {progress:.0%}.", "dim")

    def _listing(self, groups: Sequence[Group]) -> None:
        width = max(len(group.verb) for group in groups)
        for group in groups:
            entries = [_entry(*numbered) for numbered in group.entries]
            if not group.verb:  # a plan: one step per line
                self.line(Text("\n").join(entries))
            elif self.console.is_terminal:
                row = Table.grid(padding=(0, 2, 0, 0))
                row.add_column(style="bold", width=width)
                row.add_row(group.verb, Columns(entries, padding=(0, 2)))
                self.console.print(row)
            else:
                self.line(Text("  ").join([Text(group.verb.ljust(width)), *entries]))


def _entry(number: int, text: str) -> Text:
    return Text.assemble((f"{number:2d}) ", "cyan"), text)


def _help_taken(session: PlaySession) -> str:
    taken = []
    if session.hints:
        taken.append(counted(session.hints, "hint"))
    if session.undone:
        taken.append(f"{counted(session.undone, 'step')} undone")
    return f"With {' and '.join(taken)}." if taken else ""
