"""A map of the home as the agent knows it, drawn from the transcript alone."""

import re
from collections.abc import Iterable, Iterator, Sequence

from htpy import Node, b, div, fragment, h3, span
from markupsafe import Markup

from agentquest.lib.pictures import Moment

_ROOM = re.compile(r"Looking quickly around you, you see ([^.]{1,4000})\.")
_CONTENTS = re.compile(
    r"(?:On the ([a-z]+ \d+)|The ([a-z]+ \d+) is open\. In it), you see ([^.]{1,2000})\."
)
_TAKEN = re.compile(r"You (?:pick up|take) the ([a-z]+ \d+) from the ([a-z]+ \d+)\.")
_PLACED = re.compile(r"You (?:put|move) the ([a-z]+ \d+) (?:in/on|to) the ([a-z]+ \d+)\.")
_CLOSED = re.compile(r"(?:The ([a-z]+ \d+) is closed|You close the ([a-z]+ \d+))\.")
_TREATED = re.compile(r"You (heat|cool|clean|slice)d? the ([a-z]+ \d+) (?:using|with) the")
_WENT = re.compile(r"^go to ([a-z]+ \d+)$")
_NAME = re.compile(r"(?<![a-z])([a-z]+ [0-9]+)")
_DONE = {"heat": "heated", "cool": "cooled", "clean": "cleaned", "slice": "sliced"}


def draw_maps(moments: Iterable[Moment]) -> Iterator[Markup | None]:
    """The map at each moment; None as long as no furniture is known."""
    home = _HomeMap()
    for moment in moments:
        home.read(moment.observation, moment.action)
        yield home.draw()


class _HomeMap:
    """What the texts have said so far."""

    def __init__(self) -> None:
        self._places: dict[str, list[str] | None] = {}
        self._closed: set[str] = set()
        self._held = ""
        self._here = ""
        self._treated: dict[str, str] = {}
        # Most places look as they did a step before.
        self._cells: dict[tuple[object, ...], Markup] = {}

    def read(self, text: str, action: str) -> None:
        """Learn from an observation, and from the action that led to it."""
        if went := _WENT.match(action):
            self._here = went[1]
        if room := _ROOM.search(text):
            for name in _NAME.findall(room[1]):
                self._places.setdefault(name, None)
        for on, inside, things in _CONTENTS.findall(text):
            self._places[on or inside] = _NAME.findall(things)
            self._closed.discard(on or inside)
        for told, done in _CLOSED.findall(text):
            self._places.setdefault(told or done, None)
            self._closed.add(told or done)
        for thing, place in _TAKEN.findall(text):
            self._held = thing
            if thing in (there := self._places.get(place) or []):
                there.remove(thing)
        for thing, place in _PLACED.findall(text):
            self._held = ""
            self._places[place] = [*(self._places.get(place) or []), thing]
        for verb, thing in _TREATED.findall(text):
            self._treated[thing] = _DONE[verb]

    def draw(self) -> Markup | None:
        """The receptacles seen, what is in them and what is held."""
        if not self._places:
            return None
        held = f"{self._describe(self._held)} in hand" if self._held else "nothing in hand"
        hand = span(".place.hand")[b[held]]
        cells = [self._cell(name, things or ()) for name, things in self._places.items()]
        return Markup(fragment[h3["The room as the agent knows it"], div(".map")[hand, cells]])

    def _cell(self, name: str, things: Sequence[str]) -> Markup:
        seen = self._places[name] is not None
        content = ", ".join(self._describe(thing) for thing in things)
        if not content:
            content = "closed" if name in self._closed else "empty" if seen else ""
        key = (name, content, seen, name == self._here)
        if key not in self._cells:
            kinds = {"place": True, "seen": seen, "unseen": not seen, "here": name == self._here}
            inside: Node = f" {content}" if content else None
            self._cells[key] = Markup(span(class_=kinds)[b[name], inside])
        return self._cells[key]

    def _describe(self, thing: str) -> str:
        treated = self._treated.get(thing)
        return f"{thing} ({treated})" if treated else thing
