"""Staying within what a server allows, so that its limits are not met by failing.

A `Bucket` keeps requests or tokens per minute under a limit in *every* minute,
not only on average: the burst it allows is taken off its rate. `Concurrency`
is the number of requests in flight; it halves when the server says 429 and
grows back by about one for each full round of successes. Both serve in the
order of arrival.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from agentquest.llms.clock import Clock, Deadline
from agentquest.llms.messages import Usage

_BURST_SHARE = 20
_FIRST_GUESS = 256.0


class Bucket:
    """A token bucket for one limit per minute.

    In any half-open minute at most `per_minute` units are taken. A demand
    larger than the burst waits for a full bucket and leaves a debt, which
    later demands wait off; so does a `settle` that finds more was used.
    """

    def __init__(self, per_minute: float, clock: Clock, *, unit: float = 1.0) -> None:
        self._burst = max(unit, per_minute / _BURST_SHARE // unit * unit)
        self._rate = (per_minute - self._burst + unit) / 60.0
        self._level = self._burst
        self._clock = clock
        self._filled_at = clock.now()
        self._turn = asyncio.Lock()

    async def take(self, amount: float = 1.0) -> None:
        """Wait until `amount` is allowed. asyncio's lock queues in order of arrival."""
        async with self._turn:
            needed = min(amount, self._burst)
            # What rounding leaves short must not become a sleep that no clock can show.
            while (lacking := needed - self._filled()) > 1e-9 * self._burst:
                await self._clock.sleep(lacking / self._rate)
            self._level -= amount

    def settle(self, difference: float) -> None:
        """Take `difference` more afterwards, or give back what was not used."""
        self._level = min(self._burst, self._filled() - difference)

    def _filled(self) -> float:
        now = self._clock.now()
        self._level = min(self._burst, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now
        return self._level


class Concurrency:
    """How many requests may be in flight: additive increase, multiplicative decrease."""

    def __init__(self, maximum: int) -> None:
        self.maximum = maximum
        self.in_flight = 0
        self._allowed = float(maximum)
        self._round = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def allowed(self) -> int:
        return int(self._allowed)

    @property
    def waiting(self) -> int:
        return sum(not place.done() for place in self._waiting)

    async def acquire(self) -> int:
        """Wait for a place; returns the round, to be handed to `refused`."""
        if self.in_flight < self.allowed and not self._waiting:
            self.in_flight += 1
            return self._round
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            # A cancelled place that still stands in the queue is passed over by `_admit`.
            if not place.cancelled():
                self.release()
            raise
        return self._round

    def release(self) -> None:
        self.in_flight -= 1
        self._admit()

    def succeeded(self) -> None:
        if self._allowed < self.maximum:
            self._allowed = min(float(self.maximum), self._allowed + 1.0 / self._allowed)
            self._admit()

    def refused(self, sent_in: int) -> None:
        """Halve, once for all the requests that were in flight together."""
        if sent_in == self._round:
            self._round += 1
            self._allowed = max(1.0, self._allowed / 2.0)

    def _admit(self) -> None:
        while self._waiting and self.in_flight < self.allowed:
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)


@dataclass
class Permit:
    """Leave to send one request; the sender says on it how that went."""

    round: int
    refused: bool = False
    succeeded: bool = False
    usage: Usage | None = None


class Gate:
    """All limits of one server together."""

    def __init__(
        self,
        *,
        max_concurrency: int,
        requests_per_minute: int | None,
        tokens_per_minute: int | None,
        clock: Clock,
    ) -> None:
        self.concurrency = Concurrency(max_concurrency)
        self._clock = clock
        self._requests = Bucket(requests_per_minute, clock) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute, clock) if tokens_per_minute else None
        self._usual_completion = _FIRST_GUESS

    @asynccontextmanager
    async def pass_through(
        self, prompt_chars: int, max_tokens: int | None, deadline: Deadline
    ) -> AsyncIterator[Permit]:
        """Hold a place for one request. Time in the queue is not held against the call."""
        queued_at = self._clock.now()
        permit = Permit(await self.concurrency.acquire())
        try:
            guess = self._guess(prompt_chars, max_tokens)
            if self._requests is not None:
                await self._requests.take()
            if self._tokens is not None:
                await self._tokens.take(guess)
            deadline.postpone(self._clock.now() - queued_at)
            yield permit
            self._learn(permit.usage, guess)
        finally:
            if permit.refused:
                self.concurrency.refused(permit.round)
            elif permit.succeeded:
                self.concurrency.succeeded()
            self.concurrency.release()

    def _guess(self, prompt_chars: int, max_tokens: int | None) -> float:
        """Tokens a request will use: four characters each, and what answers usually take."""
        completion = self._usual_completion
        if max_tokens is not None:
            completion = min(completion, max_tokens)
        return prompt_chars / 4.0 + completion

    def _learn(self, usage: Usage | None, guess: float) -> None:
        if usage is None or self._tokens is None:
            return
        self._tokens.settle(usage.prompt_tokens + usage.completion_tokens - guess)
        self._usual_completion += 0.1 * (usage.completion_tokens - self._usual_completion)
