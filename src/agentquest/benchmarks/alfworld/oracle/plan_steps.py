"""The parts of a plan, and what may be left out of the search for one (see oracle.py)."""

from collections.abc import Iterable, Iterator
from itertools import permutations, product
from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine.goals import Goal, Item
from agentquest.benchmarks.alfworld.engine.rules import KNIVES, Move, Rule, tools
from agentquest.benchmarks.alfworld.engine.state import State
from agentquest.benchmarks.alfworld.engine.world import World


class Visit(NamedTuple):
    """Be at `location`, have `receptacle` open if `opens`, and act."""

    location: int
    receptacle: int
    opens: bool
    acts: tuple[Move, ...]


Visits = tuple[Visit, ...]

_TREATMENTS = ((Rule.CLEAN, "clean"), (Rule.HEAT, "hot"), (Rule.COOL, "cool"))


class Parts:
    """All ways to do one part of an errand, starting from a given state."""

    def __init__(self, world: World, state: State, goal: Goal, item: Item) -> None:
        self.world = world
        self.state = state
        self.goal = goal
        self.item = item
        self.containers: dict[int, list[int]] = {}
        for receptacle, inside in enumerate(state.contents):
            for thing in inside:
                self.containers.setdefault(thing, []).append(receptacle)
        # Of equally short plans the first found is kept; people expect the lowest numbers,
        # and those are given out from the highest id down.
        self.things = members(item.things)[::-1]
        self.knives = (
            [o for o, kind in enumerate(world.object_types) if kind in KNIVES]
            if item.sliced
            else []
        )
        self.sources = {r for o in (*self.things, *self.knives) for r in self.containers.get(o, ())}
        self.crossings = self._crossings()
        self._anywhere: dict[int, list[Visit]] = {}

    def carry(self, thing: int, target: int, free_hand: bool = False) -> Iterator[Visits]:
        """Fetch, treat and put one object; nothing to do where it lies ready.

        An object that lies in two receptacles stays in the one it is not taken
        from, so it may be in its place and in the hand as well; with `free_hand`
        it ends up out of the hand.
        """
        missing = [
            rule
            for rule, name in _TREATMENTS
            if getattr(self.item, name) and not getattr(self.state, name) >> thing & 1
        ]
        lies_there = thing in self.state.contents[target]
        if lies_there and not missing and not (free_hand and thing == self.state.held):
            yield ()
            return
        treatments = list(self._treat(thing, missing))
        puts = [(put,) for put in self.put(thing, [target])]
        anywhere = [(put,) for put in self.put_anywhere(thing)] if free_hand else [()]
        for fetch in self.fetch(thing):
            stays = lies_there and (not fetch or fetch[0].receptacle != target)
            for treat, put in product(treatments, anywhere if stays else puts):
                yield (*fetch, *treat, *put)
            if free_hand and missing and not lies_there:
                # Placed at once, it can still be treated where it lies a second time.
                left = [
                    r
                    for r in self.containers.get(thing, ())
                    if not fetch or r != fetch[0].receptacle
                ]
                for put, again in product(puts, list(self.take(thing, left))):
                    for treat, down in product(treatments, anywhere):
                        yield (*fetch, *put, *again, *treat, *down)

    def fetch(self, thing: int) -> Iterator[Visits]:
        """Get the object into the hand."""
        if thing == self.state.held:
            yield ()
        else:
            yield from self.take(thing, self.containers.get(thing, [])[::-1])

    def take(self, thing: int, receptacles: Iterable[int]) -> Iterator[Visits]:
        if self.world.pickupable >> thing & 1:
            for receptacle in receptacles:
                act = Move(Rule.TAKE, thing, receptacle)
                for place in self.world.receptacle_locations[receptacle]:
                    yield (Visit(place, receptacle, True, (act,)),)

    def put(self, thing: int, receptacles: Iterable[int]) -> Iterator[Visit]:
        for receptacle in receptacles:
            if self.world.fits(thing, receptacle):
                act = Move(Rule.PUT, thing, receptacle)
                for place in self.world.receptacle_locations[receptacle]:
                    yield Visit(place, receptacle, True, (act,))

    def _treat(self, thing: int, rules: list[Rule]) -> Iterator[Visits]:
        for order in permutations(rules):
            yield from product(
                *(
                    [
                        Visit(place, tool, False, (Move(rule, thing, tool),))
                        for tool in tools(self.world, rule, thing)
                        for place in self.world.receptacle_locations[tool]
                    ]
                    for rule in order
                )
            )

    def lights(self) -> Iterator[Visit]:
        for lamp in members(self.goal.lamps)[::-1]:
            acts = () if self.state.toggled >> lamp & 1 else (Move(Rule.USE, lamp),)
            for receptacle in self.containers.get(lamp, ()):
                for place in self.world.receptacle_locations[receptacle]:
                    yield Visit(place, receptacle, False, acts)

    def _crossings(self) -> set[int]:
        """Locations that may follow upon one another; only there does sharing save a step."""
        if self.goal.all_closed:
            return set(range(len(self.world.location_names)))
        stops = set(self.sources)
        for rule, name in _TREATMENTS:
            if getattr(self.item, name):
                stops.update(r for o in self.things for r in tools(self.world, rule, o))
        for lamp in members(self.goal.lamps):
            stops.update(self.containers.get(lamp, ()))
        places = {place for r in stops for place in self.world.receptacle_locations[r]}
        for thing in self.things:
            places.update(members(self.state.places[thing]))
        return places | {self.state.location}

    def distinct(self, receptacles: Iterable[int]) -> list[int]:
        """One receptacle of each sort that can make a plan longer or shorter."""
        closed = self.world.openable & ~self.state.opened
        kept: dict[object, int] = {}
        for receptacle in receptacles:
            places = self.world.receptacle_locations[receptacle]
            sort: object = receptacle
            if receptacle not in self.sources and len(places) == 1:
                place = places[0] if places[0] in self.crossings else None
                sort = (place, closed >> receptacle & 1)
            kept.setdefault(sort, receptacle)
        return list(kept.values())

    def targets(self) -> list[int]:
        """Where the goal wants things placed: one receptacle of each sort."""
        wanted = self.goal.place.receptacles if self.goal.place is not None else ()
        return self.distinct(wanted[::-1])

    def put_anywhere(self, thing: int) -> list[Visit]:
        """Put the object out of the way: one visit of each sort that may be the best."""
        found = self._anywhere.get(thing)
        if found is None:
            receptacles = range(len(self.world.receptacle_names))
            fitting = [r for r in receptacles if self.world.fits(thing, r)]
            # The target that the errand goes to, too: a door is then opened once for both.
            shared = [r for r in self.targets() if r in fitting]
            found = list(self.put(thing, dict.fromkeys((*self.distinct(fitting), *shared))))
            self._anywhere[thing] = found
        return found


def members(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def joined(parts: Iterable[Visits]) -> Visits:
    return tuple([visit for part in parts for visit in part])
