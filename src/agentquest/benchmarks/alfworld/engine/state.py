"""What changes during a game. States are immutable, so a copy of a game is free."""

from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine.world import FactTable
from agentquest.errors import DataError

NOTHING = -1


class WorldState(NamedTuple):
    """Numbers are those of the World; masks have one bit per thing.

    `contents` may have an object in two receptacles at once, as in the published games.
    `left` records which object was taken out of which receptacle: the reference's `look` shows
    only those.
    """

    location: int
    held: int
    opened: int
    contents: tuple[tuple[int, ...], ...]
    places: tuple[int, ...]
    clean: int
    hot: int
    cool: int
    sliced: int
    toggled: int
    left: frozenset[tuple[int, int]]


def initial_state(table: FactTable) -> WorldState:
    """The state that the problem's facts describe."""
    return WorldState(
        location=_start(table),
        held=_find_held(table),
        opened=table.mask("opened"),
        contents=table.group("inreceptacle", "receptacle", 1),
        places=tuple(map(_mask, table.group("objectatlocation", "object", 0))),
        clean=table.mask("isclean"),
        hot=table.mask("ishot"),
        cool=table.mask("iscool"),
        sliced=table.mask("issliced"),
        toggled=table.mask("istoggled"),
        left=frozenset(),
    )


def _start(table: FactTable) -> int:
    places = {place for _, place in table.rows.get("atlocation", ())}
    if len(places) != 1:
        raise DataError(f"the agent starts at {len(places)} locations instead of one")
    return table.index[places.pop()]


def _find_held(table: FactTable) -> int:
    held = {thing for _, thing in table.rows.get("holds", ())}
    if len(held) > 1 or bool(held) != bool(table.rows.get("holdsany")):
        raise DataError("facts 'holds' and 'holdsAny' disagree about what the agent starts with")
    return table.index[held.pop()] if held else NOTHING


def _mask(numbers: tuple[int, ...]) -> int:
    return sum(1 << number for number in numbers)
