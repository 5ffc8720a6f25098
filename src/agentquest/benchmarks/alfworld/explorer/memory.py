"""What the explorer has read so far: the errand, the furniture, and what lies where.

Several pieces of furniture can stand at one spot: the agent is then at all of
them, and `go to` the others is refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine import narrator
from agentquest.benchmarks.alfworld.explorer.knowledge import GUESSES
from agentquest.benchmarks.alfworld.reading import (
    Statement,
    is_refusal,
    kind_of,
    read_goal,
    read_statements,
)
from agentquest.benchmarks.alfworld.task_types import read_goal_sentence

_PUT = {narrator.PUT: "put {} in/on {}", narrator.MOVE: "move {} to {}"}


class Errand(NamedTuple):
    """The goal sentence, understood."""

    task: str
    thing: str
    place: str = ""
    lamp: str = ""
    sliced: bool = False

    @property
    def number(self) -> int:
        """How many things must be placed."""
        return 2 if self.task == "two" else 1


class Intent(NamedTuple):
    """A command before it is put into words."""

    verb: str
    thing: str = ""
    place: str = ""


@dataclass(slots=True)
class Furniture:
    """A receptacle; its things are None until they have been seen."""

    name: str
    kind: str
    things: list[str] | None = None
    closed: bool = False


@dataclass(slots=True)
class Memory:
    """All that the explorer knows of its game.

    `spots` says from which spot each receptacle is reached, `done` holds treatments of things,
    `spent` what is of no more use, `failures` how often a step was refused.
    """

    errand: Errand | None = None
    furniture: dict[str, Furniture] = field(default_factory=dict)
    spots: dict[str, str] = field(default_factory=dict)
    here: str = ""
    held: str = ""
    done: set[tuple[str, str]] = field(default_factory=set)
    spent: set[str] = field(default_factory=set)
    failures: dict[Intent, int] = field(default_factory=dict)
    put_words: str = _PUT[narrator.MOVE]
    hands_unsure: bool = False

    def read(self, text: str, step: Intent) -> None:
        """Learn from the answer to a step."""
        if step.verb == "inventory":
            self.hands_unsure = False
        if is_refusal(text):
            self._fail(step)
        else:
            self.learn(read_statements(text))

    def learn(self, statements: Iterable[Statement]) -> None:
        """Learn what the game has said."""
        for said in statements:
            match said.sentence:
                case narrator.ARRIVE:
                    self._arrive(said.place)
                case narrator.FACING:
                    self._face(said.names)
                case narrator.IS_CLOSED | narrator.CLOSE:
                    self._at(said.place).closed = True
                case narrator.IN | narrator.ON:
                    place = self._at(said.place)
                    place.closed = False
                    place.things = list(said.names)
                case narrator.PUT | narrator.MOVE:
                    self.put_words = _PUT[said.sentence]
                    self._hold("")
                    place = self._at(said.place)
                    place.things = [*(place.things or ()), said.thing]
                case narrator.TAKE | narrator.CARRY | narrator.CARRY_NOTHING:
                    self._hold(said.thing)
                case narrator.USE:
                    self.done.add(("use", said.thing))
                case _ if said.treatment:
                    self.done.add((said.treatment, said.thing))

    def _hold(self, thing: str) -> None:
        self.held = thing
        self.hands_unsure = False
        for place in self.furniture.values():
            if place.things and thing in place.things:
                place.things.remove(thing)

    def _arrive(self, spot: str) -> None:
        self.put_words = _PUT[narrator.PUT if kind_of(spot) == "loc" else narrator.MOVE]
        # Dialect 0.4 names the furniture instead of the spot, which several pieces may share.
        self.here = self.spots.get(spot, spot)

    def _face(self, names: Iterable[str]) -> None:
        self.here = self.here or "start"
        for name in names:
            self._at(name)

    def _at(self, name: str) -> Furniture:
        """The piece of furniture in front of the agent, known from now on."""
        self.spots[name] = self.here
        self.failures.pop(Intent("go", place=name), None)
        return self.add_furniture(name)

    def add_furniture(self, name: str) -> Furniture:
        """The receptacle of that name, which is remembered from now on."""
        known = self.furniture.get(name)
        if known is None:
            known = self.furniture[name] = Furniture(name, kind_of(name))
        return known

    def _fail(self, step: Intent) -> None:
        """Believe the likeliest reason; a step that fails twice is not tried again."""
        times = self.failures[step] = self.failures.get(step, 0) + 1
        match step.verb:
            case "go" if self.here and times == 1:
                self.spots[step.place] = self.here
            case "go" | "examine":
                self.furniture.pop(step.place, None)
            case "put":
                older = self.put_words == _PUT[narrator.MOVE]
                self.put_words = _PUT[narrator.PUT if older else narrator.MOVE]
                self.hands_unsure = times > 1
            case "take":
                self.hands_unsure = True
                self.spots.pop(step.place, None)
            case "open" if times > 1:
                self.furniture.pop(step.place, None)
            case _:
                self.spots.pop(step.place, None)

    def forget(self) -> None:
        """Begin to look again, as if nothing had been seen."""
        for place in self.furniture.values():
            place.things = None
        self.failures.clear()

    def is_given_up(self, step: Intent) -> bool:
        """Whether a step was refused twice and is not worth a third try."""
        return self.failures.get(step, 0) > 1

    def where(self, thing_kinds: tuple[str, ...]) -> list[tuple[str, Furniture]]:
        """Things of these kinds and the furniture they are in; those at hand first."""
        found = [
            (thing, place)
            for place in self.furniture.values()
            if place.things
            for thing in place.things
            if kind_of(thing) in thing_kinds
        ]
        found.sort(key=lambda pair: self.spots.get(pair[1].name) != self.here)
        return found


def read_introduction(text: str) -> Memory:
    """The memory after reading an introduction."""
    memory = Memory(errand=read_errand(text))
    statements = list(read_statements(text))
    names = [name for said in statements if said.sentence == narrator.ROOM for name in said.names]
    for name in sorted(names or GUESSES, key=natural_order):
        memory.add_furniture(name)
    memory.learn(statements)
    return memory


def read_errand(text: str) -> Errand | None:
    """The errand that a text states; None if it is not one of the six tasks."""
    stated = read_goal(text)
    goal = None if stated is None else read_goal_sentence(stated)
    if goal is None:
        return None
    look = goal.task.short == "look"
    place, lamp = ("", goal.target) if look else (goal.target, "")
    return Errand(goal.task.short, goal.thing, place, lamp, goal.sliced)


def natural_order(name: str) -> tuple[str, int, str]:
    """`drawer 2` before `drawer 10`, whatever the size of the number."""
    kind, _, number = name.partition(" ")
    return kind, len(number), number
