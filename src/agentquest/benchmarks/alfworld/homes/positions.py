"""Where things stand in a room, and what they are called there.

Names are spelt the way ALFWorld's problem files spell them:
`Apple|+00.20|+00.95|-01.33` becomes `Apple_bar__plus_00_dot_20_bar_…`, because
PDDL knows no such characters; a basin carries its own type at the end.
"""

from typing import NamedTuple

from agentquest.benchmarks.alfworld.homes.vocabulary import BASIN_OF
from agentquest.lib.dice import Dice


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


class Walls:
    """Hands out places along the walls of a rectangular room, and spots in front of them."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.width = dice.between(14, 22)
        self.depth = dice.between(14, 22)
        self.left = -dice.between(4, 12)
        self.near = -dice.between(4, 12)
        self._free: list[int] = []
        self._used: set[str] = set()

    def spot(self, horizon: int) -> tuple[Point, str]:
        """A point on a wall, and a location of its own to reach it from."""
        if not self._free:
            self._free = self.dice.shuffled(range(2 * (self.width + self.depth)))
        steps = self._free.pop()
        distance = self.dice.between(2, 4)
        while True:
            x, z, _ = self._along(steps, 0)
            name = location_name(*self._along(steps, distance), horizon)
            if name not in self._used:
                self._used.add(name)
                return Point(x * 25, 0, z * 25), name
            distance += 1

    def _along(self, steps: int, distance: int) -> tuple[int, int, int]:
        """Grid position `distance` steps in front of the wall, and the turn that faces the wall."""
        if steps < self.width:
            return self.left + steps, self.near + distance, 2
        steps -= self.width
        if steps < self.depth:
            return self.left + self.width - distance, self.near + steps, 1
        steps -= self.depth
        if steps < self.width:
            return self.left + self.width - steps, self.near + self.depth - distance, 0
        return self.left + distance, self.near + self.depth - (steps - self.width), 3

    def floor(self) -> tuple[str, ...]:
        """A dozen spots in the middle of the room that lead to no receptacle."""
        spots: list[str] = []
        while len(spots) < 12:
            x = self.left + self.dice.between(5, self.width - 5)
            z = self.near + self.dice.between(5, self.depth - 5)
            name = location_name(x, z, self.dice.below(4), 30)
            if name not in self._used:
                self._used.add(name)
                spots.append(name)
        return tuple(spots)
