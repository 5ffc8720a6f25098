"""Understanding what the game prints, with the table it prints from (`engine.narrator`).

The rule-based player, the progress machines and the map learn from texts alone, as an agent
does. A text that the game does not print is ignored.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine import narrator
from agentquest.benchmarks.alfworld.engine.rules import Rule

_VERBS = {
    **{sentence: rule.name.lower() for rule, sentence in narrator.TREATMENTS.items()},
    narrator.SLICE: Rule.SLICE.name.lower(),
}
_UNDONE_BY = {"heat": "cool", "cool": "heat"}
# What is in the blanks of each sentence; `names` is a list.
_BLANKS: dict[str, tuple[str, ...]] = {
    narrator.ROOM: ("names",),
    narrator.FACING: ("names", "others"),
    narrator.ARRIVE: ("place",),
    narrator.IS_CLOSED: ("place",),
    narrator.IN: ("place", "names"),
    narrator.ON: ("place", "names"),
    narrator.OPEN: ("place",),
    narrator.CLOSE: ("place",),
    narrator.TAKE: ("thing", "place"),
    narrator.PUT: ("thing", "place"),
    narrator.MOVE: ("thing", "place"),
    **dict.fromkeys(_VERBS, ("thing", "tool")),
    narrator.USE: ("thing",),
    narrator.CARRY: ("thing",),
    narrator.CARRY_NOTHING: ("nothing",),
}
_NAME = r"([a-z]+ [0-9]{1,9})"
# The game has no longer lists; without a limit a hostile text would take forever.
_LIST = r"([^.]{0,4000})"
_PATTERNS = {"names": _LIST, "others": _LIST, "nothing": "()"}
_NAMES = re.compile(rf"(?<![a-z]){_NAME}")  # a long word is read once, not from every letter


def _pattern_of(sentence: str, blanks: tuple[str, ...]) -> str:
    patterns = [_PATTERNS.get(blank, _NAME) for blank in blanks]
    if "%s" not in sentence:
        return re.escape(sentence) + patterns[0]
    return re.escape(sentence).replace("%s", "{}").format(*patterns)


_SENTENCES = re.compile("|".join(_pattern_of(*entry) for entry in _BLANKS.items()))
# Each sentence by the number of its last group, which is `lastindex` of its match.
_BY_LAST_GROUP = dict(
    zip(accumulate(len(blanks) for blanks in _BLANKS.values()), _BLANKS, strict=True)
)


class Statement(NamedTuple):
    """A sentence that the game printed, with what was in its blanks."""

    sentence: str
    thing: str = ""
    place: str = ""
    names: tuple[str, ...] = ()

    @property
    def treatment(self) -> str:
        """The verb, if the sentence says that the thing was cleaned, heated, cooled or sliced."""
        return _VERBS.get(self.sentence, "")


def read_statements(text: str) -> Iterator[Statement]:
    """All sentences of the table in a text, in its order."""
    for found in _SENTENCES.finditer(text):
        last = found.lastindex or 0
        sentence = _BY_LAST_GROUP[last]
        blanks = _BLANKS[sentence]
        values = dict(zip(blanks, found.groups()[last - len(blanks) : last], strict=True))
        names = tuple(_NAMES.findall(values["names"])) if "names" in values else ()
        yield Statement(sentence, values.get("thing", ""), values.get("place", ""), names)


def is_refusal(text: str) -> bool:
    """Whether the game did not carry out a command."""
    return narrator.NOTHING_HAPPENS in text


def read_goal(text: str) -> str | None:
    """The goal that an introduction states, without the final dot; None in any other text."""
    _, stated, goal = text.partition(narrator.TASK)
    return goal.partition("\n")[0].strip().removesuffix(".") if stated else None


def strip_location(text: str) -> str:
    """An arrival of release 0.3 without the location's number, which some servers leave out."""
    start = narrator.ARRIVE.removesuffix("%s.") + "loc "
    return text.partition(". ")[2] if text.startswith(start) else text


def kind_of(name: str) -> str:
    """`potato 2` is a `potato`."""
    return name.partition(" ")[0]


@dataclass
class Known:
    """What the texts of a game have said so far. Names are the game's: `potato 2`, `fridge 1`."""

    spot: str = ""  # where the agent is; release 0.3 names locations, 0.4 receptacles
    here: str = ""  # the receptacle it went to
    held: str = ""
    contents: dict[str, list[str] | None] = field(default_factory=dict)  # None: not seen yet
    closed: set[str] = field(default_factory=set)
    treated: dict[str, list[str]] = field(default_factory=dict)  # thing: verbs, in order
    lit: dict[str, set[str]] = field(default_factory=dict)  # lamp: spots where it was turned on

    def read(self, text: str) -> None:
        """Learn from an observation."""
        arrived = False
        for said in read_statements(text):
            match said.sentence:
                case narrator.ROOM:
                    for name in said.names:
                        self.contents.setdefault(name, None)
                case narrator.ARRIVE:
                    self.spot, arrived = said.place, True
                case narrator.IS_CLOSED | narrator.CLOSE:
                    self.contents.setdefault(said.place, None)
                    self.closed.add(said.place)
                case narrator.IN | narrator.ON:
                    self.contents[said.place] = list(said.names)
                    self.closed.discard(said.place)
                case narrator.TAKE:
                    self.held = said.thing
                    if said.thing in (there := self.contents.get(said.place) or []):
                        there.remove(said.thing)
                case narrator.PUT | narrator.MOVE:
                    self.held = ""
                    there = self.contents.get(said.place) or []
                    self.contents[said.place] = [*there, said.thing]
                case narrator.USE:
                    self.lit.setdefault(said.thing, set()).add(self.spot)
                case _ if said.treatment:
                    self._treat(said.treatment, said.thing)
            if arrived and said.sentence in (narrator.IS_CLOSED, narrator.IN, narrator.ON):
                self.here = said.place

    def _treat(self, verb: str, thing: str) -> None:
        undone = (verb, _UNDONE_BY.get(verb))
        kept = [done for done in self.treated.get(thing, ()) if done not in undone]
        self.treated[thing] = [*kept, verb]
