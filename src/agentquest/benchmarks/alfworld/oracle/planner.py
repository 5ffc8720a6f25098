"""The shortest winning plan from any state, in commands.

For goals as nearly all published games have them, `errands` lists every sequence of
visits that can win without waste; the cheapest of them is a shortest plan, in well
under a millisecond. Where that argument does not hold (slices, receptacles with two
locations, lamps that can be carried) an exact search decides, which takes some
milliseconds. The tests hold both to a blind search over small homes of every shape,
and to the reference planner's lengths on the published games. `OpenDoors` closes the
doors behind an errand, for the few goals that want everything closed.
"""

from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.goals import Goal
from agentquest.benchmarks.alfworld.engine.rules import (
    NO_OPTIONS,
    Move,
    Rule,
    apply,
    command_of,
    find,
    options,
)
from agentquest.benchmarks.alfworld.engine.state import NOTHING, State
from agentquest.benchmarks.alfworld.engine.world import World
from agentquest.benchmarks.alfworld.oracle.errands import Errands, Visit, Visits
from agentquest.benchmarks.alfworld.oracle.relevant import members
from agentquest.benchmarks.alfworld.oracle.search import shortest_moves


class Plan(NamedTuple):
    """A winning sequence of commands; `reachable` is False when there is none."""

    commands: tuple[str, ...]
    reachable: bool


_UNREACHABLE = Plan((), False)
_WON = Plan((), True)


def plan(world: World, state: State, goal: Goal, dialect: Dialect) -> Plan:
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


def is_plain(world: World, goal: Goal) -> bool:
    """Whether the list of errands leaves out nothing that could be shorter."""
    odd = goal.item.sliced or goal.lamps & world.pickupable
    return not odd and not world.has_double_places


def _cheapest_errand(world: World, state: State, goal: Goal, dialect: Dialect) -> Plan:
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


def _cost(world: World, state: State, visits: Visits) -> int:
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


def _moves(world: World, state: State, visits: Visits) -> list[Move]:
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
    world: World, state: State, goal: Goal, moves: list[Move], dialect: Dialect
) -> tuple[str, ...] | None:
    """The commands of the moves, or None unless each is admissible and the last one wins."""
    commands = []
    for move in moves:
        command = command_of(world, state, move, dialect)
        offered = NO_OPTIONS if move.rule is Rule.GO else options(world, state, dialect)
        if find(world, state, offered, command) != move:
            return None
        commands.append(command)
        state = apply(world, state, move)
    return tuple(commands) if goal.is_reached(world, state) else None


class OpenDoors:
    """The doors that stand open in a state."""

    def __init__(self, world: World, state: State) -> None:
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
