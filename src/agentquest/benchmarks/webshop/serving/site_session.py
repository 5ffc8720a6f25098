"""A person in the shop: one task, from the instruction to the purchase.

It is played on the same session that agents play on, and every click is the
action an agent would have sent, so that a person's record reads like an agent's.
"""

import asyncio
import secrets
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone

from agentquest.benchmarks.webshop.driver import WebshopUtils
from agentquest.benchmarks.webshop.shop.shop import Session, parse
from agentquest.records.episode import Step
from agentquest.records.outcome import End

MAX_STEPS = 100
_CODE_BYTES = 5


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@dataclass
class SiteSession:
    """One person at one task; `token` proves that a form came from their own page.

    `code` is shown at the end and recorded: who pays people for playing can compare.
    """

    session: Session
    number: int
    participant: str = ""
    images: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    code: str = field(default_factory=lambda: secrets.token_hex(_CODE_BYTES).upper())
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    started_at: str = field(default_factory=_now)
    steps: list[Step] = field(default_factory=list)
    reward: float = 0.0
    end: End | None = None
    notice: str = ""

    def __post_init__(self) -> None:
        self.first_observation = self.session.observe()
        self.first_admissible = self._admissible()
        self._began = self._last = time.perf_counter()

    @property
    def turn(self) -> int:
        """How many actions have been taken."""
        return len(self.steps)

    @property
    def seconds(self) -> float:
        """From the first page to the last action."""
        return self._last - self._began

    def act(self, action: str) -> None:
        """Carry out an action that the session accepts, and note it down."""
        step = self.session.step(action)
        assert step.valid, "the caller asks first"
        now = time.perf_counter()
        self.steps.append(
            Step(
                index=self.turn + 1,
                action=action,
                how="browser",
                valid=True,
                observation=self.session.observe(),
                admissible=self._admissible(),
                reward=step.reward,
                progress=step.reward,
                seconds=now - self._last,
            )
        )
        self._last = now
        if step.done:
            self.reward = step.reward
            self.end = End.SOLVED if step.reward == 1.0 else End.FAILED
        elif self.turn >= MAX_STEPS:
            self.end = End.STEP_LIMIT

    def give_up(self) -> None:
        """End the task unsolved."""
        self._last = time.perf_counter()
        self.end = End.GAVE_UP

    @property
    def viewed_part(self) -> str:
        """Which part of a product's description the last click opened."""
        return (parse(self.steps[-1].action or "")[1] or "") if self.steps else ""

    def _admissible(self) -> list[str]:
        page = self.session.page
        available = {"clickables": list(page.clickables), "has_search_bar": page.search_bar}
        return list(WebshopUtils.admissible(available))


def search_action(query: str) -> str | None:
    """The action that searches for `query`; None where the shop's own syntax stands in the way."""
    action = f"search[{query}]"
    return action if parse(action) == ("search", query.lower()) else None
