"""The shortest winning plan from any state, in commands.

For nearly all published games, `Errands` lists every sequence of visits that can win without
waste; the cheapest of them is a shortest plan, found in well under a millisecond. Where that
argument does not hold (slices, receptacles with two locations, lamps that can be carried) an
exact search decides, which takes some milliseconds. Tests compare both with a blind search
over small homes of every shape, and with the reference planner's plan lengths on the
published games. `OpenDoors` closes the doors behind an errand, for the few goals that want
everything closed.
"""

from collections.abc import Iterable, Iterator
from itertools import permutations, product
from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.goals import GoalCondition
from agentquest.benchmarks.alfworld.engine.rules import Move, Rule, apply, command_of, tools
from agentquest.benchmarks.alfworld.engine.state import NOTHING, WorldState
from agentquest.benchmarks.alfworld.engine.world import World
from agentquest.benchmarks.alfworld.oracle.relevant import members, treatment_of
from agentquest.benchmarks.alfworld.oracle.search import shortest_moves


class Plan(NamedTuple):
    """A winning sequence of commands; `reachable` is False when there is none."""

    commands: tuple[str, ...]
    reachable: bool


class Visit(NamedTuple):
    """Be at `location`, have `receptacle` open if `opens`, and act."""

    location: int
    receptacle: int
    opens: bool
    acts: tuple[Move, ...]


Visits = tuple[Visit, ...]


_UNREACHABLE = Plan((), False)
_WON = Plan((), True)


def plan(world: World, state: WorldState, goal: GoalCondition, dialect: Dialect) -> Plan:
    """A shortest plan; empty and reachable when the game is won already."""
    if goal.is_reached(world, state):
        return _WON
    if is_plain(world, goal):
        return _cheapest_errand(world, state, goal, dialect)
    moves = shortest_moves(world, state, goal)
    if moves is None:
        return _UNREACHABLE
    commands = _play(world, state, goal, moves, dialect)
    assert commands is not None, "the search follows the rules of the game"
    return Plan(commands, True)


def is_plain(world: World, goal: GoalCondition) -> bool:
    """Whether the list of errands leaves out nothing that could be shorter."""
    odd = goal.item.sliced or goal.lamps & world.pickupable
    return not odd and not world.has_double_places


def _cheapest_errand(
    world: World, state: WorldState, goal: GoalCondition, dialect: Dialect
) -> Plan:
    best: tuple[str, ...] | None = None
    bound = 1 << 30
    errands = Errands(world, state, goal)
    doors = OpenDoors(world, state) if goal.all_closed else None
    for errand in errands.all():
        freeing = errands.needs_free_hand(errand)
        if _cost(world, state, errand) + freeing >= bound:
            continue
        for visits in errands.with_free_hand(errand) if freeing else (errand,):
            if doors is not None:
                if _cost(world, state, visits) + doors.at_least(visits) >= bound:
                    continue
                visits = doors.closed_behind(visits, ends_there=goal.hold is not None)
            cost = _cost(world, state, visits)
            if cost < bound:
                moves = _moves(world, state, visits)
                commands = _play(world, state, goal, moves, dialect)
                if commands is not None:
                    best, bound = commands, cost
    return _UNREACHABLE if best is None else Plan(best, True)


def _cost(world: World, state: WorldState, visits: Visits) -> int:
    """How many commands the visits take, without writing them down."""
    closed = world.openable & ~state.opened
    steps = opens = 0
    place = state.location
    for location, receptacle, opened, acts in visits:
        if location != place:
            steps += 1
            place = location
        if opened:
            opens |= closed & 1 << receptacle
        steps += len(acts)
    return steps + opens.bit_count()


def _moves(world: World, state: WorldState, visits: Visits) -> list[Move]:
    moves: list[Move] = []
    place, opened = state.location, state.opened
    for location, receptacle, needs_open, acts in visits:
        if location != place:
            moves.append(Move(Rule.GO, NOTHING, receptacle))
            place = location
        if needs_open and world.openable & ~opened & 1 << receptacle:
            moves.append(Move(Rule.OPEN, NOTHING, receptacle))
            opened |= 1 << receptacle
        moves.extend(acts)
    return moves


def _play(
    world: World, state: WorldState, goal: GoalCondition, moves: list[Move], dialect: Dialect
) -> tuple[str, ...] | None:
    """The commands of the moves, or None unless each is admissible and the last one wins."""
    commands = []
    for move in moves:
        command = command_of(world, state, move, dialect)
        if command is None:
            return None
        commands.append(command)
        state = apply(world, state, move)
    return tuple(commands) if goal.is_reached(world, state) else None


class Errands:
    """All ways to win from one state that waste nothing, as sequences of visits; for goals
    without slices.

    Every command costs one step and `go to` reaches any place from any other, so a plan is a
    sequence of visits: at each the agent opens what it must and acts. Every sequence of acts
    that can win without waste is listed: which objects, from where, through which tool, into
    which receptacle, in which order. Wasteful acts are left out because each can be removed
    from a winning plan: moving an object that the goal does not name, putting an object down
    and picking it up again with nothing done in between, opening what is not used, looking
    around.
    """

    def __init__(self, world: World, state: WorldState, goal: GoalCondition) -> None:
        self.world = world
        self.state = state
        self.goal = goal
        self.item = goal.item
        self.treatment = treatment_of(goal.item)
        self.containers: dict[int, list[int]] = {}
        for receptacle, inside in enumerate(state.contents):
            for thing in inside:
                self.containers.setdefault(thing, []).append(receptacle)
        # Of equally short plans the first one is kept. People expect the lowest numbers, which
        # the things with the highest ids have.
        self.things = members(goal.item.things)[::-1]
        self._anywhere: list[Visit] | None = None

    def all(self) -> Iterator[Visits]:
        """Every errand, as if the hand were free where it must be (see `with_free_hand`)."""
        return self._placing() if self.goal.place is not None else self._lighting()

    def needs_free_hand(self, visits: Visits) -> bool:
        """Whether the errand begins with taking something while the hand is full."""
        if self.state.held == NOTHING or not visits or not visits[0].acts:
            return False
        return visits[0].acts[0].rule is Rule.TAKE

    def with_free_hand(self, visits: Visits) -> Iterator[Visits]:
        """The errand, after putting down what is in the hand.

        A detour for that costs no less than opening a door where the agent is or goes.
        """
        everywhere = self._put_anywhere(self.state.held)
        on_the_way = (self.state.location, visits[0].location)
        near = [put for put in everywhere if put.location in on_the_way]
        for put in near if near and not self.goal.all_closed else everywhere:
            yield (put, *visits)

    def _placing(self) -> Iterator[Visits]:
        assert self.goal.place is not None
        ready = self.item.ready(self.state)
        for target in self.goal.place.receptacles[::-1]:
            there = {o for o in self.state.contents[target] if ready >> o & 1}
            others = [o for o in self.things if o not in there]
            # Enough may be there already, with only doors left to close.
            missing = max(0, self.goal.place.count - len(there))
            ways = {o: list(self._carry(o, target)) for o in others}
            for chosen in permutations(others, missing):
                if self.state.held not in chosen[1:]:
                    # What is in the hand goes first; the other order only adds steps.
                    for legs in product(*(ways[o] for o in chosen)):
                        yield tuple([visit for leg in legs for visit in leg])

    def _lighting(self) -> Iterator[Visits]:
        lights = list(self._lights())
        for thing in self.things:
            for fetch, light in product(self._fetch(thing), lights):
                yield (*fetch, light)

    def _carry(self, thing: int, target: int) -> Iterator[Visits]:
        """Fetch, treat and put one object.

        An object in two receptacles stays in the one it is not taken from, so it may be
        both in its place and in the hand.
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
                for visit in self._visit(receptacle, True, Move(Rule.TAKE, thing, receptacle)):
                    yield (visit,)

    def _put(self, thing: int, receptacles: Iterable[int]) -> Iterator[Visit]:
        for receptacle in receptacles:
            if self.world.fits(thing, receptacle):
                yield from self._visit(receptacle, True, Move(Rule.PUT, thing, receptacle))

    def _treat(self, thing: int) -> Iterator[Visits]:
        rule = self.treatment
        if rule is None or self.item.treated_things(self.state) >> thing & 1:
            yield ()
            return
        for tool in tools(self.world, rule, thing):
            for visit in self._visit(tool, False, Move(rule, thing, tool)):
                yield (visit,)

    def _lights(self) -> Iterator[Visit]:
        for lamp in members(self.goal.lamps)[::-1]:
            acts = () if self.state.toggled >> lamp & 1 else (Move(Rule.USE, lamp),)
            for receptacle in self.containers.get(lamp, ()):
                yield from self._visit(receptacle, False, *acts)

    def _visit(self, receptacle: int, opens: bool, *acts: Move) -> Iterator[Visit]:
        """A visit to a receptacle; none if there is no way to it."""
        for place in self.world.receptacle_locations[receptacle]:
            yield Visit(place, receptacle, opens, acts)

    def _put_anywhere(self, thing: int) -> list[Visit]:
        """Every way to put the object out of the way."""
        if self._anywhere is None:
            self._anywhere = list(self._put(thing, range(len(self.world.receptacle_names))))
        return self._anywhere


class OpenDoors:
    """The doors that stand open in a state."""

    def __init__(self, world: World, state: WorldState) -> None:
        self.world = world
        self.state = state
        opened = members(state.opened)
        self._number = len(opened)
        self._places = {p for r in opened for p in world.receptacle_locations[r]}

    def at_least(self, visits: Visits) -> int:
        """How many steps the closing takes at least."""
        visited = {visit.location for visit in visits} | {self.state.location}
        return self._number + len(self._places - visited)

    def closed_behind(self, visits: Visits, ends_there: bool) -> Visits:
        """The visits, with everything that is or will be open closed at its last use.

        What is open where the agent would not come is closed after the last visit, or
        on the way when the agent must end where it does.
        """
        world, opened = self.world, self.state.opened
        for visit in visits:
            if visit.opens:
                opened |= world.openable & 1 << visit.receptacle
        path = [Visit(self.state.location, NOTHING, False, ()), *visits]
        for receptacle in members(opened):
            places = world.receptacle_locations[receptacle]
            if not places:
                continue
            at = [i for i, visit in enumerate(path) if visit.location in places]
            close = Move(Rule.CLOSE, NOTHING, receptacle)
            if at:
                path[at[-1]] = path[at[-1]]._replace(acts=(*path[at[-1]].acts, close))
            else:
                detour = Visit(places[0], receptacle, False, (close,))
                path.insert(_gap(path) if ends_there else len(path), detour)
        return tuple(path)


def _gap(path: list[Visit]) -> int:
    """Where a detour costs least: where the agent is on its way anyway."""
    for i in range(1, len(path)):
        if path[i].location != path[i - 1].location:
            return i
    return 1
