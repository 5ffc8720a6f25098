"""Playing one ALFWorld game.

    game = AlfWorldEngine.load("…/game.tw-pddl")
    print(game.reset())
    print(game.step("go to fridge 1"), game.admissible, game.won)

An engine is a World (immutable, shared) and a State (immutable, replaced at
each step), so copies are free, engines can be pickled, and no two of them
share anything that changes.
"""

from __future__ import annotations

from pathlib import Path

from agentquest.benchmarks.alfworld.engine import narrator
from agentquest.benchmarks.alfworld.engine.dialects import Dialect, dialect
from agentquest.benchmarks.alfworld.engine.game_files import GameText, read_game
from agentquest.benchmarks.alfworld.engine.goals import Goal, read_goal
from agentquest.benchmarks.alfworld.engine.pddl import read_problem
from agentquest.benchmarks.alfworld.engine.rules import Move, Options, apply, find, options
from agentquest.benchmarks.alfworld.engine.state import State, initial_state
from agentquest.benchmarks.alfworld.engine.world import FactTable, World, build_world
from agentquest.benchmarks.alfworld.oracle.planner import Plan, plan
from agentquest.errors import DataError


class AlfWorldEngine:
    """One game in progress."""

    __slots__ = ("_options", "_start", "dialect", "goal", "goal_text", "state", "won", "world")

    def __init__(
        self, world: World, start: State, goal: Goal, goal_text: str, dialect: Dialect
    ) -> None:
        self.world = world
        self.goal = goal
        self.goal_text = goal_text
        self.dialect = dialect
        self._start = start
        self._options: Options | None = None
        self._enter(start)

    @classmethod
    def load(cls, path: str | Path, dialect: str | Dialect | None = None) -> AlfWorldEngine:
        """Open a `game.tw-pddl`, or a folder with one or with `initial_state.pddl`."""
        return cls.from_text(read_game(Path(path)), dialect)

    @classmethod
    def from_text(cls, text: GameText, wanted: str | Dialect | None = None) -> AlfWorldEngine:
        speaks = dialect(wanted) or text.dialect
        try:
            problem = read_problem(text.problem)
            table = FactTable(problem)
            world = build_world(table, text.cleaners)
            goal = read_goal(problem.goal, world)
            return cls(world, initial_state(table), goal, text.goal, speaks)
        except DataError as error:
            raise DataError(f"{text.source}: {error}" if text.source else str(error)) from None

    def reset(self) -> str:
        """Back to the beginning; returns the introduction."""
        self._enter(self._start)
        return self.introduction

    @property
    def introduction(self) -> str:
        return narrator.introduction(self.world, self._start, self.goal_text)

    def step(self, command: str) -> str:
        """Carry out a command; one that is not admissible changes nothing."""
        move = self._find(command)
        if move is None:
            return narrator.NOTHING_HAPPENS
        state = apply(self.world, self.state, move)
        if state is not self.state:
            self._enter(state)
        return narrator.feedback(self.world, state, move, self.dialect)

    def accepts(self, command: str) -> bool:
        """Whether the command is admissible now."""
        return self._find(command) is not None

    def _find(self, command: str) -> Move | None:
        return find(self.world, self.state, self._moves, command.strip())

    @property
    def admissible(self) -> list[str]:
        """All commands possible now, sorted."""
        before, behind = self._moves
        go = self.world.go_lists[self.state.location]
        return [*sorted(before), *go, *sorted(behind)]

    def copy(self) -> AlfWorldEngine:
        """An independent game in the same state."""
        twin = AlfWorldEngine(self.world, self._start, self.goal, self.goal_text, self.dialect)
        twin._enter(self.state)
        return twin

    def restore(self, state: State) -> None:
        """Go to a state that this game was in before (`engine.state`)."""
        self._enter(state)

    def plan(self) -> Plan:
        """The shortest way to win from here."""
        return plan(self.world, self.state, self.goal, self.dialect)

    @property
    def _moves(self) -> Options:
        if self._options is None:
            self._options = options(self.world, self.state, self.dialect)
        return self._options

    def _enter(self, state: State) -> None:
        self.state = state
        self.won = self.goal.reached(self.world, state)
        self._options = None
