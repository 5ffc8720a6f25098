"""All ways to win that waste nothing, as sequences of visits: for goals without slices.

Every command costs one step and `go to` reaches any place from any other, so a
plan is a sequence of visits: at each the agent opens what it must and acts. Listed
is every sequence of acts that can win without waste: which objects, from where,
through which tool, into which receptacle, in which order. Wasteful acts are left
out because each can be struck from a winning plan without harm: moving an object
that the goal does not name, putting down an object to pick it up again with
nothing done in between, opening what is not used, looking around.
"""

from collections.abc import Iterable, Iterator
from itertools import permutations, product
from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine.goals import Goal
from agentquest.benchmarks.alfworld.engine.rules import Move, Rule, tools
from agentquest.benchmarks.alfworld.engine.state import NOTHING, State
from agentquest.benchmarks.alfworld.engine.world import World
from agentquest.benchmarks.alfworld.oracle.relevant import members, treatment_of


class Visit(NamedTuple):
    """Be at `location`, have `receptacle` open if `opens`, and act."""

    location: int
    receptacle: int
    opens: bool
    acts: tuple[Move, ...]


Visits = tuple[Visit, ...]


class Errands:
    """The ways from one state; none when the goal is out of reach."""

    def __init__(self, world: World, state: State, goal: Goal) -> None:
        self.world = world
        self.state = state
        self.goal = goal
        self.item = goal.item
        self.treatment = treatment_of(goal.item)
        self.containers: dict[int, list[int]] = {}
        for receptacle, inside in enumerate(state.contents):
            for thing in inside:
                self.containers.setdefault(thing, []).append(receptacle)
        # Of equally short plans the first found is kept; people expect the lowest numbers,
        # and those are given out from the highest id down.
        self.things = members(goal.item.things)[::-1]
        self.sources = {r for o in self.things for r in self.containers.get(o, ())}
        self.crossings = self._crossings()
        self._anywhere: list[Visit] | None = None

    def all(self) -> Iterator[Visits]:
        """Every errand, as if nothing were in the way of the hand (see `with_free_hand`)."""
        return self._placing() if self.goal.place is not None else self._lighting()

    def needs_free_hand(self, visits: Visits) -> bool:
        """Whether the errand begins with taking something while the hand is full."""
        if self.state.held == NOTHING or not visits or not visits[0].acts:
            return False
        return visits[0].acts[0].rule is Rule.TAKE

    def with_free_hand(self, visits: Visits) -> Iterator[Visits]:
        """The errand, beginning with putting down what is in the way.

        A detour for that costs no less than a door opened where the agent is or goes.
        """
        everywhere = self._put_anywhere(self.state.held)
        on_the_way = (self.state.location, visits[0].location)
        near = [put for put in everywhere if put.location in on_the_way]
        for put in near if near and not self.goal.all_closed else everywhere:
            yield (put, *visits)

    def _placing(self) -> Iterator[Visits]:
        assert self.goal.place is not None
        ready = self.item.ready(self.state)
        for target in self._targets():
            there = {o for o in self.state.contents[target] if ready >> o & 1}
            others = [o for o in self.things if o not in there]
            # Enough may lie there already, with only doors left to close.
            missing = max(0, self.goal.place.count - len(there))
            ways = {o: list(self._carry(o, target)) for o in others}
            for chosen in permutations(others, missing):
                if self.state.held not in chosen[1:]:
                    # What is in the hand already goes first; the other order only adds steps.
                    for legs in product(*(ways[o] for o in chosen)):
                        yield tuple([visit for leg in legs for visit in leg])

    def _lighting(self) -> Iterator[Visits]:
        lights = list(self._lights())
        for thing in self.things:
            for fetch, light in product(self._fetch(thing), lights):
                yield (*fetch, light)

    def _carry(self, thing: int, target: int) -> Iterator[Visits]:
        """Fetch, treat and put one object.

        An object that lies in two receptacles stays in the one it is not taken
        from, so it may be in its place and in the hand as well.
        """
        lies_there = thing in self.state.contents[target]
        treatments = list(self._treat(thing))
        puts = [(put,) for put in self._put(thing, [target])]
        for fetch in self._fetch(thing):
            stays = lies_there and (not fetch or fetch[0].receptacle != target)
            for treat, put in product(treatments, [()] if stays else puts):
                yield (*fetch, *treat, *put)

    def _fetch(self, thing: int) -> Iterator[Visits]:
        """Get the object into the hand."""
        if thing == self.state.held:
            yield ()
        elif self.world.pickupable >> thing & 1:
            for receptacle in self.containers.get(thing, [])[::-1]:
                act = Move(Rule.TAKE, thing, receptacle)
                for place in self.world.receptacle_locations[receptacle]:
                    yield (Visit(place, receptacle, True, (act,)),)

    def _put(self, thing: int, receptacles: Iterable[int]) -> Iterator[Visit]:
        for receptacle in receptacles:
            if self.world.fits(thing, receptacle):
                act = Move(Rule.PUT, thing, receptacle)
                for place in self.world.receptacle_locations[receptacle]:
                    yield Visit(place, receptacle, True, (act,))

    def _treat(self, thing: int) -> Iterator[Visits]:
        rule = self.treatment
        if rule is None or self.item.treated_things(self.state) >> thing & 1:
            yield ()
            return
        for tool in tools(self.world, rule, thing):
            for place in self.world.receptacle_locations[tool]:
                yield (Visit(place, tool, False, (Move(rule, thing, tool),)),)

    def _lights(self) -> Iterator[Visit]:
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
        if self.treatment is not None:
            stops.update(r for o in self.things for r in tools(self.world, self.treatment, o))
        for lamp in members(self.goal.lamps):
            stops.update(self.containers.get(lamp, ()))
        places = {place for r in stops for place in self.world.receptacle_locations[r]}
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

    def _targets(self) -> list[int]:
        """Where the goal wants things placed: one receptacle of each sort."""
        wanted = self.goal.place.receptacles if self.goal.place is not None else ()
        return self._distinct(wanted[::-1])

    def _put_anywhere(self, thing: int) -> list[Visit]:
        """Put the object out of the way: one visit of each sort that may be the best."""
        if self._anywhere is None:
            receptacles = range(len(self.world.receptacle_names))
            fitting = [r for r in receptacles if self.world.fits(thing, r)]
            # The target that the errand goes to, too: a door is then opened once for both.
            shared = [r for r in self._targets() if r in fitting]
            choice = dict.fromkeys((*self._distinct(fitting), *shared))
            self._anywhere = list(self._put(thing, choice))
        return self._anywhere
