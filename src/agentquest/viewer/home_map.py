"""What an agent knows of a place with things on things, drawn from the transcript alone.

Text games that say `On the desk 1, you see a book 1.` can be mapped whatever
they are called; any other text leaves the map empty.
"""

import re

from agentquest.records.episode import EpisodeRecord
from agentquest.reports.safe_text import html_text

_ROOM = re.compile(r"Looking quickly around you, you see ([^.]{1,4000})\.")
_CONTENTS = re.compile(
    r"(?:On the ([a-z]+ \d+)|The ([a-z]+ \d+) is open\. In it), you see ([^.]{1,2000})\."
)
_TAKEN = re.compile(r"You (?:pick up|take) the ([a-z]+ \d+) from the ([a-z]+ \d+)\.")
_PLACED = re.compile(r"You (?:put|move) the ([a-z]+ \d+) (?:in/on|to) the ([a-z]+ \d+)\.")
_CLOSED = re.compile(r"The ([a-z]+ \d+) is closed\.")
_NAME = re.compile(r"([a-z]+ \d+)")


class _Known:
    def __init__(self) -> None:
        self.places: dict[str, list[str] | None] = {}
        self.held = ""

    def read(self, text: str) -> None:
        if room := _ROOM.search(text):
            for name in _NAME.findall(room[1]):
                self.places.setdefault(name, None)
        for on, inside, things in _CONTENTS.findall(text):
            self.places[on or inside] = _NAME.findall(things)
        for name in _CLOSED.findall(text):
            self.places.setdefault(name, None)
        for thing, place in _TAKEN.findall(text):
            self.held = thing
            if thing in (there := self.places.get(place) or []):
                there.remove(thing)
        for thing, place in _PLACED.findall(text):
            self.held = ""
            self.places[place] = [*(self.places.get(place) or []), thing]


def home_map(record: EpisodeRecord, steps: int) -> str:
    """The receptacles seen, what is in them and what is held, after so many steps."""
    known = _Known()
    known.read(record.first_observation)
    for step in record.steps[:steps]:
        known.read(step.observation)
    if not known.places:
        return ""
    cells = []
    for name, things in known.places.items():
        looked = "unseen" if things is None else "seen"
        inside = "" if not things else "".join(f"<li>{html_text(t)}</li>" for t in things)
        cells.append(f'<div class="place {looked}"><b>{html_text(name)}</b><ul>{inside}</ul></div>')
    held = f'<p class="note">in hand: <b>{html_text(known.held)}</b></p>' if known.held else ""
    return f'<h3>The place as the agent knows it</h3>{held}<div class="map">{"".join(cells)}</div>'
