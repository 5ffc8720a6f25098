"""An exact search for the shortest plan, where the list of errands is not enough.

A* over the relevant part of a game (see relevant.py). One step of the search is
an act with everything it takes: going there, opening what is closed, acting. Going and opening
serve nothing else, so they can wait until then. The lower bound on the steps that remain
(`LowerBound`) never says too much, so the first winning state taken from the queue ends a
shortest plan.
"""

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import combinations
from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine.goals import GoalCondition
from agentquest.benchmarks.alfworld.engine.rules import Move, Rule, apply
from agentquest.benchmarks.alfworld.engine.state import NOTHING, WorldState
from agentquest.benchmarks.alfworld.engine.world import World
from agentquest.benchmarks.alfworld.oracle.relevant import Relevant, members

Moves = tuple[Move, ...]
_NOTHING_LEFT: frozenset[tuple[int, int]] = frozenset()


class _Reached(NamedTuple):
    steps: int
    before: WorldState | None
    moves: Moves


class _Act(NamedTuple):
    """A move that may serve the goal: where, and whether the receptacle must be open."""

    move: Move | None
    receptacle: int
    places: int
    opens: bool


def shortest_moves(world: World, state: WorldState, goal: GoalCondition) -> list[Move] | None:
    """A shortest winning sequence of moves; None if the game cannot be won."""
    return Search(Relevant(world, state, goal)).run()


class Search:
    """One search; `generated` counts the states that were put in the queue."""

    def __init__(self, relevant: Relevant) -> None:
        self.relevant = relevant
        self.world = relevant.world
        self.goal = relevant.goal
        self.receptacles = relevant.receptacles
        self.bounds = LowerBound(relevant)
        self.generated = 0
        self._roads: dict[int, dict[int, Moves]] = {}

    def run(self) -> list[Move] | None:
        """The moves of a shortest plan; None when the game cannot be won."""
        start = self.relevant.start
        least = self.bounds.least(start)
        if least is None:
            return None
        reached = {start: _Reached(0, None, ())}
        queue = [(least, 0, 0, start)]
        done: set[WorldState] = set()
        while queue:
            state = heappop(queue)[3]
            if state in done:
                continue
            done.add(state)
            if self.goal.is_reached(self.world, state):
                return _trace(reached, state)
            steps = reached[state].steps
            for moves, following in self._after(state):
                total = steps + len(moves)
                known = reached.get(following)
                if known is not None and known.steps <= total:
                    continue
                left = self.bounds.least(following)
                if left is None:
                    continue
                reached[following] = _Reached(total, state, moves)
                self.generated += 1
                # Among states with the same total, the one nearest to the end comes first.
                heappush(queue, (total + left, left, self.generated, following))
        return None

    def _after(self, state: WorldState) -> Iterator[tuple[Moves, WorldState]]:
        closed = self.world.openable & ~state.opened
        for act, receptacle, places, opens in self._acts(state):
            for place in members(places):
                road = self._road(state.location, receptacle, place)
                if road is None:
                    continue
                there = state._replace(location=place) if road else state
                if opens and closed >> receptacle & 1:
                    opening = Move(Rule.OPEN, NOTHING, receptacle)
                    road = (*road, opening)
                    there = apply(self.world, there, opening)
                if act is not None:
                    road = (*road, act)
                    there = apply(self.world, there, act)._replace(left=_NOTHING_LEFT)
                yield road, there

    def _road(self, here: int, receptacle: int, place: int) -> Moves | None:
        """The way to a place, by `go to` the receptacle used there if that leads there."""
        if place == here:
            return ()
        road = self._roads_from(here).get(place)
        if road is not None and len(road) == 1 and receptacle != NOTHING:
            places = self.world.receptacle_locations[receptacle]
            if next((p for p in places if p != here), NOTHING) == place:
                return (Move(Rule.GO, NOTHING, receptacle),)
        return road

    def _acts(self, state: WorldState) -> Iterator[_Act]:
        held = state.held
        where = self.bounds.places_of
        if held == NOTHING:
            for receptacle in self.receptacles:
                for thing in state.contents[receptacle]:
                    if self.world.pickupable >> thing & 1:
                        move = Move(Rule.TAKE, thing, receptacle)
                        yield _Act(move, receptacle, where[receptacle], True)
        else:
            yield from self._with_hand(state, held)
        if self.goal.hold is not None:
            yield from self._lights(state)

    def _with_hand(self, state: WorldState, held: int) -> Iterator[_Act]:
        relevant, where = self.relevant, self.bounds.places_of
        for receptacle in self.receptacles:
            if self.world.fits(held, receptacle):
                move = Move(Rule.PUT, held, receptacle)
                yield _Act(move, receptacle, where[receptacle], True)
        if relevant.treatment is not None and held in relevant.things:
            treated = relevant.item.treated_things(state) >> held & 1
            for tool in () if treated else relevant.tools[held]:
                yield _Act(Move(relevant.treatment, held, tool), tool, where[tool], False)
        if held in relevant.knives:
            for thing in relevant.things:
                if self.world.sliceable & ~state.sliced & 1 << thing:
                    yield _Act(Move(Rule.SLICE, thing), NOTHING, state.places[thing], False)

    def _lights(self, state: WorldState) -> Iterator[_Act]:
        for receptacle in self.receptacles:
            for lamp in state.contents[receptacle]:
                if self.goal.lamps >> lamp & 1:
                    places = self.bounds.places_of[receptacle]
                    if not state.toggled >> lamp & 1:
                        yield _Act(Move(Rule.USE, lamp), receptacle, places, False)
                    elif self.bounds.holds_what_is_wanted(state):
                        yield _Act(None, receptacle, places, False)

    def _roads_from(self, start: int) -> dict[int, Moves]:
        """The shortest way to each location: one step, unless receptacles have two locations."""
        known = self._roads.get(start)
        if known is not None:
            return known
        roads: dict[int, Moves] = {start: ()}
        frontier = [start]
        for here in frontier:
            for receptacle in self.world.go_commands.values():
                places = self.world.receptacle_locations[receptacle]
                there = next((place for place in places if place != here), None)
                if there is not None and there not in roads:
                    roads[there] = (*roads[here], Move(Rule.GO, NOTHING, receptacle))
                    frontier.append(there)
        self._roads[start] = roads
        return roads


def _trace(reached: dict[WorldState, _Reached], last: WorldState) -> list[Move]:
    parts: list[Moves] = []
    state: WorldState | None = last
    while state is not None:
        found = reached[state]
        parts.append(found.moves)
        state = found.before
    return [move for part in reversed(parts) for move in part]


class _Target(NamedTuple):
    """One receptacle that the goal accepts, or all those without relevant things."""

    places: int
    inside: tuple[int, ...]
    door: int
    accepts: frozenset[int]


class _Lying(NamedTuple):
    """Where a thing can be taken from; `door` is its closed receptacle, if that is the only one."""

    places: int
    number: int
    door: int


class _Tally:
    """What has been counted: takings, puttings at the target, other acts, doors, places."""

    __slots__ = ("acts", "doors", "puts", "stops", "takes")

    def __init__(self) -> None:
        self.takes = self.puts = self.acts = self.doors = 0
        self.stops: list[int] = []

    def steps(self, puts: int, last: int, returns: int) -> int:
        """All steps together: `returns` arrivals at the `last` place, and those elsewhere."""
        arrivals, used = returns, last
        for places in self.stops:
            if not places & used:
                arrivals += 1
                used |= places
        return self.acts + self.takes + puts + arrivals + self.doors.bit_count()


_NOWHERE = _Lying(0, 0, 0)


class LowerBound:
    """Lower bounds on the steps that are left, for the states of one search.

    Everything that must still happen is counted once: the acts (taking, treating, slicing,
    putting), the doors in the way, and the arrivals at places. An arrival is counted for places
    that have none in common, and for a place to which the agent must return because something
    has to be fetched elsewhere first. Whatever else a plan does only adds steps, so no plan is
    shorter. None means that no plan wins.
    """

    def __init__(self, relevant: Relevant) -> None:
        world = relevant.world
        self.relevant = relevant
        self.world = world
        self.goal = relevant.goal
        self.receptacles = relevant.receptacles
        self.places_of = [
            sum(1 << place for place in locations) for locations in world.receptacle_locations
        ]
        self._tool_places = {o: self._join(relevant.tools[o]) for o in relevant.things}
        self._stuck = frozenset(
            o for o in relevant.objects if not any(world.fits(o, r) for r in relevant.receptacles)
        )
        self._fits = {
            r: frozenset(o for o in relevant.things if world.fits(o, r)) for r in relevant.targets
        }
        self._open_targets = [r for r in relevant.receptacles if r in relevant.targets]
        self._lamps_move = bool(relevant.goal.lamps & world.pickupable)
        self._knives = frozenset(relevant.knives)
        self._everywhere = _union(self.places_of)

    def _join(self, receptacles: Iterable[int]) -> int:
        """All locations of some receptacles."""
        return _union(self.places_of[r] for r in receptacles)

    def holds_what_is_wanted(self, state: WorldState) -> bool:
        """Whether the goal asks to hold a thing, and the held one qualifies."""
        hold = self.goal.hold
        return hold is not None and state.held >= 0 and bool(hold.ready(state) >> state.held & 1)

    def least(self, state: WorldState) -> int | None:
        """A lower bound on the steps to win from here; None when it cannot be won."""
        lying = self._lying(state)
        if self.goal.place is None:
            bounds = [self._holding(state, lying, thing) for thing in self.relevant.things]
        else:
            choices = list(combinations(self.relevant.things, self.relevant.count))
            bounds = [
                self._placing(state, lying, target, chosen)
                for target in self._targets(state)
                for chosen in choices
            ]
        return min((bound for bound in bounds if bound is not None), default=None)

    def _lying(self, state: WorldState) -> dict[int, _Lying]:
        closed = self.world.openable & ~state.opened
        found: dict[int, _Lying] = {}
        for receptacle in self.receptacles:
            for thing in state.contents[receptacle]:
                places, number, _ = found.get(thing, _NOWHERE)
                door = 0 if number else closed & 1 << receptacle
                found[thing] = _Lying(places | self.places_of[receptacle], number + 1, door)
        return found

    def _targets(self, state: WorldState) -> list[_Target]:
        closed = self.world.openable & ~state.opened
        targets = [
            _Target(self.places_of[r], state.contents[r], closed & 1 << r, self._fits[r])
            for r in self.relevant.targets
            if state.contents[r]
        ]
        empty = [r for r in self._open_targets if not state.contents[r]]
        if empty:
            # If one target is open, no door needs to be counted; otherwise one is, whichever it is.
            door = min(closed & 1 << r for r in empty)
            accepts = frozenset().union(*(self._fits[r] for r in empty))
            targets.append(_Target(self._join(empty), (), door, accepts))
        return targets

    def _placing(
        self, state: WorldState, lying: dict[int, _Lying], target: _Target, chosen: tuple[int, ...]
    ) -> int | None:
        tally = _Tally()
        held, here = state.held, 1 << state.location
        treated = self.relevant.item.treated_things(state)
        returns = 0
        uncut = [thing for thing in chosen if self._uncut(state, thing)]
        cut_on_the_way = bool(uncut)
        for thing in chosen:
            if thing in target.inside and treated >> thing & 1:
                cut_on_the_way &= thing not in uncut
                if thing in uncut and thing != held and not state.places[thing] & here:
                    # It is sliced where it is; moving it first would take more steps.
                    tally.stops.append(state.places[thing])
                continue
            puts = tally.puts
            coming = self._carrying(state, lying, target, thing, tally)
            if coming is None:
                return None
            cut_on_the_way &= tally.puts > puts or thing not in uncut
            returns += coming
        carried = tally.puts
        if carried:
            tally.doors |= target.door
        if uncut:
            knives = self._cutting(state, lying, uncut, tally)
            if knives is None:
                return None
            tally.acts += len(uncut)
            cut_at = target.places | _union(state.places[thing] for thing in uncut)
            if cut_on_the_way and held not in self._knives and not knives & cut_at:
                # The knife is put down, or is fetched last and carried to where they are.
                tally.acts += 1
        if tally.takes and held in self._stuck:
            return None
        in_the_way = held != NOTHING and held not in chosen and tally.takes > 0
        puts = max(carried + in_the_way, tally.takes - (held == NOTHING))
        return tally.steps(puts, target.places if returns else 0, returns)

    def _carrying(
        self,
        state: WorldState,
        lying: dict[int, _Lying],
        target: _Target,
        thing: int,
        tally: _Tally,
    ) -> int | None:
        """Count the carrying of one thing; returns 1 if it arrives at the target from elsewhere."""
        place = 1 << state.location
        there = thing in target.inside
        spot = _NOWHERE
        if thing != state.held:
            spot = lying.get(thing, _NOWHERE)
            if not spot.places or not self.world.pickupable >> thing & 1:
                return None
            tally.takes += 1
            tally.doors |= spot.door
            if not spot.places & place:
                tally.stops.append(spot.places)
            place = spot.places
        if not self.relevant.item.treated_things(state) >> thing & 1:
            tool = self._tool_places[thing]
            if not tool:
                return None
            tally.acts += 1
            if tool & place:
                place |= tool
            else:
                tally.stops.append(tool)
                place = tool
        if there and (thing == state.held or spot.number > (target.places > 0)):
            # It is in another receptacle as well, and is taken from that one.
            return 0
        if thing not in target.accepts or not target.places:
            return None
        tally.puts += 1
        return int(not there and not target.places & place)

    def _holding(self, state: WorldState, lying: dict[int, _Lying], thing: int) -> int | None:
        held, here = state.held, 1 << state.location
        tally = _Tally()
        place = here
        if thing != held:
            spot = lying.get(thing, _NOWHERE)
            if not spot.places or not self.world.pickupable >> thing & 1:
                return None
            tally.takes, tally.doors, place = 1, spot.door, spot.places
            if not place & here:
                tally.stops.append(place)
        if self._uncut(state, thing):
            if self._knives <= self._stuck:
                return None
            if self._cutting(state, lying, (thing,), tally) is None:
                return None
            # What is in the hand is put down for the knife, and picked up again.
            tally.takes += thing == held
            tally.acts += 1
        lamps = [lamp for lamp in self.relevant.lamps if lamp in lying or lamp == held]
        if not lamps or (tally.takes and held in self._stuck):
            return None
        tally.acts += not any(state.toggled >> lamp & 1 for lamp in lamps)
        light = 0
        if not self._lamps_move:
            light = _union(lying[lamp].places for lamp in lamps)
        puts = tally.takes - (held == NOTHING)
        returns = light != 0 and not light & place
        return tally.steps(puts, light if returns else 0, int(returns))

    def _cutting(
        self, state: WorldState, lying: dict[int, _Lying], uncut: Iterable[int], tally: _Tally
    ) -> int | None:
        """Count the fetching of a knife; returns where knives are, None if it cannot be done."""
        reachable = self._everywhere | 1 << state.location
        for thing in uncut:
            movable = self.world.pickupable >> thing & 1
            if not self.world.sliceable >> thing & 1:
                return None
            if not movable and not state.places[thing] & reachable:
                return None
        if state.held in self._knives:
            return 0
        knives = _union(
            lying[knife].places
            for knife in self._knives
            if knife in lying and self.world.pickupable >> knife & 1
        )
        if not knives:
            return None
        tally.takes += 1
        if not knives >> state.location & 1:
            tally.stops.append(knives)
        return knives

    def _uncut(self, state: WorldState, thing: int) -> bool:
        return self.relevant.item.sliced and not state.sliced >> thing & 1


def _union(masks: Iterable[int]) -> int:
    joined = 0
    for mask in masks:
        joined |= mask
    return joined
