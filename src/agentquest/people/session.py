"""One game played by a person: what each line they type does. Needs no terminal.

A line is one of our own words (`hint`, `undo`, …), the number of an entry in the
last list shown, or a command. A command goes to the game exactly as it was typed; if
the game does not understand it, it costs a step, as it costs an agent one.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from enum import Enum

from agentquest.lib.agent import Oracle
from agentquest.lib.commands import has_blank
from agentquest.lib.driver import Driver
from agentquest.lib.people import PlayedGame, PlayedMove, TerminalView, fits
from agentquest.lib.types import Task
from agentquest.records.how import How
from agentquest.words import counted, parse_whole_number

WORDS = ("hint", "hint all", "commands", "task", "undo", "restart", "next", "quit")
_OTHER_NAMES = {"?": "hint", "exit": "quit"}
_BARE = "other"  # heads the commands that are a verb and nothing else
_OVER = "The game is over; press Enter for the next, or type `undo`, `restart`, `quit`."
_OUT_OF_REACH = "The goal can no longer be reached; `undo` or `restart`."


Groups = Mapping[str, Sequence[tuple[int, str]]]


class Continuation(Enum):
    """What happens after a line."""

    GO_ON = "go on"
    NEXT_GAME = "next game"
    LEAVE = "leave"


@dataclass(frozen=True)
class GameReply:
    """What to show, in this order; only what is set is shown.

    `text` is the game's own, `notice`, `hint` and `warning` are ours. `opening` says
    that the game is to be introduced (again), `moved` that a step was made or undone.
    `groups` lists commands by their verb, each with the number that chooses it.
    """

    chosen: str = ""
    notice: str = ""
    opening: bool = False
    text: str = ""
    hint: str = ""
    groups: Groups = field(default_factory=dict)
    moved: bool = False
    warning: str = ""
    then: Continuation = Continuation.GO_ON


class PlaySession:
    """One person's game; `oracle` is bound to the driver, and without it there are no hints."""

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

    def answer(self, line: str) -> GameReply:
        """Do what a line asks for."""
        word = line.strip().lower()
        word = _OTHER_NAMES.get(word, word)
        if word == "" and self.over:
            word = "next"
        if word in WORDS:
            return self._own_word(word)
        if word == "":
            return GameReply(notice=f"Type a command, or: {', '.join(WORDS)}.")
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
        self.moves.append(PlayedMove(command, seconds, How.INHERITED))
        self._clock = time.perf_counter()

    @property
    def own_moves(self) -> int:
        """How many steps the player took."""
        return sum(not move.inherited for move in self.moves)

    def finish(self, task: Task, facts: Mapping[str, str] | None = None) -> PlayedGame:
        """The game as it is to be recorded, with the help that was taken and further facts."""
        taken = {
            "hints": self.all_hints,
            "undone": self.all_undone,
            "restarts": self.restarts,
        }
        help_taken = {name: str(number) for name, number in taken.items() if number}
        return PlayedGame(task, self.moves, self.started_at, {**help_taken, **(facts or {})})

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
        self.moves: list[PlayedMove] = []
        self.hints = 0
        self.undone = 0
        self.started_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self._hinted = False
        self._clock = time.perf_counter()

    def _plan(self) -> list[str]:
        return self.oracle.plan() if self.oracle is not None else []

    def _own_word(self, word: str) -> GameReply:
        match word:
            case "hint" | "hint all":
                return self._hint(everything=word == "hint all")
            case "commands":
                return self._commands()
            case "task":
                return GameReply(opening=True)
            case "undo":
                return self._undo()
            case "restart":
                self.restarts += 1
                self._begin()
                return GameReply(notice="From the beginning.", opening=True)
            case "next":
                return GameReply(then=Continuation.NEXT_GAME)
            case _:
                return GameReply(then=Continuation.LEAVE)

    def _play(self, command: str) -> GameReply:
        if self.over:
            return GameReply(notice=_OVER)
        possible = self.observation.admissible
        self.observation = self.driver.step(self.driver.action_class(value=command))
        meant = None if self.observation.valid else self.view.suggestion(command, possible)
        hint = f"Did you mean `{meant}`?" if meant else ""
        if meant and meant not in possible:
            hint += " It is not possible from here."
        self._note(command)
        outcome = self.driver.outcome
        warning = "" if outcome.done or outcome.reachable else _OUT_OF_REACH
        return GameReply(
            text=self.view.show(self.observation),
            hint=hint,
            moved=True,
            warning=warning,
        )

    def _note(self, command: str) -> None:
        now = time.perf_counter()
        how = How.AFTER_HINT if self._hinted else How.TYPED
        self.moves.append(PlayedMove(command, now - self._clock, how))
        self._clock, self._hinted = now, False

    def _choose(self, number: int) -> GameReply:
        if not 1 <= number <= len(self.listed):
            return GameReply(notice=f"The last list has numbers 1 to {len(self.listed)}.")
        command = self.listed[number - 1]
        if has_blank(command):
            return GameReply(notice=f"Type it yourself, with your own words in it: {command}")
        reply = self._play(command)
        return replace(reply, chosen=command) if reply.moved else reply

    def _hint(self, everything: bool) -> GameReply:
        if self.oracle is None:
            return GameReply(notice="This benchmark has no oracle to ask.")
        if self.over:
            return GameReply(notice="There is nothing left to do.")
        plan = self._plan()
        if not plan:
            return GameReply(notice=_OUT_OF_REACH)
        self.hints += 1
        self.all_hints += 1
        self._hinted = True
        if not everything:
            return GameReply(groups=self._list({"hint": plan[:1]}))
        notice = f"A shortest plan from here has {counted(len(plan), 'step')}:"
        return GameReply(notice=notice, groups=self._list({"": plan}))

    def _commands(self) -> GameReply:
        if self.over:
            return GameReply(notice=_OVER)
        verbs: dict[str, list[str]] = {}
        for command in self.observation.admissible:
            verb, rest = self.view.verb_and_rest(command)
            verbs.setdefault(verb if rest else _BARE, []).append(command)
        bare = {_BARE: verbs.pop(_BARE)} if _BARE in verbs else {}
        return GameReply(groups=self._list(verbs | bare))

    def _list(self, verbs: dict[str, list[str]]) -> Groups:
        """Number the commands of each verb, and remember which number chooses which."""
        groups: dict[str, list[tuple[int, str]]] = {verb: [] for verb in verbs}
        listed = [(verb, command) for verb, commands in verbs.items() for command in commands]
        for number, (verb, command) in enumerate(listed, start=1):
            head, rest = self.view.verb_and_rest(command)
            groups[verb].append((number, rest if head == verb else command))
        self.listed = tuple(command for _, command in listed)
        return groups

    def _undo(self) -> GameReply:
        """Undo the last step by replaying the others: games are deterministic."""
        steps = list(self.driver.metrics.interactions)
        if not self.own_moves:
            return GameReply(notice="There is nothing to undo.")
        self.observation = self.driver.reset()
        for step in steps[:-1]:
            self.observation = self.driver.step(step.action)
        self.moves.pop()
        self.undone += 1
        self.all_undone += 1
        text = self.view.show(self.observation) if self.steps else ""
        return GameReply(notice=f"Undone: {steps[-1].action.value}", text=text, moved=True)
