"""One game played by a person: what each line they type does. Needs no terminal.

A line is one of our own words (`hint`, `undo`, …), the number of an entry in the
last list shown, or a command. A command goes to the game exactly as it was
typed; what the game does not understand costs a step, as it does an agent.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from enum import Enum

from agentquest.lib.commands import has_blank
from agentquest.lib.driver import Driver
from agentquest.lib.oracle import Oracle
from agentquest.lib.terminal import TerminalView, fits
from agentquest.words import counted, parse_whole_number

WORDS = ("hint", "hint all", "commands", "task", "undo", "restart", "next", "quit")
_OTHER_NAMES = {"?": "hint", "exit": "quit"}
_BARE = "other"  # heads the commands that are a verb and nothing else
_OVER = "The game is over; press Enter for the next, or type `undo`, `restart`, `quit`."
_OUT_OF_REACH = "The goal can no longer be reached; `undo` or `restart`."


class Turn(Enum):
    """What happens after a line."""

    GO_ON = "go on"
    NEXT_GAME = "next game"
    LEAVE = "leave"


@dataclass(frozen=True)
class Group:
    """Part of a numbered list: entries with the number that chooses each."""

    verb: str
    entries: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Reply:
    """What to show, in this order; only what is set is shown.

    `said` is the game's own text, `notice`, `hint` and `warning` are ours. `opening` says
    that the game is to be introduced (again), `moved` that a step was made or undone.
    """

    chosen: str = ""
    notice: str = ""
    opening: bool = False
    said: str = ""
    hint: str = ""
    groups: tuple[Group, ...] = ()
    moved: bool = False
    warning: str = ""
    turn: Turn = Turn.GO_ON


@dataclass(frozen=True)
class Move:
    """A step as it came about, for the record; `inherited`: somebody else took it before."""

    command: str
    hinted: bool
    seconds: float
    inherited: bool = False

    @property
    def how(self) -> str:
        """What a record says of how the command was read."""
        if self.inherited:
            return "inherited"
        return "after_hint" if self.hinted else "typed"


class PlaySession:
    """`oracle` is bound to the driver; None: there are no hints."""

    def __init__(
        self, driver: Driver, view: TerminalView | None = None, oracle: Oracle | None = None
    ) -> None:
        self.driver = driver
        self.view = view or TerminalView()
        self.oracle = oracle
        self.restarts = 0
        self.all_hints = 0
        self.all_undone = 0
        self._begin()

    @property
    def goal(self) -> str:
        """The task in the game's own words."""
        return str(self.driver.metrics.goal)

    @property
    def steps(self) -> int:
        """How many steps were taken, without the undone ones."""
        return len(self.driver.metrics.interactions)

    @property
    def repetition(self) -> float:
        """The share of steps so far that repeat an earlier one."""
        return float(self.driver.metrics.repetition_rate())

    @property
    def over(self) -> bool:
        """Whether the game itself has ended."""
        return self.driver.outcome.done

    def answer(self, line: str) -> Reply:
        """Do what a line asks for."""
        word = line.strip().lower()
        word = _OTHER_NAMES.get(word, word)
        if word == "" and self.over:
            word = "next"
        if word in WORDS:
            return self._own_word(word)
        if word == "":
            return Reply(notice=f"Type a command, or: {', '.join(WORDS)}.")
        number = parse_whole_number(word)
        if number is not None and self.listed and not self._is_command(word, number):
            return self._choose(number)
        return self._play(line)

    def _is_command(self, word: str, number: int) -> bool:
        """Whether a number is what the game asks for, and not a place in the last list."""
        is_place = word == str(number) and 1 <= number <= len(self.listed)
        return not is_place and self.driver.accepts(word)

    def inherit(self, command: str, seconds: float) -> None:
        """Begin with a step that somebody else took; it cannot be undone."""
        self.observation = self.driver.step(self.driver.action_class(value=command))
        self.moves.append(Move(command, False, seconds, inherited=True))
        self._clock = time.perf_counter()

    @property
    def own_moves(self) -> int:
        """How many steps the player took."""
        return sum(not move.inherited for move in self.moves)

    def completions(self, typed: str) -> list[str]:
        """Commands and words that fit: each word typed begins a word of them, in order."""
        wanted = typed.lower().split()
        offered = [*([] if self.over else self.observation.admissible), *WORDS]
        fitting = [command for command in offered if fits(wanted, command.lower().split())]
        start = " ".join(wanted)
        return sorted(fitting, key=lambda command: not command.lower().startswith(start))

    def _begin(self) -> None:
        self.introduction = self.observation = self.driver.reset()
        self.shortest = len(self._plan())
        self.listed: tuple[str, ...] = ()
        self.moves: list[Move] = []
        self.hints = 0
        self.undone = 0
        self.started_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self._hinted = False
        self._clock = time.perf_counter()

    def _plan(self) -> list[str]:
        return self.oracle.plan() if self.oracle is not None else []

    def _own_word(self, word: str) -> Reply:
        match word:
            case "hint" | "hint all":
                return self._hint(everything=word == "hint all")
            case "commands":
                return self._commands()
            case "task":
                return Reply(opening=True)
            case "undo":
                return self._undo()
            case "restart":
                self.restarts += 1
                self._begin()
                return Reply(notice="From the beginning.", opening=True)
            case "next":
                return Reply(turn=Turn.NEXT_GAME)
            case _:
                return Reply(turn=Turn.LEAVE)

    def _play(self, command: str) -> Reply:
        if self.over:
            return Reply(notice=_OVER)
        possible = self.observation.admissible
        self.observation = self.driver.step(self.driver.action_class(value=command))
        meant = None if self.observation.valid else self.view.suggestion(command, possible)
        self._note(command)
        outcome = self.driver.outcome
        warning = "" if outcome.done or outcome.reachable else _OUT_OF_REACH
        return Reply(
            said=self.view.said(self.observation),
            hint=_meant(meant, possible) if meant else "",
            moved=True,
            warning=warning,
        )

    def _note(self, command: str) -> None:
        now = time.perf_counter()
        self.moves.append(Move(command, self._hinted, now - self._clock))
        self._clock, self._hinted = now, False

    def _choose(self, number: int) -> Reply:
        if not 1 <= number <= len(self.listed):
            return Reply(notice=f"The last list has numbers 1 to {len(self.listed)}.")
        command = self.listed[number - 1]
        if has_blank(command):
            return Reply(notice=f"Type it yourself, with your own words in it: {command}")
        reply = self._play(command)
        return replace(reply, chosen=command) if reply.moved else reply

    def _hint(self, everything: bool) -> Reply:
        if self.oracle is None:
            return Reply(notice="This benchmark has no oracle to ask.")
        if self.over:
            return Reply(notice="There is nothing left to do.")
        plan = self._plan()
        if not plan:
            return Reply(notice=_OUT_OF_REACH)
        self.hints += 1
        self.all_hints += 1
        self._hinted = True
        shown = plan if everything else plan[:1]
        notice = (
            f"A shortest plan from here has {counted(len(plan), 'step')}:" if everything else ""
        )
        return Reply(notice=notice, groups=self._list({"" if everything else "hint": shown}))

    def _commands(self) -> Reply:
        if self.over:
            return Reply(notice=_OVER)
        verbs: dict[str, list[str]] = {}
        for command in self.observation.admissible:
            verb, rest = self.view.verb_and_rest(command)
            verbs.setdefault(verb if rest else _BARE, []).append(command)
        bare = {_BARE: verbs.pop(_BARE)} if _BARE in verbs else {}
        return Reply(groups=self._list(verbs | bare))

    def _list(self, verbs: dict[str, list[str]]) -> tuple[Group, ...]:
        """Number the commands of each verb, and remember which number chooses which."""
        groups = []
        listed: list[str] = []
        for verb, commands in verbs.items():
            entries = []
            for command in commands:
                listed.append(command)
                head, rest = self.view.verb_and_rest(command)
                entries.append((len(listed), rest if head == verb else command))
            groups.append(Group(verb, tuple(entries)))
        self.listed = tuple(listed)
        return tuple(groups)

    def _undo(self) -> Reply:
        """Undo the last step by replaying the others: games are deterministic."""
        steps = list(self.driver.metrics.interactions)
        if not self.own_moves:
            return Reply(notice="There is nothing to undo.")
        self.observation = self.driver.reset()
        for step in steps[:-1]:
            self.observation = self.driver.step(step.action)
        self.moves.pop()
        self.undone += 1
        self.all_undone += 1
        said = self.view.said(self.observation) if self.steps else ""
        return Reply(notice=f"Undone: {steps[-1].action.value}", said=said, moved=True)


def _meant(command: str, possible: Sequence[str]) -> str:
    question = f"Did you mean `{command}`?"
    return question if command in possible else f"{question} It is not possible from here."
