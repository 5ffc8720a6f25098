"""Names of things and places, spelt the way ALFWorld's problem files spell them.

`Apple|+00.20|+00.95|-01.33` becomes `Apple_bar__plus_00_dot_20_bar_…` there,
because PDDL knows no such characters; a basin carries its own type at the end.
"""

from typing import NamedTuple

from agentquest.benchmarks.alfworld.homes.vocabulary import BASIN_OF


class Point(NamedTuple):
    """A position in whole centimetres; y is the height."""

    x: int
    y: int
    z: int


def _sign(value: int) -> str:
    return "_minus_" if value < 0 else "_plus_" if value > 0 else ""


def _metres(centimetres: int) -> str:
    whole, rest = divmod(abs(centimetres), 100)
    return f"{_sign(centimetres)}{whole:02d}_dot_{rest:02d}"


def thing_name(kind: str, at: Point) -> str:
    """The id of a thing of that kind at that point."""
    place = "_bar_".join(_metres(value) for value in at)
    if kind in BASIN_OF:
        return f"{BASIN_OF[kind]}_bar_{place}_bar_{kind}"
    return f"{kind}_bar_{place}"


def location_name(x: int, z: int, turn: int, horizon: int) -> str:
    """A spot to stand on: grid position, quarter turns, and how far one looks down."""
    parts = (x, z, turn, horizon)
    return "loc_bar_" + "_bar_".join(f"_minus_{-n}" if n < 0 else str(n) for n in parts)
