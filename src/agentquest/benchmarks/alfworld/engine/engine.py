"""Opening and playing one ALFWorld game.

    game = AlfWorldEngine.load("…/game.tw-pddl")
    print(game.reset())
    print(game.step("go to fridge 1"), game.admissible, game.won)

An engine has a World (immutable, shared by all games with the same text) and a WorldState
(immutable, replaced at each step), so copies are free, engines can be pickled, and no two
of them share anything that changes.

A game file may come from anywhere, and the oracle promises a shortest plan for every state
of every game that is opened. So goals that ALFRED does not have are refused, and so are
worlds many times larger than its largest: the published games have at most 4 objects that
satisfy the goal (in 3 receptacles at once), 6 knives and 54 receptacles.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

from agentquest.benchmarks.alfworld.engine import narrator
from agentquest.benchmarks.alfworld.engine.dialects import Dialect, dialect
from agentquest.benchmarks.alfworld.engine.game_files import GameText, read_game
from agentquest.benchmarks.alfworld.engine.goals import GoalCondition, mask_of, read_goal
from agentquest.benchmarks.alfworld.engine.pddl import read_problem
from agentquest.benchmarks.alfworld.engine.rules import (
    KNIVES,
    NO_OPTIONS,
    Move,
    Options,
    apply,
    find,
    options,
)
from agentquest.benchmarks.alfworld.engine.state import WorldState, initial_state
from agentquest.benchmarks.alfworld.engine.world import FactTable, World, build_world
from agentquest.benchmarks.alfworld.oracle.planner import Plan, plan
from agentquest.errors import DataError

MOST_THINGS = 8
"""Objects that satisfy the goal; the same limit holds for knives and for lamps."""
MOST_LYING = 12
"""Pairs of such an object and a receptacle that it lies in."""
MOST_RECEPTACLES = 120
MOST_WITH_DOUBLE_PLACES = 30
"""Receptacles of a home in which one of them has two locations."""


@dataclass(slots=True)
class _Scene:
    """A state and what follows from it, computed once and shared by copies of the game."""

    state: WorldState
    won: bool
    options: Options | None = None
    plan: Plan | None = None


class AlfWorldEngine:
    """One game in progress."""

    __slots__ = ("__weakref__", "_problem", "_scene", "dialect", "goal", "goal_text", "world")

    def __init__(self, problem: ParsedProblem, goal_text: str, dialect: Dialect) -> None:
        self._problem = problem
        self.world = problem.world
        self.goal = problem.goal
        self.goal_text = goal_text
        self.dialect = dialect
        self.restore(problem.start)

    @classmethod
    def load(cls, path: str | Path, dialect: str | Dialect | None = None) -> AlfWorldEngine:
        """Open a `game.tw-pddl`, or a folder with one or with `initial_state.pddl`."""
        return cls.from_text(read_game(Path(path)), dialect)

    @classmethod
    def from_text(cls, text: GameText, wanted: str | Dialect | None = None) -> AlfWorldEngine:
        """Open a game; `wanted` is the dialect, by default the text's own."""
        chosen = dialect(wanted)
        try:
            speaks = chosen or text.own_dialect()
            return cls(parse_problem(text.problem, text.cleaners), text.goal, speaks)
        except DataError as error:
            raise DataError(f"{text.source}: {error}" if text.source else str(error)) from None

    @property
    def state(self) -> WorldState:
        """The current state; immutable, so it can be stored."""
        return self._scene.state

    @property
    def won(self) -> bool:
        """Whether the goal is reached."""
        return self._scene.won

    def reset(self) -> str:
        """Back to the beginning; returns the introduction."""
        self.restore(self._problem.start)
        return narrator.introduction(self.world, self._problem.start, self.goal_text)

    def step(self, command: str) -> str:
        """Carry out a command; one that is not admissible changes nothing."""
        move = self._find(command)
        if move is None:
            return narrator.NOTHING_HAPPENS
        before = self._scene.state
        state = apply(self.world, before, move)
        if state is not before:
            self.restore(state)
        return narrator.feedback(self.world, state, move, self.dialect)

    def accepts(self, command: str) -> bool:
        """Whether the command is admissible now."""
        return self._find(command) is not None

    def _find(self, command: str) -> Move | None:
        wanted = command.strip()
        if wanted in self.world.go_commands:
            return find(self.world, self._scene.state, NO_OPTIONS, wanted)
        return find(self.world, self._scene.state, self._options(), wanted)

    @property
    def admissible(self) -> list[str]:
        """All commands possible now, sorted."""
        before, behind = self._options()
        go = self.world.ways_from(self._scene.state.location)
        return [*sorted(before), *go, *sorted(behind)]

    @property
    def admissible_text(self) -> str:
        """`str(admissible)`; the text of the many `go to …` of a location is cached."""
        before, behind = self._options()
        go = self.world.ways_text_from(self._scene.state.location)
        parts = (str(sorted(before))[1:-1], go, str(sorted(behind))[1:-1])
        return f"[{', '.join([part for part in parts if part])}]"

    def copy(self) -> AlfWorldEngine:
        """An independent game in the same state."""
        twin = AlfWorldEngine.__new__(AlfWorldEngine)
        twin._problem = self._problem
        twin.world = self.world
        twin.goal = self.goal
        twin.goal_text = self.goal_text
        twin.dialect = self.dialect
        twin._scene = self._scene
        return twin

    def restore(self, state: WorldState) -> None:
        """Go to a state that this game was in before (`engine.state`)."""
        self._scene = _Scene(state, self.goal.is_reached(self.world, state))

    def plan(self) -> Plan:
        """The shortest way to win from here."""
        scene = self._scene
        if scene.plan is None:
            scene.plan = plan(self.world, scene.state, self.goal, self.dialect)
        return scene.plan

    def _options(self) -> Options:
        scene = self._scene
        if scene.options is None:
            scene.options = options(self.world, scene.state, self.dialect)
        return scene.options


@dataclass(frozen=True)
class ParsedProblem:
    """The world, start and goal that a problem describes."""

    world: World
    start: WorldState
    goal: GoalCondition


_in_use: WeakValueDictionary[bytes, ParsedProblem] = WeakValueDictionary()


def parse_problem(problem: str, cleaners: frozenset[str]) -> ParsedProblem:
    """Parse a problem, unless a game in use has the same; raises DataError if it is not one."""
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
    _check_limits(world, start, goal)
    return ParsedProblem(world, start, goal)


def _check_limits(world: World, state: WorldState, goal: GoalCondition) -> None:
    """Raise DataError for a goal or a world beyond what ALFRED has."""
    for is_asked, what in _list_excesses(goal):
        if is_asked:
            raise DataError(f"the goal asks {what}, which none of ALFRED's does")
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
    knives = mask_of(world, KNIVES) if goal.item.sliced else 0
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


def _list_excesses(goal: GoalCondition) -> tuple[tuple[bool, str], ...]:
    item, place = goal.item, goal.place
    many = place is not None and place.count > 1
    return (
        (bool(place and goal.hold), "to place an object and to hold one"),
        (goal.all_closed and item.sliced, "for slices and for all doors to be closed"),
        (item.treatments > 1, "to treat one object in two ways"),
        (item.treatments > 0 and many, "to treat two objects"),
        (item.treatments > 0 and goal.hold is not None, "to look at a treated object"),
    )
