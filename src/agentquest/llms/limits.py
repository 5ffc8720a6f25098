"""Staying within a server's limits, so that requests do not fail on them.

A `Bucket` keeps requests or tokens per minute under a limit in *every* minute,
not only on average: the burst it allows is taken off its rate. `Concurrency`
is the number of requests in flight. Both serve in the order of arrival, as does
the throttle, which finds the limits that nobody configured.
"""

import asyncio
from collections import deque
from dataclasses import dataclass

from agentquest.llms.clock import Clock, Deadline
from agentquest.llms.failures import Transient
from agentquest.llms.throttle import Throttle, Ticket
from agentquest.records.messages import Usage

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
    """How many requests may be in flight."""

    def __init__(self, maximum: int) -> None:
        self.maximum = maximum
        self.in_flight = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return sum(not place.done() for place in self._queue)

    @property
    def free(self) -> bool:
        """Whether a place can be had without waiting."""
        return self.in_flight < self.maximum and not self._queue

    async def acquire(self) -> None:
        """Wait for one's turn; `release` must follow."""
        if self.free:
            self.in_flight += 1
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(place)
        try:
            await place
        except asyncio.CancelledError:
            # A cancelled place that still stands in the queue is passed over by `release`.
            if not place.cancelled():
                self.release()
            raise

    def release(self) -> None:
        """Give the turn to whoever has waited longest."""
        self.in_flight -= 1
        while self._queue and self.in_flight < self.maximum:
            place = self._queue.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)


@dataclass(slots=True)
class Permit:
    """Leave to send one request; the sender says on it how that went."""

    ticket: Ticket
    guess: float
    failure: Transient | None = None
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
        throttle: Throttle,
        clock: Clock,
    ) -> None:
        self.concurrency = Concurrency(max_concurrency)
        self.throttle = throttle
        self._requests = Bucket(requests_per_minute, clock) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute, clock) if tokens_per_minute else None
        self._usual_completion = _FIRST_GUESS

    async def enter(self, prompt_chars: int, max_tokens: int | None, deadline: Deadline) -> Permit:
        """Wait for leave to send, to be given back with `leave`.

        Time in our own queues is not held against the call, unless it is on hold as a whole.
        """
        if self.concurrency.free:
            self.concurrency.in_flight += 1
        else:
            queued = self.throttle.stopwatch()
            await self.concurrency.acquire()
            deadline.postpone(queued())
        try:
            guess = 0.0
            if self._requests is not None or self._tokens is not None:
                guess = await self._take(prompt_chars, max_tokens, deadline)
            return Permit(await self.throttle.enter(deadline), guess)
        except BaseException:
            self.concurrency.release()
            raise

    def leave(self, permit: Permit) -> None:
        """Return a permit, and learn from how its request went."""
        if permit.succeeded:
            self.throttle.note_reply(permit.ticket)
            self._learn(permit.usage, permit.guess)
        elif permit.failure is not None and (permit.failure.told_to_wait or permit.failure.away):
            self.throttle.note_refusal(permit.ticket, permit.failure)
        self.concurrency.release()

    async def _take(self, prompt_chars: int, max_tokens: int | None, deadline: Deadline) -> float:
        """Wait for the configured limits per minute; what the request is taken to use."""
        queued = self.throttle.stopwatch()
        guess = self._guess(prompt_chars, max_tokens)
        if self._requests is not None:
            await self._requests.take()
        if self._tokens is not None:
            await self._tokens.take(guess)
        deadline.postpone(queued())
        return guess

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
