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
from agentquest.benchmarks.alfworld.engine.opening import ParsedProblem, parse_problem
from agentquest.benchmarks.alfworld.engine.rules import (
    NO_OPTIONS,
    Move,
    Options,
    apply,
    find,
    options,
)
from agentquest.benchmarks.alfworld.engine.state import State
from agentquest.benchmarks.alfworld.oracle.planner import Plan, plan
from agentquest.errors import DataError


class _Scene:
    """A state, whether it is won, what is possible in it and how to win from it: worked out once,
    then shared."""

    __slots__ = ("options", "plan", "state", "won")

    def __init__(self, state: State, won: bool) -> None:
        self.state = state
        self.won = won
        self.options: Options | None = None
        self.plan: Plan | None = None


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
    def state(self) -> State:
        """The current state; immutable, so it can be stored."""
        return self._scene.state

    @property
    def won(self) -> bool:
        """Whether the goal is reached."""
        return self._scene.won

    def reset(self) -> str:
        """Back to the beginning; returns the introduction."""
        self.restore(self._problem.start)
        return self.introduction

    @property
    def introduction(self) -> str:
        """The text that a game begins with, whatever has happened since."""
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
        """`str(admissible)`, without writing out the many `go to …` of a place every time."""
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

    def restore(self, state: State) -> None:
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
