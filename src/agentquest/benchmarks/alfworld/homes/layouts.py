"""The rooms themselves: receptacles with their positions, fittings, and what is kept there.

A layout belongs to a scene number and is the same in every game played there. Receptacles are
placed along the walls. As in the real rooms, some are reached from the same spot, and some
overlap, so that a thing can be in two of them at once. Positions are whole centimetres and
spots quarters of a metre, so that no floating-point rounding ever shows in a name.

Names are spelt as in ALFWorld's problem files: `Apple|+00.20|+00.95|-01.33` becomes
`Apple_bar__plus_00_dot_20_bar_…`, because PDDL allows no such characters; a basin has its own
type at the end.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count
from typing import NamedTuple

from agentquest.benchmarks.alfworld.homes.rooms import (
    ALWAYS_OPENABLE,
    FITTINGS,
    FURNITURE,
    OPENABLE_SHARES,
    STOCK,
    is_unseen,
    room_of,
    scenes_of,
    weighted_places,
)
from agentquest.benchmarks.alfworld.homes.vocabulary import BASIN_OF, UNTYPED
from agentquest.lib.dice import Dice

NOWHERE = "-"

# Changing this changes every game. Of forty drawings, this one came closest to the published
# games in the measures of `compare`.
_SEED = "agentquest home 32"

# Chance that a receptacle is reached from the same spot as the one before it.
_SHARED_SPOT = {"StoveBurner": 0.45, "Cabinet": 0.1, "Drawer": 0.14, "Shelf": 0.1}
# Chance that a receptacle on top of a larger one is reached from the same spot.
_STANDS_ON = {"CoffeeMachine": ("CounterTop", 0.25), "Toaster": ("CounterTop", 0.3)}
# Chance that a room has a receptacle that overlaps another, and which. The published unseen
# kitchen and bedroom have them all: nearly every game there has a thing in two places.
_OVERLAPS = {"CoffeeMachine": ("CounterTop", 0.45), "Desk": ("Shelf", 0.1)}
_BURNERS_OVERLAP = 0.6
# The most receptacles of an unseen room, and furniture that it has, as the published ones do.
_UNSEEN_MOST = {"kitchen": 28, "living": 27, "bedroom": 20, "bathroom": 16}
_UNSEEN_HAVE: dict[str, frozenset[str]] = {
    "kitchen": frozenset({"StoveBurner", "CoffeeMachine", "CounterTop"}),
    "living": frozenset(),
    "bedroom": frozenset({"Desk", "Shelf"}),
    "bathroom": frozenset(),
}

# Heights in centimetres, lowest and highest; everything else is on the floor.
_HEIGHTS = {
    "Cabinet": (30, 220),
    "CoffeeMachine": (88, 96),
    "CounterTop": (90, 98),
    "Drawer": (15, 95),
    "HandTowelHolder": (145, 180),
    "Microwave": (90, 165),
    "Shelf": (20, 180),
    "SinkBasin": (80, 92),
    "StoveBurner": (90, 96),
    "Toaster": (88, 96),
    "ToiletPaperHanger": (65, 110),
    "TowelHolder": (90, 170),
}


class Point(NamedTuple):
    """A position in whole centimetres; y is the height."""

    x: int
    y: int
    z: int


def _metres(centimetres: int) -> str:
    whole, rest = divmod(abs(centimetres), 100)
    sign = "_minus_" if centimetres < 0 else "_plus_" if centimetres > 0 else ""
    return f"{sign}{whole:02d}_dot_{rest:02d}"


def thing_name(kind: str, at: Point) -> str:
    """The id of a thing of that kind at that point."""
    place = "_bar_".join(_metres(value) for value in at)
    if kind in BASIN_OF:
        return f"{BASIN_OF[kind]}_bar_{place}_bar_{kind}"
    return f"{kind}_bar_{place}"


def location_name(x: int, z: int, turn: int, horizon: int) -> str:
    """A spot to stand on: grid position, quarter turns, and how far down the agent looks."""
    parts = (x, z, turn, horizon)
    return "loc_bar_" + "_bar_".join(f"_minus_{-n}" if n < 0 else str(n) for n in parts)


class Walls:
    """Places along the walls of a rectangular room, and spots in front of them."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.width = dice.between(14, 22)
        self.depth = dice.between(14, 22)
        self.left = -dice.between(4, 12)
        self.near = -dice.between(4, 12)
        self._free: list[int] = []
        self._used: set[str] = set()

    def spot(self, horizon: int) -> tuple[Point, str]:
        """A free point on a wall, and a new location to reach it from."""
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


@dataclass(frozen=True)
class Receptacle:
    """Something to put things in or on, at `at`; it is reached from the spot `location`."""

    kind: str
    name: str
    at: Point
    location: str
    openable: bool


@dataclass(frozen=True)
class Fitting:
    """A thing that stays where it is; `inside` is the receptacle it stands on, if any."""

    kind: str
    name: str
    location: str | None
    inside: str | None


@dataclass(frozen=True)
class Layout:
    """A furnished room, before anything that can be picked up is put into it."""

    scene: int
    room: str
    receptacles: tuple[Receptacle, ...]
    fittings: tuple[Fitting, ...]
    kinds: tuple[str, ...]
    """The things that are kept in this room, in every game."""
    overlaps: tuple[tuple[str, str], ...]
    """Names of receptacles: what is in the first may be in the second as well."""
    floor: tuple[str, ...]
    """Spots where no receptacle is reached: for the agent's start and things lying about."""

    @cached_property
    def by_kind(self) -> Mapping[str, tuple[Receptacle, ...]]:
        """The receptacles of each kind that the room has."""
        kinds = sorted({r.kind for r in self.receptacles})
        return {kind: tuple(r for r in self.receptacles if r.kind == kind) for kind in kinds}

    @cached_property
    def furniture(self) -> tuple[str, ...]:
        """What an agent is shown of the room at the start: the kind of each receptacle."""
        return tuple(sorted(r.kind for r in self.receptacles))


@cache
def layout(scene: int) -> Layout:
    """The room of a scene number.

    A room for valid_unseen is drawn again until its furniture differs from that of every
    other room.
    """
    if not is_unseen(scene):
        return _draw(scene, f"{_SEED} {scene}")
    room = room_of(scene)
    others = {layout(seen).furniture for seen in scenes_of(room, unseen=False)}
    others |= {layout(s).furniture for s in scenes_of(room, unseen=True) if s < scene}
    for attempt in count():
        made = _draw(scene, f"{_SEED} {scene}" + f" {attempt}" * (attempt > 0))
        alike = made.by_kind.keys() >= _UNSEEN_HAVE[room]
        small = len(made.receptacles) <= _UNSEEN_MOST[room]
        if alike and small and made.furniture not in others:
            return made
    raise AssertionError("unreachable")


def _draw(scene: int, seed: str) -> Layout:
    room = room_of(scene)
    dice = Dice(seed)
    walls = Walls(dice)
    receptacles = _furnish(dice, room, walls)
    fittings = _fit(dice, room, walls, receptacles)
    floor = walls.floor()
    present = {r.kind for r in receptacles}
    kinds = tuple(
        kind
        for kind, stock in STOCK[room].items()
        if dice.chance(stock.share) and open_places(stock.places, present)
    )
    overlaps = _overlapping(dice, receptacles, always=is_unseen(scene))
    return Layout(scene, room, receptacles, fittings, kinds, overlaps, floor)


def open_places(places: str, present: Container[str]) -> dict[str, int]:
    """Those of the weighted places that a room with these receptacles has."""
    return {
        place: weight
        for place, weight in weighted_places(places).items()
        if place in present or place == NOWHERE
    }


def _horizon(height: int) -> int:
    """How far the agent looks down, in degrees, to see something at a height."""
    for limit, degrees in ((60, 60), (110, 45), (130, 30), (150, 15), (170, 0)):
        if height < limit:
            return degrees
    return -30


def _furnish(dice: Dice, room: str, walls: Walls) -> tuple[Receptacle, ...]:
    made: list[Receptacle] = []
    for kind, numbers in FURNITURE[room].items():
        doors = _share_with_doors(dice, room, kind)
        for _ in range(dice.one_of(numbers)):
            low, high = _HEIGHTS.get(kind, (0, 6))
            height = dice.between(low, high)
            at, location = _place(dice, walls, kind, height, made)
            made.append(Receptacle(kind, thing_name(kind, at), at, location, dice.chance(doors)))
    return tuple(made)


def _share_with_doors(dice: Dice, room: str, kind: str) -> float:
    if kind in ALWAYS_OPENABLE:
        return 1.0
    shares = OPENABLE_SHARES.get(kind)
    return 0.0 if shares is None else dice.one_of(shares.get(room, (1.0,)))


def _place(
    dice: Dice, walls: Walls, kind: str, height: int, made: list[Receptacle]
) -> tuple[Point, str]:
    """Where a new receptacle stands: alone, or reached from where another one already is."""
    neighbour = None
    if made and made[-1].kind == kind and dice.chance(_SHARED_SPOT.get(kind, 0.0)):
        neighbour = made[-1]
    below, chance = _STANDS_ON.get(kind, ("", 0.0))
    if dice.chance(chance):
        neighbour = next((r for r in made if r.kind == below), neighbour)
    if neighbour is None:
        at, location = walls.spot(_horizon(height))
    else:
        at, location = neighbour.at, neighbour.location
    taken = {r.at for r in made}
    while True:
        point = _near(dice, at, height)
        if point not in taken:
            return point, location


def _fit(
    dice: Dice, room: str, walls: Walls, receptacles: tuple[Receptacle, ...]
) -> tuple[Fitting, ...]:
    fittings: list[Fitting] = []
    for receptacle in receptacles:
        whole = BASIN_OF.get(receptacle.kind)
        if whole:
            name = thing_name(whole, receptacle.at)
            fittings.append(Fitting(whole, name, receptacle.location, None))
    for kind, (numbers, places) in FITTINGS[room].items():
        for _ in range(int(dice.one_of(numbers))):
            fittings.append(_fitting(dice, kind, places, walls, receptacles))
    return tuple(fittings)


def _fitting(
    dice: Dice, kind: str, places: str, walls: Walls, receptacles: tuple[Receptacle, ...]
) -> Fitting:
    wall, location = walls.spot(dice.one_of((60, 30, 15, 0)))
    if kind in UNTYPED:
        return Fitting(kind, thing_name(kind, _near(dice, wall, 150)), None, None)
    options = open_places(places, {r.kind for r in receptacles})
    place = dice.one_weighted(options) if options else NOWHERE
    if place == NOWHERE:
        return Fitting(kind, thing_name(kind, _near(dice, wall, 100)), location, None)
    below = dice.one_of([r for r in receptacles if r.kind == place])
    name = thing_name(kind, _near(dice, below.at, below.at.y + 40))
    return Fitting(kind, name, below.location, below.name)


def _near(dice: Dice, at: Point, height: int) -> Point:
    return Point(at.x + dice.between(-11, 11), height, at.z + dice.between(-11, 11))


def _overlapping(
    dice: Dice, receptacles: tuple[Receptacle, ...], always: bool
) -> tuple[tuple[str, str], ...]:
    def names(kind: str) -> list[str]:
        return [r.name for r in receptacles if r.kind == kind]

    pairs: list[tuple[str, str]] = []
    burners = names("StoveBurner")
    if dice.chance(_BURNERS_OVERLAP) or always:
        pairs += zip(burners[0::2], burners[1::2], strict=True)
        pairs += zip(burners[1::2], burners[0::2], strict=True)
    for kind, (other, chance) in _OVERLAPS.items():
        if (dice.chance(chance) or always) and names(kind) and names(other):
            pairs.append((names(kind)[0], names(other)[0]))
    return tuple(pairs)
