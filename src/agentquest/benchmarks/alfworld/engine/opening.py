"""From a problem's text to a game that can be played; equal texts give the same objects.

What is parsed never changes, so games with the same text share it as long as any of
them is alive. Within it, tables that many homes have alike are shared as well.
"""

import hashlib
from weakref import WeakValueDictionary

from agentquest.benchmarks.alfworld.engine.goals import Goal, read_goal
from agentquest.benchmarks.alfworld.engine.limits import check_limits
from agentquest.benchmarks.alfworld.engine.pddl import read_problem
from agentquest.benchmarks.alfworld.engine.state import State, initial_state
from agentquest.benchmarks.alfworld.engine.world import FactTable, World, build_world


class Opened:
    """A problem, understood."""

    __slots__ = ("__weakref__", "goal", "start", "world")

    def __init__(self, world: World, start: State, goal: Goal) -> None:
        self.world = world
        self.start = start
        self.goal = goal


_in_use: WeakValueDictionary[bytes, Opened] = WeakValueDictionary()


def opened(problem: str, cleaners: frozenset[str]) -> Opened:
    """Read a problem, or find it among those in use; raises DataError when it is none."""
    key = hashlib.sha256("\0".join((problem, *sorted(cleaners))).encode()).digest()
    known = _in_use.get(key)
    if known is None:
        known = _in_use[key] = _parsed(problem, cleaners)
    return known


def _parsed(text: str, cleaners: frozenset[str]) -> Opened:
    problem = read_problem(text)
    table = FactTable(problem)
    world = build_world(table, cleaners)
    goal = read_goal(problem.goal, world)
    start = initial_state(table)
    check_limits(world, start, goal)
    return Opened(world, start, goal)
