"""What the explorer has read so far: the errand, the furniture, and what lies where.

Only sentences the game prints are understood; any other text leaves the memory
as it is. Several pieces of furniture can stand at one spot: the agent then is
at all of them, and `go to` the others is refused.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine.narrator import NOTHING_HAPPENS
from agentquest.benchmarks.alfworld.explorer.knowledge import GUESSES
from agentquest.benchmarks.alfworld.task_types import read_goal_sentence

_NAME = r"([a-z]+ [0-9]+)"
_ERRAND = re.compile(r"Your task is to: ([^\n]*)")
_ROOM = re.compile(r"Looking quickly around you, you see ([^.]*)\.")
_FACING = re.compile(r"You are facing the ([^.]*)\.")
_NAMES = re.compile(rf"(?<![a-z]){_NAME}")  # a long word is read once, not from every letter
_ARRIVED = re.compile(r"You arrive at ([a-z]+ [0-9]+)\.")
_CLOSED = re.compile(rf"The {_NAME} is closed\.|You close the {_NAME}\.")
_CONTENTS = re.compile(rf"(?:The {_NAME} is open\. In it|On the {_NAME}), you see ([^.]*)\.")
_PICKED = re.compile(rf"You pick up the {_NAME} from the {_NAME}\.")
_PLACED = re.compile(rf"You (put|move) the {_NAME} (?:in/on|to) the {_NAME}\.")
_TREATED = re.compile(rf"You (clean|heat|cool|slice)d? the {_NAME} (?:using|with) ")
_LIT = re.compile(rf"You turn on the {_NAME}\.")
_CARRYING = re.compile(rf"You are carrying: a {_NAME}\.")
_EMPTY_HANDED = "You are not carrying anything."


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


class Step(NamedTuple):
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
    failures: dict[Step, int] = field(default_factory=dict)
    put_words: str = "move {} to {}"
    hands_unsure: bool = False

    def read(self, text: str, step: Step) -> None:
        """Learn from the answer to a step."""
        if step.verb == "inventory":
            self.hands_unsure = False
        if NOTHING_HAPPENS in text:
            self._failed(step)
            return
        if arrived := _ARRIVED.search(text):
            self._arrive(arrived[1])
        if facing := _FACING.search(text):
            self._face(_NAMES.findall(facing[1]))
        for closed in _CLOSED.finditer(text):
            self._at(closed[1] or closed[2]).closed = True
        for found in _CONTENTS.finditer(text):
            place = self._at(found[1] or found[2])
            place.closed = False
            place.things = _NAMES.findall(found[3])
        self._read_hands(text)

    def _read_hands(self, text: str) -> None:
        if picked := _PICKED.search(text):
            self._hold(picked[1])
        elif placed := _PLACED.search(text):
            self.put_words = "put {} in/on {}" if placed[1] == "put" else "move {} to {}"
            self._hold("")
            place = self._at(placed[3])
            place.things = [*(place.things or ()), placed[2]]
        elif treated := _TREATED.search(text):
            self.done.add((treated[1], treated[2]))
        elif lit := _LIT.search(text):
            self.done.add(("use", lit[1]))
        elif carrying := _CARRYING.search(text):
            self._hold(carrying[1])
        elif _EMPTY_HANDED in text:
            self._hold("")

    def _hold(self, thing: str) -> None:
        self.held = thing
        self.hands_unsure = False
        for place in self.furniture.values():
            if place.things and thing in place.things:
                place.things.remove(thing)

    def _arrive(self, spot: str) -> None:
        self.put_words = "put {} in/on {}" if kind_of(spot) == "loc" else "move {} to {}"
        # The later dialect names the furniture, not the spot; it may be known to share one.
        self.here = self.spots.get(spot, spot)

    def _face(self, names: list[str]) -> None:
        self.here = self.here or "start"
        for name in names:
            self._at(name)

    def _at(self, name: str) -> Furniture:
        """The piece of furniture in front of the agent, known from now on."""
        self.spots[name] = self.here
        self.failures.pop(Step("go", place=name), None)
        return self.add_furniture(name)

    def add_furniture(self, name: str) -> Furniture:
        """The receptacle of that name, which is remembered from now on."""
        known = self.furniture.get(name)
        if known is None:
            known = self.furniture[name] = Furniture(name, kind_of(name))
        return known

    def _failed(self, step: Step) -> None:
        """Believe the likeliest reason; a step that fails twice is not tried again."""
        times = self.failures[step] = self.failures.get(step, 0) + 1
        match step.verb:
            case "go" if self.here and times == 1:
                self.spots[step.place] = self.here
            case "go" | "examine":
                self.furniture.pop(step.place, None)
            case "put":
                swapped = self.put_words.startswith("move")
                self.put_words = "put {} in/on {}" if swapped else "move {} to {}"
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

    def given_up(self, step: Step) -> bool:
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


def first_impression(text: str) -> Memory:
    """The memory after reading an introduction."""
    memory = Memory(errand=read_errand(text))
    names = [name for room in _ROOM.findall(text) for name in _NAMES.findall(room)]
    for name in sorted(names or GUESSES, key=natural_order):
        memory.add_furniture(name)
    memory.read(text, Step("look"))
    return memory


def is_introduction(text: str) -> bool:
    """Whether a text states a goal, as only the first of a game does."""
    return _ERRAND.search(text) is not None


def read_errand(text: str) -> Errand | None:
    """The errand that a text states; None when it is none of the six tasks."""
    stated = _ERRAND.search(text)
    if stated is None:
        return None
    goal = read_goal_sentence(stated[1])
    if goal is None:
        return None
    look = goal.task.short == "look"
    place, lamp = ("", goal.target) if look else (goal.target, "")
    return Errand(goal.task.short, goal.thing, place, lamp, goal.sliced)


def kind_of(name: str) -> str:
    """The name without its number."""
    return name.partition(" ")[0]


def natural_order(name: str) -> tuple[str, int, str]:
    """`drawer 2` before `drawer 10`, whatever the size of the number."""
    kind, _, number = name.partition(" ")
    return kind, len(number), number
