"""From a problem's text to a world that can be played, or a refusal.

What is parsed never changes, so games with the same text share it as long as any of
them is alive. Equal tables of different homes are shared as well.

A game file comes from anywhere, and the oracle promises a shortest plan for every
state of every game that is opened. So goals that ALFRED does not have are refused,
and so are worlds many times larger than its largest. The published games have at
most 4 objects that will do (in 3 receptacles at once), 6 knives and 54 receptacles.
"""

import hashlib
from weakref import WeakValueDictionary

from agentquest.benchmarks.alfworld.engine.goals import Goal, read_goal
from agentquest.benchmarks.alfworld.engine.pddl import read_problem
from agentquest.benchmarks.alfworld.engine.rules import KNIVES
from agentquest.benchmarks.alfworld.engine.state import State, initial_state
from agentquest.benchmarks.alfworld.engine.world import FactTable, World, build_world
from agentquest.errors import DataError

MOST_THINGS = 8
"""Objects of the kind that the goal asks for; the same limit holds for knives and for lamps."""
MOST_LYING = 12
"""Pairs of such an object and a receptacle that it lies in."""
MOST_RECEPTACLES = 120
MOST_WITH_DOUBLE_PLACES = 30
"""Receptacles of a home in which one of them has two locations."""


class ParsedProblem:
    """The world, start and goal that a problem describes."""

    __slots__ = ("__weakref__", "goal", "start", "world")

    def __init__(self, world: World, start: State, goal: Goal) -> None:
        self.world = world
        self.start = start
        self.goal = goal


_in_use: WeakValueDictionary[bytes, ParsedProblem] = WeakValueDictionary()


def parse_problem(problem: str, cleaners: frozenset[str]) -> ParsedProblem:
    """Parse a problem, or find it among those in use; raises DataError if it is not one."""
    key = hashlib.sha256("\0".join((problem, *sorted(cleaners))).encode()).digest()
    known = _in_use.get(key)
    if known is None:
        known = _in_use[key] = _parse(problem, cleaners)
    return known


def _parse(text: str, cleaners: frozenset[str]) -> ParsedProblem:
    problem = read_problem(text)
    table = FactTable(problem)
    world = build_world(table, cleaners)
    goal = read_goal(problem.goal, world)
    start = initial_state(table)
    check_limits(world, start, goal)
    return ParsedProblem(world, start, goal)


def check_limits(world: World, state: State, goal: Goal) -> None:
    """Raise DataError for a goal or a world beyond what ALFRED has."""
    _check_goal(goal)
    if goal.all_closed and (world.has_double_places or goal.lamps & world.pickupable):
        raise DataError(
            "the goal wants all doors closed in a home with a receptacle at two locations"
            " or a lamp that can be carried"
        )
    receptacles = len(world.receptacle_names)
    most = MOST_WITH_DOUBLE_PLACES if world.has_double_places else MOST_RECEPTACLES
    if receptacles > most:
        which = "of which some have two locations " if world.has_double_places else ""
        raise DataError(f"the problem has {receptacles} receptacles {which}(at most {most})")
    knives = _mask(world, KNIVES) if goal.item.sliced else 0
    groups = (
        ("objects that will do for the goal", goal.item.things),
        ("knives for a goal with slices", knives),
        ("lamps that will do for the goal", goal.lamps),
    )
    for what, mask in groups:
        number = mask.bit_count()
        if number > MOST_THINGS:
            raise DataError(f"the problem has {number} {what} (at most {MOST_THINGS})")
        lying = sum(mask >> thing & 1 for inside in state.contents for thing in inside)
        if lying > MOST_LYING:
            raise DataError(
                f"the problem has {what} in {lying} receptacles altogether (at most {MOST_LYING})"
            )


def _check_goal(goal: Goal) -> None:
    item = goal.item
    if goal.place is not None and goal.hold is not None:
        raise _beyond("to place an object and to hold one")
    if goal.all_closed and item.sliced:
        raise _beyond("for slices and for all doors to be closed")
    if item.treatments > 1:
        raise _beyond("to treat one object in two ways")
    if item.treatments and goal.place is not None and goal.place.count > 1:
        raise _beyond("to treat two objects")
    if item.treatments and goal.hold is not None:
        raise _beyond("to look at a treated object")


def _beyond(what: str) -> DataError:
    return DataError(f"the goal asks {what}, which none of ALFRED's does")


def _mask(world: World, kinds: frozenset[str]) -> int:
    return sum(1 << i for i, kind in enumerate(world.object_types) if kind in kinds)
