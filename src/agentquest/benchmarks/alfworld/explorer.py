"""A rule-based player of ALFWorld: a baseline without a model.

It reads the introduction and the answers, as an LLM would, and nothing else. Where things are
usually kept it knows from a table that follows the real validation games (see knowledge.py),
so its score there is that of a player who has seen such homes before. If another player acts
in its place, it continues from there, which makes it an expert for imitation learning.
Every choice comes with the thought behind it, so that a transcript explains itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine import narrator
from agentquest.benchmarks.alfworld.knowledge import (
    GUESSES,
    KNIVES,
    SHUT,
    SURFACES,
    TOOLS,
    likelihood,
)
from agentquest.benchmarks.alfworld.reading import (
    Statement,
    is_refusal,
    kind_of,
    read_goal,
    read_statements,
)
from agentquest.benchmarks.alfworld.task_types import StatedGoal, read_goal_sentence
from agentquest.lib import Explorer

_PUT = {narrator.PUT: "put {} in/on {}", narrator.MOVE: "move {} to {}"}

_WORDS = {
    "go": "go to {place}",
    "examine": "examine {place}",
    "open": "open {place}",
    "take": "take {thing} from {place}",
    "clean": "clean {thing} with {place}",
    "heat": "heat {thing} with {place}",
    "cool": "cool {thing} with {place}",
    "slice": "slice {thing} with {place}",
    "use": "use {thing}",
    "look": "look",
    "inventory": "inventory",
}
# Some prompts list the admissible commands. The explorer does not read them: the game itself does
# not tell them.
_COMMAND_LIST = "Admissible commands:"


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
    """All that the explorer has read of its game.

    `spots` maps receptacles to the spot they are reached from. Several can share a spot: the
    agent is then at all of them, and `go to` the others is refused. `done` has the treatments
    of things, `spent` the things of no more use, `failures` how often a step was refused.
    """

    errand: StatedGoal | None = None
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
    memory = Memory(errand=read_goal_sentence(read_goal(text) or ""))
    statements = list(read_statements(text))
    names = [name for said in statements if said.sentence == narrator.ROOM for name in said.names]
    for name in sorted(names or GUESSES, key=natural_order):
        memory.add_furniture(name)
    memory.learn(statements)
    return memory


def natural_order(name: str) -> tuple[str, int, str]:
    """`drawer 2` before `drawer 10`, whatever the size of the number."""
    kind, _, number = name.partition(" ")
    return kind, len(number), number


Decision = tuple[Intent, str]


class AlfWorldExplorer(Explorer):
    """Looks for what the errand needs where it is usually kept, and does the errand.

    Without the `table` it looks everywhere, first where a look takes the fewest steps.
    """

    table = True

    def __init__(self) -> None:
        self._memory = Memory()
        self._last = Intent("look")

    def next_action(self, observation: str) -> str:
        text = observation.partition(_COMMAND_LIST)[0]
        if read_goal(text) is not None:
            self._memory = read_introduction(text)
        else:
            self._memory.read(text, self._last)
        self._last, self.thought = self._choose()
        return self._in_words(self._last)

    def did(self, action: str) -> None:
        if action != self._in_words(self._last):
            # Another player's action: its answer is read, but a refusal teaches nothing.
            self._last = Intent("look")

    def _in_words(self, step: Intent) -> str:
        if step.verb == "put":
            return self._memory.put_words.format(step.thing, step.place)
        return _WORDS[step.verb].format(thing=step.thing, place=step.place)

    def _choose(self) -> Decision:
        memory = self._memory
        errand = memory.errand
        if errand is None:
            return Intent("look"), "I do not know what my task is, so I look around."
        if memory.hands_unsure:
            return Intent("inventory"), "That did not work; I check what I am carrying."
        held = memory.held
        if not held:
            return self._fetch(errand)
        if kind_of(held) == errand.thing and held not in memory.spent and self._ready(errand, held):
            return self._carry(errand, held)
        if kind_of(held) in KNIVES and self._slices_missing(errand):
            return self._slice(errand, held)
        return self._put_down(held)

    def _ready(self, errand: StatedGoal, thing: str) -> bool:
        return not errand.sliced or ("slice", thing) in self._memory.done

    def _slices_missing(self, errand: StatedGoal) -> bool:
        if not errand.sliced:
            return False
        sliced = {t for verb, t in self._memory.done if verb == "slice"} - self._memory.spent
        return len(sliced) < errand.number

    def _fetch(self, errand: StatedGoal) -> Decision:
        """With empty hands: find the thing (or first the knife for it) and take it."""
        wanted: tuple[str, ...]
        if self._slices_missing(errand):
            wanted, why = KNIVES, f"I can slice the {errand.thing} with the {{}}."
        else:
            wanted, why = (errand.thing,), "The {} will do for my task."
        for thing, place in self._memory.where(wanted):
            step = Intent("take", thing, place.name)
            delivered = wanted != KNIVES and self._is_delivered(errand, thing, place)
            if not delivered and not self._memory.is_given_up(step):
                reason = f"{why.format(thing)} It is in the {place.name}."
                return self._reach(place, reason) or (step, reason)
        return self._search(wanted, errand)

    def _is_delivered(self, errand: StatedGoal, thing: str, place: Furniture) -> bool:
        """Whether a thing is best left where it is."""
        if thing in self._memory.spent or not self._ready(errand, thing):
            return True
        if errand.task.short in TOOLS:
            return (errand.task.short, thing) in self._memory.done and place.kind == errand.place
        if errand.number > 1:
            return place is self._destination(errand, thing)
        return place.kind == errand.place

    def _carry(self, errand: StatedGoal, held: str) -> Decision:
        """With the right thing in hand: treat it, or light it, or bring it to its place."""
        if errand.lamp:
            return self._light(errand, held)
        if errand.task.short in TOOLS and (errand.task.short, held) not in self._memory.done:
            return self._treat(errand, held)
        place = self._destination(errand, held)
        if place is None:
            self._memory.spent.add(held)
            return self._put_down(held)
        reason = f"The {held} belongs in the {place.name}."
        return self._reach(place, reason) or (Intent("put", held, place.name), reason)

    def _destination(self, errand: StatedGoal, thing: str) -> Furniture | None:
        """Where to deliver: with the first of two things, else where no door is in the way."""

        def preference(place: Furniture) -> tuple[int, bool, bool]:
            inside = place.things or []
            company = sum(
                kind_of(t) == errand.thing and t not in self._memory.spent for t in inside
            )
            shut = place.closed or (place.things is None and place.kind in SHUT)
            return -company if errand.number > 1 else 0, shut, place.things is not None

        fitting = [
            place
            for place in self._memory.furniture.values()
            if place.kind == errand.place
            and not self._memory.is_given_up(Intent("put", thing, place.name))
        ]
        return min(fitting, key=preference, default=None)

    def _treat(self, errand: StatedGoal, held: str) -> Decision:
        verb = errand.task.short
        for kind in TOOLS[verb]:
            for place in list(self._memory.furniture.values()):
                step = Intent(verb, held, place.name)
                if place.kind == kind and not self._memory.is_given_up(step):
                    why = f"I have to {verb} the {held} with the {place.name}."
                    return self._go(place, why) or (step, why)
        self._memory.spent.add(held)
        return self._put_down(held)

    def _light(self, errand: StatedGoal, held: str) -> Decision:
        for lamp, place in self._memory.where((errand.lamp,)):
            step = Intent("use", lamp, place.name)
            if not self._memory.is_given_up(step) and ("use", lamp) not in self._memory.done:
                why = f"The {lamp} in the {place.name} gives light to see the {held}."
                return self._go(place, why) or (step, why)
        return self._search((errand.lamp,), errand)

    def _slice(self, errand: StatedGoal, knife: str) -> Decision:
        for thing, place in self._memory.where((errand.thing,)):
            step = Intent("slice", thing, knife)
            if not self._ready(errand, thing) and not self._memory.is_given_up(step):
                why = f"I can slice the {thing} in the {place.name} with the {knife}."
                return self._reach(place, why) or (step, why)
        return self._search((errand.thing,), errand)

    def _put_down(self, held: str) -> Decision:
        """Free the hands, here if possible."""

        def preference(place: Furniture) -> tuple[bool, bool, int]:
            elsewhere = self._memory.spots.get(place.name) != self._memory.here
            order = SURFACES.index(place.kind) if place.kind in SURFACES else len(SURFACES)
            return elsewhere, place.closed or place.things is None, order

        places = [
            place
            for place in self._memory.furniture.values()
            if not self._memory.is_given_up(Intent("put", held, place.name))
        ]
        place = min(places, key=preference, default=None)
        if place is None:
            return Intent("look"), f"I find no place for the {held}."
        step = Intent("put", held, place.name)
        why = f"I have no use for the {held} now; the {place.name} is a place for it."
        return self._reach(place, why) or (step, why)

    def _search(self, wanted: tuple[str, ...], errand: StatedGoal) -> Decision:
        """Look into the most promising place that has not been looked into."""
        memory = self._memory
        hoped = wanted
        if errand.lamp and not memory.where((errand.lamp,)) and errand.lamp not in wanted:
            hoped = (*wanted, errand.lamp)
        unseen = [place for place in memory.furniture.values() if place.things is None]
        if not unseen:
            memory.forget()
            return Intent("look"), f"I have looked everywhere for the {wanted[0]}; I begin again."
        hopes = {
            place.kind: likelihood(hoped, place.kind) if self.table else 1.0 for place in unseen
        }
        if errand.task.short == "pick" and wanted == (errand.thing,) and not errand.sliced:
            # If one had been there from the start, the errand would be done already.
            hopes[errand.place] = 0.0
        best = max(unseen, key=lambda place: hopes[place.kind] / self._effort(place))
        why = f"I am looking for the {wanted[0]} and have not looked in the {best.name} yet."
        return self._reach(best, why) or (Intent("examine", place=best.name), why)

    def _effort(self, place: Furniture) -> int:
        """Steps until the contents are seen."""
        if self._memory.spots.get(place.name) == self._memory.here:
            return 1
        return 2 if place.closed or place.kind in SHUT else 1

    def _reach(self, place: Furniture, why: str) -> Decision | None:
        """The next step towards having a place open in front of the agent; None when it is."""
        if (going := self._go(place, why)) is not None:
            return going
        if place.closed:
            return Intent("open", place=place.name), f"The {place.name} is closed; I open it."
        if place.things is None:
            reason = f"The {place.name} is right here; I look at it."
            return Intent("examine", place=place.name), reason
        return None

    def _go(self, place: Furniture, why: str) -> Decision | None:
        if self._memory.here and self._memory.spots.get(place.name) == self._memory.here:
            return None
        return Intent("go", place=place.name), why
