"""One environment for other people's loops: choose a task, reset, step, close.

    session = Session(Arena(benchmark), max_steps=50)
    turn = session.reset("valid_unseen/…")        # or reset(17), reset(17, split="train")
    while not turn.over:
        turn = session.step(turn.admissible[0])
    print(turn.won, turn.reward)

Nothing resets by itself. Once an episode is over nothing changes it: every
further step returns the last turn again.
"""

import copy
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from agentquest.errors import UserError
from agentquest.lib.arena import Arena, Wanted
from agentquest.lib.game import Game
from agentquest.lib.types import Task

T = TypeVar("T")


class Turn(NamedTuple):
    """What came of a step.

    `terminated`: the game itself is over; `truncated`: the step limit was reached; `won`:
    the task is solved; three different things. `valid` says whether the command was carried
    out, `steps` how many were taken.
    """

    text: str
    admissible: Sequence[str]
    reward: float
    terminated: bool
    truncated: bool
    won: bool
    valid: bool
    steps: int

    @property
    def over(self) -> bool:
        """Whether the episode has ended, for either reason."""
        return self.terminated or self.truncated


class Session:
    """Plays one task at a time; `max_steps` None is no limit."""

    __slots__ = ("_closed", "_game", "_last", "_steps", "_task", "arena", "max_steps")

    def __init__(self, arena: Arena, max_steps: int | None = 50) -> None:
        if max_steps is not None and max_steps < 1:
            raise UserError(f"max_steps must be 1 or more, not {max_steps}")
        self.arena = arena
        self.max_steps = max_steps
        self._task: Task | None = None
        self._game: Game | None = None
        self._last: Turn | None = None
        self._steps = 0
        self._closed = False

    def __copy__(self) -> "Session":
        """Another session in the same state: the arena is shared, the game is not."""
        twin = Session(self.arena, self.max_steps)
        twin._game = copy.deepcopy(self._game, {id(self.arena): self.arena})
        twin._task, twin._last = self._task, self._last
        twin._steps, twin._closed = self._steps, self._closed
        return twin

    def reset(self, task: Wanted | None = None, split: str | None = None) -> Turn:
        """Start a task; without one, the same task again, or the first of the split."""
        self._check_open()
        if task is None and self._task is not None and split is None:
            found = self._task
        else:
            found = self.arena.task(0 if task is None else task, split)
        if self._game is None or found != self._task:
            self._game = self.arena.benchmark.game(found)
            self._task = found
        game = self._game
        text = game.reset()
        self._steps = 0
        self._last = Turn(text, game.admissible, game.reward, game.done, False, game.won, True, 0)
        return self._last

    def step(self, command: str) -> Turn:
        """Carry out one command, written as the game understands it."""
        last, game = self._last, self._game
        if last is None or game is None:
            self._check_open()
            raise UserError("call reset() before step()")
        if not isinstance(command, str):
            raise UserError(f"a command must be text, not {type(command).__name__}")
        if last.terminated or last.truncated:
            return last
        text = game.step(command)
        steps = self._steps = self._steps + 1
        done = game.done
        limit = self.max_steps
        self._last = last = Turn(
            text,
            game.admissible,
            game.reward,
            done,
            not done and limit is not None and steps >= limit,
            game.won,
            game.valid,
            steps,
        )
        return last

    def miss(self, told: str) -> Turn:
        """A step that is spent on an answer without a command; `told` says what was wrong."""
        last = self.last
        if last.over:
            return last
        steps = self._steps = self._steps + 1
        limit = self.max_steps
        over = limit is not None and steps >= limit
        self._last = last._replace(text=told, truncated=over, valid=False, steps=steps)
        return self._last

    @property
    def last(self) -> Turn:
        """The newest turn."""
        return self._require_started(self._last)

    @property
    def task(self) -> Task:
        """The task being played; raises UserError before the first reset."""
        return self._require_started(self._task)

    @property
    def goal(self) -> str:
        """What is to be done, in the game's words."""
        return self.game.goal

    @property
    def game(self) -> Game:
        """The game underneath, for adapters that need more of one benchmark than a turn says."""
        return self._require_started(self._game)

    def plan(self) -> list[str]:
        """The oracle's commands from here; empty once the episode is over."""
        return [] if self.last.over else self.game.plan()

    @property
    def closed(self) -> bool:
        """Whether `close` was called; such a session cannot be used again."""
        return self._closed

    def close(self) -> None:
        """Let go of the game; closing again does nothing."""
        self._game = self._last = self._task = None
        self._closed = True

    def _require_started(self, value: T | None) -> T:
        if value is None:
            self._check_open()
            raise UserError("call reset() first")
        return value

    def _check_open(self) -> None:
        if self._closed:
            raise UserError("the session is closed")
