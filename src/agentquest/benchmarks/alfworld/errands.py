"""All ways to win that waste nothing, as sequences of visits (see oracle.py)."""

from collections.abc import Callable, Iterable, Iterator
from itertools import permutations, product
from typing import NamedTuple

from agentquest.benchmarks.alfworld.goals import Goal, Item
from agentquest.benchmarks.alfworld.rules import KNIVES, Move, Rule, tools
from agentquest.benchmarks.alfworld.state import NOTHING, State
from agentquest.benchmarks.alfworld.world import World


class Visit(NamedTuple):
    """Be at `location`, have `receptacle` open if `opens`, and act."""

    location: int
    receptacle: int
    opens: bool
    acts: tuple[Move, ...]


Visits = tuple[Visit, ...]
# Where objects have been put down during the plan: {object: receptacle}.
Spots = dict[int, int]

_TREATMENTS = ((Rule.CLEAN, "clean"), (Rule.HEAT, "hot"), (Rule.COOL, "cool"))


def errands(world: World, state: State, goal: Goal) -> Iterator[Visits]:
    """Every candidate plan; none when the goal is out of reach."""
    item = goal.place.item if goal.place is not None else goal.hold
    assert item is not None
    search = _Errands(world, state, goal, item)
    plans = search.placing() if goal.place is not None else search.lighting()
    for visits in plans:
        yield from search.with_free_hand(visits)


class _Errands:
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
        self.things = _members(item.things)[::-1]
        self.knives = (
            [o for o, kind in enumerate(world.object_types) if kind in KNIVES]
            if item.sliced
            else []
        )
        self.sources = {r for o in (*self.things, *self.knives) for r in self.containers.get(o, ())}
        self.crossings = self._crossings()

    # -- whole errands ---------------------------------------------------------

    def placing(self) -> Iterator[Visits]:
        assert self.goal.place is not None
        ready = self.item.ready(self.state)
        for target in self._distinct(self.goal.place.receptacles[::-1]):
            there = {o for o in self.state.contents[target] if ready >> o & 1}
            others = [o for o in self.things if o not in there]
            for chosen in permutations(others, self.goal.place.count - len(there)):
                yield from self._place(chosen, target)

    def _place(self, chosen: tuple[int, ...], target: int) -> Iterator[Visits]:
        def carryings(spots: Spots) -> Iterator[Visits]:
            for legs in product(*(list(self._carry(o, target, spots)) for o in chosen)):
                yield _joined(legs)

        uncut = self._uncut(chosen)
        if uncut:
            yield from self._cut_first(chosen, uncut, carryings)
        if self.state.held in chosen[1:]:
            # What is in the hand already goes first; the other order only adds steps.
            return
        if not uncut:
            yield from carryings({})
            return
        for carrying in carryings({}):
            yield from self._cut_afterwards(carrying, uncut, target)

    def lighting(self) -> Iterator[Visits]:
        for thing in self.things:

            def carryings(spots: Spots, thing: int = thing) -> Iterator[Visits]:
                for fetch, light in product(self._fetch(thing, spots), self._lights()):
                    yield (*fetch, light)

            uncut = self._uncut((thing,))
            yield from self._cut_first((thing,), uncut, carryings) if uncut else carryings({})

    def with_free_hand(self, visits: Visits) -> Iterator[Visits]:
        """The errand, beginning with putting down what is in the way, if anything is."""
        held = self.state.held
        in_the_way = held != NOTHING and visits and visits[0].acts[:1]
        if in_the_way and visits[0].acts[0].rule is Rule.TAKE:
            for put in self._put_anywhere(held):
                yield (put, *visits)
        else:
            yield visits

    # -- parts of an errand ----------------------------------------------------

    def _carry(self, thing: int, target: int, spots: Spots) -> Iterator[Visits]:
        """Fetch, treat and put one object; nothing to do where it lies ready."""
        missing = [
            rule
            for rule, name in _TREATMENTS
            if getattr(self.item, name) and not getattr(self.state, name) >> thing & 1
        ]
        lies_there = thing in self.state.contents[target]
        if lies_there and not missing:
            yield ()
            return
        treatments = list(self._treat(thing, missing))
        puts = [(put,) for put in self._put(thing, [target])]
        for fetch in self._fetch(thing, spots):
            # An object that lies in two receptacles stays in the one it is not taken from.
            stays = lies_there and (not fetch or fetch[0].receptacle != target)
            for treat, put in product(treatments, [()] if stays else puts):
                yield (*fetch, *treat, *put)

    def _fetch(self, thing: int, spots: Spots) -> Iterator[Visits]:
        """Get the object into the hand."""
        if thing == self.state.held and thing not in spots:
            yield ()
        elif self.world.pickupable >> thing & 1:
            lying = [spots[thing]] if thing in spots else self.containers.get(thing, [])[::-1]
            for receptacle in lying:
                act = Move(Rule.TAKE, thing, receptacle)
                for place in self.world.receptacle_locations[receptacle]:
                    yield (Visit(place, receptacle, True, (act,)),)

    def _put(self, thing: int, receptacles: Iterable[int]) -> Iterator[Visit]:
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

    def _lights(self) -> Iterator[Visit]:
        for lamp in _members(self.goal.lamps)[::-1]:
            acts = () if self.state.toggled >> lamp & 1 else (Move(Rule.USE, lamp),)
            for receptacle in self.containers.get(lamp, ()):
                for place in self.world.receptacle_locations[receptacle]:
                    yield Visit(place, receptacle, False, acts)

    # -- slicing ---------------------------------------------------------------

    def _uncut(self, chosen: tuple[int, ...]) -> list[int]:
        return [o for o in chosen if self.item.sliced and not self.state.sliced >> o & 1]

    def _cut_first(
        self,
        chosen: tuple[int, ...],
        uncut: list[int],
        carryings: Callable[[Spots], Iterator[Visits]],
    ) -> Iterator[Visits]:
        """Free the hand, fetch a knife, slice, put it down, then carry."""
        for spots, down in self._put_down(chosen):
            for order in permutations(uncut):
                for slicing in product(*(self._slice(o, spots) for o in order)):
                    for knife, fetch in self._knife_in_hand(bool(down)):
                        for knife_down in self._put_anywhere(knife):
                            for carrying in carryings(spots):
                                yield (*down, *fetch, *slicing, knife_down, *carrying)

    def _cut_afterwards(self, carrying: Visits, uncut: list[int], target: int) -> Iterator[Visits]:
        """Carry first, then fetch a knife and slice where everything lies."""
        acts = tuple([Move(Rule.SLICE, thing) for thing in uncut])
        for _, fetch in self._knife_in_hand(bool(carrying)):
            for place in self.world.receptacle_locations[target]:
                yield (*carrying, *fetch, Visit(place, target, False, acts))

    def _knife_in_hand(self, hand_was_used: bool) -> Iterator[tuple[int, Visits]]:
        held = self.state.held
        for knife in self.knives:
            if knife != held:
                for fetch in self._fetch(knife, {}):
                    yield knife, fetch
            elif not hand_was_used:
                yield knife, ()

    def _put_down(self, chosen: tuple[int, ...]) -> Iterator[tuple[Spots, Visits]]:
        held = self.state.held
        if held not in chosen:
            yield {}, ()
            return
        for put in self._put_anywhere(held):
            yield {held: put.receptacle}, (put,)

    def _slice(self, thing: int, spots: Spots) -> list[Visit]:
        if thing in spots:
            places = list(self.world.receptacle_locations[spots[thing]])
        else:
            places = _members(self.state.places[thing])
        act = Move(Rule.SLICE, thing)
        visits = []
        for place in places:
            here = self.world.receptacles_at[place]
            if here or place == self.state.location:
                visits.append(Visit(place, here[0] if here else NOTHING, False, (act,)))
        return visits

    # -- leaving out what makes no difference ----------------------------------

    def _crossings(self) -> set[int]:
        """Locations that may follow upon one another; only there does sharing save a step."""
        if self.goal.all_closed:
            return set(range(len(self.world.location_names)))
        stops = set(self.sources)
        for rule, name in _TREATMENTS:
            if getattr(self.item, name):
                stops.update(r for o in self.things for r in tools(self.world, rule, o))
        for lamp in _members(self.goal.lamps):
            stops.update(self.containers.get(lamp, ()))
        places = {place for r in stops for place in self.world.receptacle_locations[r]}
        for thing in self.things:
            places.update(_members(self.state.places[thing]))
        return places | {self.state.location}

    def _distinct(self, receptacles: Iterable[int]) -> list[int]:
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

    def _put_anywhere(self, thing: int) -> list[Visit]:
        """Put the object out of the way: one visit of each sort that may be the best."""
        fitting = [r for r in range(len(self.world.receptacle_names)) if self.world.fits(thing, r)]
        targets = self.goal.place.receptacles if self.goal.place is not None else ()
        shared = self._distinct(r for r in targets if r in fitting)
        return list(self._put(thing, dict.fromkeys((*self._distinct(fitting), *shared))))


def _members(mask: int) -> list[int]:
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def _joined(parts: Iterable[Visits]) -> Visits:
    return tuple([visit for part in parts for visit in part])
