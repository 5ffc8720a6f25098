"""An exact search for the shortest plan, for the worlds where the list of errands is not enough.

A* over what counts (see relevant.py and places.py). One move of the search is all
that one act takes: going there, opening what is closed, acting. Going and opening
serve nothing else, so they can wait until then. The bound on what is left to do
(see bounds.py) never says too much, so the first end taken from the queue is one
of a shortest plan.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine.goals import Goal
from agentquest.benchmarks.alfworld.engine.rules import Move, Rule, apply
from agentquest.benchmarks.alfworld.engine.state import NOTHING, State
from agentquest.benchmarks.alfworld.engine.world import World
from agentquest.benchmarks.alfworld.oracle.bounds import Bounds
from agentquest.benchmarks.alfworld.oracle.places import Places
from agentquest.benchmarks.alfworld.oracle.relevant import Relevant, members

Moves = tuple[Move, ...]
_NOTHING_LEFT: frozenset[tuple[int, int]] = frozenset()


class _Reached(NamedTuple):
    steps: int
    before: State | None
    moves: Moves


class _Act(NamedTuple):
    """Something that may serve the goal: with what, where, and whether that must be open."""

    move: Move | None
    receptacle: int
    places: int
    opens: bool


def shortest_moves(world: World, state: State, goal: Goal) -> list[Move] | None:
    """A shortest winning sequence of moves; None if the game cannot be won."""
    relevant = Relevant(world, state, goal)
    return Search(relevant, Places(relevant)).run()


class Search:
    """One search; `generated` counts the states that were put in the queue."""

    def __init__(self, relevant: Relevant, places: Places) -> None:
        self.relevant = relevant
        self.world = relevant.world
        self.goal = relevant.goal
        self.receptacles = places.receptacles
        self.bounds = Bounds(relevant, places)
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
        done: set[State] = set()
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
                # Of equally promising states the one nearest to the end goes first.
                heappush(queue, (total + left, left, self.generated, following))
        return None

    def _after(self, state: State) -> Iterator[tuple[Moves, State]]:
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
        """The way to a place, by the name of what is used there where that leads there."""
        if place == here:
            return ()
        if self.relevant.simple:
            there = self.world.receptacles_at[place]
            if not there:
                return None
            return (Move(Rule.GO, NOTHING, there[0] if receptacle == NOTHING else receptacle),)
        road = self._roads_from(here).get(place)
        if road is not None and len(road) == 1 and receptacle != NOTHING:
            places = self.world.receptacle_locations[receptacle]
            if next((p for p in places if p != here), NOTHING) == place:
                return (Move(Rule.GO, NOTHING, receptacle),)
        return road

    def _acts(self, state: State) -> Iterator[_Act]:
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

    def _with_hand(self, state: State, held: int) -> Iterator[_Act]:
        relevant, where = self.relevant, self.bounds.places_of
        for receptacle in self.receptacles:
            if self.world.fits(held, receptacle):
                move = Move(Rule.PUT, held, receptacle)
                yield _Act(move, receptacle, where[receptacle], True)
        if relevant.treatment is not None and held in relevant.things:
            treated = relevant.item.treated_things(state) >> held & 1
            for tool in () if treated else self.bounds.tools[held]:
                yield _Act(Move(relevant.treatment, held, tool), tool, where[tool], False)
        if held in relevant.knives:
            for thing in relevant.things:
                if self.world.sliceable & ~state.sliced & 1 << thing:
                    yield _Act(Move(Rule.SLICE, thing), NOTHING, state.places[thing], False)

    def _lights(self, state: State) -> Iterator[_Act]:
        for receptacle in self.receptacles:
            for lamp in state.contents[receptacle]:
                if self.goal.lamps >> lamp & 1:
                    places = self.bounds.places_of[receptacle]
                    if not state.toggled >> lamp & 1:
                        yield _Act(Move(Rule.USE, lamp), receptacle, places, False)
                    elif self.bounds.holds_what_is_wanted(state):
                        yield _Act(None, receptacle, places, False)

    def _roads_from(self, start: int) -> dict[int, Moves]:
        """The shortest way to each location: one step but for receptacles with two of them."""
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


def _trace(reached: dict[State, _Reached], last: State) -> list[Move]:
    parts: list[Moves] = []
    state: State | None = last
    while state is not None:
        found = reached[state]
        parts.append(found.moves)
        state = found.before
    return [move for part in reversed(parts) for move in part]
