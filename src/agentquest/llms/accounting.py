"""Tokens and money, per call, per episode and per run.

Ledgers count whole tokens and multiply at the end, so a run's cost does not
depend on the order in which its calls came back. A reply from the cache has
its tokens counted but costs nothing.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

from agentquest.errors import ConfigError
from agentquest.llms.failures import CostLimitReached
from agentquest.llms.messages import Reply


@dataclass(frozen=True)
class Price:
    """Price per million tokens, in whatever currency the user thinks in."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6

    def of_reply(self, reply: Reply) -> float:
        """What this one call cost; reasoning is part of the completion."""
        if reply.cached or reply.usage is None:
            return 0.0
        return self.of(reply.usage.prompt_tokens, reply.usage.completion_tokens)


@dataclass(frozen=True)
class Totals:
    """A ledger at one moment. `cost` is None where no price is known."""

    calls: int
    attempts: int
    cached_calls: int
    uncounted_calls: int
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    latency_s: float
    cost: float | None

    def export(self) -> dict[str, Any]:
        return asdict(self)


class Ledger:
    """Adds up replies; what an episode's ledger adds, its run's ledger has too."""

    def __init__(self, price: Price | None = None, parent: "Ledger | None" = None) -> None:
        self.price = price
        self._parent = parent
        self._calls = self._attempts = self._cached = self._uncounted = 0
        self._prompt = self._completion = self._reasoning = 0
        self._billed_prompt = self._billed_completion = 0
        self._latency = 0.0

    def for_episode(self) -> "Ledger":
        return Ledger(self.price, parent=self)

    def add(self, reply: Reply) -> None:
        self._calls += 1
        if reply.cached:
            self._cached += 1
        else:
            self._attempts += reply.attempts
            self._latency += reply.latency_s
        if reply.usage is None:
            self._uncounted += 1
        else:
            self._prompt += reply.usage.prompt_tokens
            self._completion += reply.usage.completion_tokens
            self._reasoning += reply.usage.reasoning_tokens
            if not reply.cached:
                self._billed_prompt += reply.usage.prompt_tokens
                self._billed_completion += reply.usage.completion_tokens
        if self._parent is not None:
            self._parent.add(reply)

    @property
    def cost(self) -> float | None:
        if self.price is None:
            return None
        return self.price.of(self._billed_prompt, self._billed_completion)

    @property
    def totals(self) -> Totals:
        return Totals(
            calls=self._calls,
            attempts=self._attempts,
            cached_calls=self._cached,
            uncounted_calls=self._uncounted,
            prompt_tokens=self._prompt,
            completion_tokens=self._completion,
            reasoning_tokens=self._reasoning,
            latency_s=self._latency,
            cost=self.cost,
        )


class CostLimit:
    """Stops a run that has spent its money, before the next call rather than within one.

    `already_spent` is what earlier parts of a resumed run cost.
    """

    def __init__(self, limit: float, ledger: Ledger, *, already_spent: float = 0.0) -> None:
        if not (math.isfinite(limit) and limit > 0):
            raise ConfigError(f"cost limit: {limit} is not a positive amount")
        if ledger.price is None:
            raise ConfigError("cost limit: needs a price for prompt and completion tokens")
        self.limit = limit
        self._ledger = ledger
        self._already_spent = already_spent

    @property
    def spent(self) -> float:
        return self._already_spent + (self._ledger.cost or 0.0)

    @property
    def reached(self) -> bool:
        return self.spent >= self.limit

    def check(self) -> None:
        totals = self._ledger.totals
        if 0 < totals.calls == totals.uncounted_calls:
            raise ConfigError("cost limit: cannot be kept, the server does not count tokens")
        if self.reached:
            raise CostLimitReached(f"cost limit: {self.spent:.4f} of {self.limit:.4f} spent")
