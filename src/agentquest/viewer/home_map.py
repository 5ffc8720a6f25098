"""What an agent knows of a place with things on things, drawn from the transcript alone.

Text games that say `On the desk 1, you see a book 1.` can be mapped whatever
they are called; any other text leaves the map empty.
"""

import re
from collections.abc import Iterator, Sequence

from agentquest.records.episode import EpisodeRecord
from agentquest.reports.safe_text import html_text

_ROOM = re.compile(r"Looking quickly around you, you see ([^.]{1,4000})\.")
_CONTENTS = re.compile(
    r"(?:On the ([a-z]+ \d+)|The ([a-z]+ \d+) is open\. In it), you see ([^.]{1,2000})\."
)
_TAKEN = re.compile(r"You (?:pick up|take) the ([a-z]+ \d+) from the ([a-z]+ \d+)\.")
_PLACED = re.compile(r"You (?:put|move) the ([a-z]+ \d+) (?:in/on|to) the ([a-z]+ \d+)\.")
_CLOSED = re.compile(r"(?:The ([a-z]+ \d+) is closed|You close the ([a-z]+ \d+))\.")
_TREATED = re.compile(r"You (heat|cool|clean|slice) the ([a-z]+ \d+) using the")
_WENT = re.compile(r"^go to ([a-z]+ \d+)$")
_NAME = re.compile(r"(?<![a-z])([a-z]+ [0-9]+)")
_DONE = {"heat": "heated", "cool": "cooled", "clean": "cleaned", "slice": "sliced"}


class Known:
    """What the texts have told so far."""

    def __init__(self) -> None:
        self.places: dict[str, list[str] | None] = {}
        self.closed: set[str] = set()
        self.held = ""
        self.at = ""
        self.treated: dict[str, str] = {}
        self._drawn: dict[tuple[object, ...], str] = {}  # most places stay as they were

    def read(self, text: str, action: str = "") -> None:
        """Learn from an observation, and from the action that led to it."""
        if went := _WENT.match(action):
            self.at = went[1]
        if room := _ROOM.search(text):
            for name in _NAME.findall(room[1]):
                self.places.setdefault(name, None)
        for on, inside, things in _CONTENTS.findall(text):
            self.places[on or inside] = _NAME.findall(things)
            self.closed.discard(on or inside)
        for told, done in _CLOSED.findall(text):
            self.places.setdefault(told or done, None)
            self.closed.add(told or done)
        for thing, place in _TAKEN.findall(text):
            self.held = thing
            if thing in (there := self.places.get(place) or []):
                there.remove(thing)
        for thing, place in _PLACED.findall(text):
            self.held = ""
            self.places[place] = [*(self.places.get(place) or []), thing]
        for verb, thing in _TREATED.findall(text):
            self.treated[thing] = _DONE[verb]

    def drawn(self) -> str:
        """The receptacles seen, what is in them and what is held."""
        if not self.places:
            return ""
        cells = "".join(self._cell(name, things) for name, things in self.places.items())
        held = f"{self._thing(self.held)} in hand" if self.held else "nothing in hand"
        return (
            '<h3>The room as the agent knows it</h3><div class="map">'
            f'<span class="place hand"><b>{held}</b></span>{cells}</div>'
        )

    def _cell(self, name: str, things: list[str] | None) -> str:
        treated = tuple(self.treated.get(thing) for thing in things or ())
        looks = (name, tuple(things or ()), treated, things is None, name in self.closed)
        key = (*looks, name == self.at)
        if key not in self._drawn:
            self._drawn[key] = self._made(name, things)
        return self._drawn[key]

    def _made(self, name: str, things: list[str] | None) -> str:
        kinds = ["place", "unseen" if things is None else "seen"]
        kinds += ["here"] if name == self.at else []
        told = ", ".join(self._thing(thing) for thing in things or ())
        if not told:
            told = "closed" if name in self.closed else ("empty" if things is not None else "")
        inside = f" {told}" if told else ""
        return f'<span class="{" ".join(kinds)}"><b>{html_text(name)}</b>{inside}</span>'

    def _thing(self, name: str) -> str:
        treated = self.treated.get(name)
        return html_text(f"{name} ({treated})" if treated else name)


def home_maps(record: EpisodeRecord) -> Iterator[str]:
    """The map at the start, and after each step."""
    steps: Sequence[tuple[str, str]] = [(one.observation, one.action or "") for one in record.steps]
    known = Known()
    for text, action in [(record.first_observation, ""), *steps]:
        known.read(text, action)
        yield known.drawn()
