"""The shortest winning plan from any state, in commands.

Every command costs one step and `go to` reaches any place from any other, so a
plan is a sequence of visits: at each the agent opens what it must and acts. Its
length is fixed by the acts, by how often the place changes from one visit to
the next, and by how many closed receptacles the visits need. `errands` lists
every sequence of acts that can win without waste (which objects, from where,
through which tools, into which receptacle, in which order); the cheapest of
them is a shortest plan. Wasteful acts are left out because each can be struck
from a winning plan without harm: moving an object that the goal does not name,
putting down an object to pick it up again with nothing done in between, opening
what is not used, looking around.

The tests hold this to a blind breadth-first search on small homes, and to the
reference planner's lengths on the published games. For goals with slices, which
none of the playable games has, the list of orders is checked in the same way but
has no such simple argument behind it.
"""

from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.goals import Goal
from agentquest.benchmarks.alfworld.engine.rules import (
    Move,
    Options,
    Rule,
    apply,
    command_of,
    find,
    options,
)
from agentquest.benchmarks.alfworld.engine.state import NOTHING, State
from agentquest.benchmarks.alfworld.engine.world import World
from agentquest.benchmarks.alfworld.oracle.candidates import errands
from agentquest.benchmarks.alfworld.oracle.plan_steps import Visit, Visits


class Plan(NamedTuple):
    """A winning sequence of commands; `reachable` is False when there is none."""

    commands: tuple[str, ...]
    reachable: bool


_UNREACHABLE = Plan((), False)
_WON = Plan((), True)
_NONE = Options({}, {})


def plan(world: World, state: State, goal: Goal, dialect: Dialect) -> Plan:
    """A shortest plan; empty and reachable when the game is won already."""
    if goal.reached(world, state):
        return _WON
    best: tuple[str, ...] | None = None
    bound = 1 << 30
    for visits in errands(world, state, goal):
        if goal.all_closed:
            visits = _with_closing(world, state, visits, ends_there=goal.hold is not None)
        cost = _cost(world, state, visits)
        if cost < bound:
            moves = _moves(world, state, visits)
            commands = _played(world, state, goal, moves, dialect)
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


def _with_closing(world: World, state: State, visits: Visits, ends_there: bool) -> Visits:
    """The visits, with everything that is or will be open closed at its last use.

    What is open where the agent would not come is closed after the last visit, or
    on the way when the agent must end where it does.
    """
    opened = state.opened
    for visit in visits:
        if visit.opens:
            opened |= world.openable & 1 << visit.receptacle
    at_start = Visit(state.location, NOTHING, False, ())
    path = [at_start, *visits]
    for receptacle in range(len(world.receptacle_names)):
        places = world.receptacle_locations[receptacle]
        if not opened >> receptacle & 1 or not places:
            continue
        last = max((i for i, visit in enumerate(path) if visit.location in places), default=None)
        close = Move(Rule.CLOSE, NOTHING, receptacle)
        if last is None:
            detour = Visit(places[0], receptacle, False, (close,))
            path.insert(_gap(path) if ends_there else len(path), detour)
        else:
            path[last] = path[last]._replace(acts=(*path[last].acts, close))
    return tuple(path)


def _gap(path: list[Visit]) -> int:
    """Where a detour costs least: where the agent is on its way anyway."""
    for i in range(1, len(path)):
        if path[i].location != path[i - 1].location:
            return i
    return 1


def _played(
    world: World, state: State, goal: Goal, moves: list[Move], dialect: Dialect
) -> tuple[str, ...] | None:
    """The commands of the moves, or None unless each is admissible and the last one wins."""
    commands = []
    for move in moves:
        command = command_of(world, state, move, dialect)
        # `go to` is not among the options, so they need not be listed for it.
        offered = _NONE if move.rule is Rule.GO else options(world, state, dialect)
        if find(world, state, offered, command) != move:
            return None
        commands.append(command)
        state = apply(world, state, move)
    return tuple(commands) if goal.reached(world, state) else None
