"""The shortest winning plan from any state, in commands.

For goals as nearly all published games have them, `errands` lists every sequence of
visits that can win without waste; the cheapest of them is a shortest plan, in well
under a millisecond. Where that argument does not hold (slices, receptacles with two
locations, lamps that can be carried) an exact search decides, which takes some
milliseconds. The tests hold both to a blind search over small homes of every shape,
and to the reference planner's lengths on the published games.
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
from agentquest.benchmarks.alfworld.oracle.closing import OpenDoors
from agentquest.benchmarks.alfworld.oracle.errands import Errands, Visits
from agentquest.benchmarks.alfworld.oracle.search import shortest_moves


class Plan(NamedTuple):
    """A winning sequence of commands; `reachable` is False when there is none."""

    commands: tuple[str, ...]
    reachable: bool


_UNREACHABLE = Plan((), False)
_WON = Plan((), True)


def plan(world: World, state: State, goal: Goal, dialect: Dialect) -> Plan:
    """A shortest plan; empty and reachable when the game is won already."""
    if goal.reached(world, state):
        return _WON
    if is_plain(world, goal):
        return _cheapest_errand(world, state, goal, dialect)
    moves = shortest_moves(world, state, goal)
    if moves is None:
        return _UNREACHABLE
    commands = _played(world, state, goal, moves, dialect)
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


def _played(
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
    return tuple(commands) if goal.reached(world, state) else None
