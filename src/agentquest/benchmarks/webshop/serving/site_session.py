"""A person in the shop: one task, from the instruction to the purchase.

It is played on the same session that agents play on, and every click is the
action an agent would have sent, so that a person's record reads like an agent's.
"""

import asyncio
import secrets
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone

from agentquest.benchmarks.webshop.shop.shop import ShoppingSession, parse
from agentquest.benchmarks.webshop.tasks import task_of
from agentquest.lib.people import PlayedGame, PlayedMove
from agentquest.records.how import How
from agentquest.records.outcome import End

MAX_STEPS = 100


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@dataclass
class SiteSession:
    """One person at one task; `token` proves that a form came from their own page.

    `code` is shown at the end and recorded, so that those who pay people can compare.
    """

    session: ShoppingSession
    number: int
    participant: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    code: str = field(default_factory=lambda: secrets.token_hex(5).upper())
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    started_at: str = field(default_factory=_now)
    moves: list[PlayedMove] = field(default_factory=list)
    reward: float = 0.0
    end: End | None = None
    notice: str = ""

    def __post_init__(self) -> None:
        self._last_click = time.perf_counter()

    @property
    def turn(self) -> int:
        """How many actions have been taken."""
        return sum(move.command is not None for move in self.moves)

    def act(self, action: str) -> None:
        """Carry out an action that the session accepts."""
        step = self.session.step(action)
        assert step.valid, "the caller asks first"
        self._add_move(action, How.BROWSER)
        if step.done:
            self.reward = step.reward
            self.end = End.SOLVED if step.reward == 1.0 else End.FAILED
        elif self.turn >= MAX_STEPS:
            self.end = End.STEP_LIMIT

    def give_up(self) -> None:
        """End the task unsolved."""
        self._add_move(None, How.GAVE_UP)
        self.end = End.GAVE_UP

    def _add_move(self, action: str | None, how: str) -> None:
        now = time.perf_counter()
        self.moves.append(PlayedMove(action, now - self._last_click, how))
        self._last_click = now

    def finish(self) -> PlayedGame:
        """The task as it is to be recorded, with who played if they said so."""
        details = {
            "participant": self.participant,
            "completion_code": self.code,
            "options": dict(self.session.options),
        }
        task = task_of(self.session.shop.goals, self.number)
        return PlayedGame(task, self.moves, self.started_at, details=details)


def search_action(query: str) -> str | None:
    """The action that searches for `query`; None if the shop's syntax does not allow it."""
    action = f"search[{query}]"
    return action if parse(action) == ("search", query.lower()) else None
