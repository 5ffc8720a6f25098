"""A map of the home as the agent knows it, drawn from the transcript alone."""

from collections.abc import Iterable, Iterator

from markupsafe import Markup

from agentquest.benchmarks.alfworld.reading import Known
from agentquest.lib.markup import Template, join
from agentquest.lib.types import Moment

_DONE = {"heat": "heated", "cool": "cooled", "clean": "cleaned", "slice": "sliced"}
_MAP = Template(
    '<h3>The room as the agent knows it</h3><div class="map">'
    '<span class="place hand"><b>%s</b></span>%s</div>'
)
_PLACE = Template('<span class="place %s"><b>%s</b>%s</span>')
# What is in a place, whether it is closed, whether the agent is there, and what was done to things.
_Look = tuple[list[str] | None, bool, bool, dict[str, str]]


def draw_maps(moments: Iterable[Moment]) -> Iterator[Markup | None]:
    """The map at each moment; None as long as no furniture is known."""
    known = Known()
    drawn: dict[str, tuple[_Look, Markup]] = {}
    for moment in moments:
        known.read(moment.observation)
        yield _draw(known, drawn) if known.contents else None


def _draw(known: Known, drawn: dict[str, tuple[_Look, Markup]]) -> Markup:
    """The map; most places look as they did when they were `drawn` last."""
    done = {
        thing: f"{thing} ({', '.join(_DONE[verb] for verb in verbs)})"
        for thing, verbs in known.treated.items()
    }
    for name, things in known.contents.items():
        look = (
            None if things is None else [*things],
            name in known.closed,
            name == known.here,
            done,
        )
        if name not in drawn or drawn[name][0] != look:
            drawn[name] = look, _draw_place(name, *look)
    held = f"{done.get(known.held, known.held)} in hand" if known.held else "nothing in hand"
    return _MAP(held, join(place for _, place in drawn.values()))


def _draw_place(
    name: str, things: list[str] | None, closed: bool, here: bool, done: dict[str, str]
) -> Markup:
    kinds = f"{'unseen' if things is None else 'seen'}{' here' if here else ''}"
    content = ", ".join(done.get(thing, thing) for thing in things or ())
    content = content or ("closed" if closed else "" if things is None else "empty")
    return _PLACE(kinds, name, f" {content}" if content else "")
