"""A map of the home as the agent knows it, drawn from the transcript alone."""

from collections.abc import Iterable, Iterator

from htpy import Node, b, span
from markupsafe import Markup

from agentquest.benchmarks.alfworld.reading import Known
from agentquest.lib.markup import Template, join
from agentquest.lib.pictures import Moment

_DONE = {"heat": "heated", "cool": "cooled", "clean": "cleaned", "slice": "sliced"}
_MAP = Template(
    '<h3>The room as the agent knows it</h3><div class="map">'
    '<span class="place hand"><b>%s</b></span>%s</div>'
)


def draw_maps(moments: Iterable[Moment]) -> Iterator[Markup | None]:
    """The map at each moment; None as long as no furniture is known."""
    known = Known()
    drawn: dict[tuple[object, ...], Markup] = {}  # most places look as they did a step before
    for moment in moments:
        known.read(moment.observation)
        yield _draw(known, drawn) if known.contents else None


def _draw(known: Known, drawn: dict[tuple[object, ...], Markup]) -> Markup:
    held = f"{_describe(known, known.held)} in hand" if known.held else "nothing in hand"
    places = []
    for name in known.contents:
        look = (name, _content(known, name), known.contents[name] is not None, name == known.here)
        if look not in drawn:
            drawn[look] = _draw_place(*look)
        places.append(drawn[look])
    return _MAP(held, join(places))


def _draw_place(name: str, content: str, seen: bool, here: bool) -> Markup:
    kinds = {"place": True, "seen": seen, "unseen": not seen, "here": here}
    inside: Node = f" {content}" if content else None
    return Markup(span(class_=kinds)[b[name], inside])


def _content(known: Known, place: str) -> str:
    things = known.contents[place]
    if things:
        return ", ".join(_describe(known, thing) for thing in things)
    return "closed" if place in known.closed else "" if things is None else "empty"


def _describe(known: Known, thing: str) -> str:
    done = ", ".join(_DONE[verb] for verb in known.treated.get(thing, ()))
    return f"{thing} ({done})" if done else thing
