"""Staying within a server's limits, so that requests are not refused.

`Concurrency` bounds the requests in flight. A `Bucket` keeps the configured requests or tokens
per minute in *every* minute, not only on average: the burst it allows is taken off its rate.
`Throttle` finds the limits that nobody configured. All of them serve in the order of arrival.
"""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass

from agentquest.llms.clock import Clock, Deadline
from agentquest.llms.config import ModelSettings
from agentquest.llms.failures import ModelUnavailable, ServerAway, Transient
from agentquest.records.messages import Usage

_BURST_SHARE = 20
_FIRST_GUESS = 256.0


class Bucket:
    """A token bucket for one limit per minute.

    In any half-open minute at most `per_minute` units are taken. A demand larger than the
    burst waits for a full bucket and leaves a debt that later demands wait for; so does a
    `settle` that finds that more was used.
    """

    def __init__(self, per_minute: float, clock: Clock) -> None:
        self._burst = max(1.0, per_minute // _BURST_SHARE)
        self._rate = (per_minute - self._burst + 1.0) / 60.0
        self._level = self._burst
        self._clock = clock
        self._filled_at = clock.now()
        self._turn = asyncio.Lock()

    async def take(self, amount: float = 1.0) -> None:
        """Wait until `amount` is allowed. asyncio's lock queues in order of arrival."""
        async with self._turn:
            needed = min(amount, self._burst)
            # A rounding error must not become a sleep too short for the clock to advance.
            while (lacking := needed - self._refill()) > 1e-9 * self._burst:
                await self._clock.sleep(lacking / self._rate)
            self._level -= amount

    def settle(self, difference: float) -> None:
        """Take `difference` more afterwards, or give back what was not used."""
        self._level = min(self._burst, self._refill() - difference)

    def _refill(self) -> float:
        now = self._clock.now()
        self._level = min(self._burst, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now
        return self._level


class Concurrency:
    """How many requests may be in flight."""

    def __init__(self, maximum: int) -> None:
        self.maximum = maximum
        self.in_flight = self.waiting = 0
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()

    async def acquire(self) -> None:
        """Wait for a place; `release` must follow."""
        self.waiting += 1
        try:
            async with self._turn:
                while self.in_flight >= self.maximum:
                    self._freed.clear()
                    await self._freed.wait()
                self.in_flight += 1
        finally:
            self.waiting -= 1

    def release(self) -> None:
        """Free a place, for the request that has waited longest."""
        self.in_flight -= 1
        self._freed.set()


# Holds triple up to this, unless the server asks for a longer one.
LONGEST_HOLD_S = 20.0
# Requests start just below the measured pace and grow by this factor each, so that the next
# refusal is many requests away.
_CAUTION, _GROWTH = 0.9, 1.005
# How many requests after a refused one tell a limit from chance.
_SAMPLE = 4
# How many times in a row the measured pace falls before slowing down is taken to be useless.
_FALLS = 3


@dataclass
class Round:
    """The requests between two holds; when `probing`, one at a time until one gets through."""

    began: float
    probing: bool = False
    sent: int = 0
    refused: int = 0
    first_refused: int = 0


@dataclass(slots=True)
class Permit:
    """Permission to send one request: its place, and afterwards how it went."""

    round: Round
    number: int
    guess: float = 0.0
    failure: Transient | None = None
    succeeded: bool = False
    usage: Usage | None = None


@dataclass
class Hold:
    """A time in which nothing is sent, and the failure that caused it."""

    since: float
    until: float
    failure: Transient


class Throttle:
    """Holds requests back when a server refuses them, and finds the pace that it allows.

    One refusal (429, or any answer with Retry-After) or one failed connection holds back the
    whole client, so that queued requests wait instead of being refused one by one. Holds triple
    for as long as nothing gets through. After a hold, requests are spaced by what the server
    accepted until then, the hold included: that is the pace of a limit per second and of one
    per minute alike. The pace grows with every request until one is refused again.

    Refusals that come by chance must not slow a run down, and there are two signs of them. Of
    the requests sent after the first refused one, a limit refuses nearly all, chance only some.
    And when requests slow down, a limit accepts as many as before, chance fewer and fewer.
    """

    def __init__(self, clock: Clock, wait_interval: float) -> None:
        self.waiting = 0
        self.pace: float | None = None
        """Requests per second, or None if nothing limits them."""
        self._clock = clock
        self._interval = wait_interval
        self._turn = asyncio.Lock()
        self._next_at = 0.0
        self._round = Round(clock.now())
        self._hold: Hold | None = None
        self._held_before = 0.0
        # Refusals in a row; since the round before them, requests that were accepted.
        self._strikes = self._accepted = 0
        self._measured_from = self._measured = 0.0
        self._falls = 0
        self._by_chance = False

    @property
    def held_by(self) -> str:
        """The refusal that the hold is for; empty without one."""
        return str(self._hold.failure) if self._hold else ""

    @property
    def held_s(self) -> float:
        """Seconds until the hold ends; 0 without one."""
        return max(0.0, self._hold.until - self._clock.now()) if self._hold else 0.0

    async def enter(self, deadline: Deadline) -> Permit:
        """Wait until a request may be sent. Only time on hold counts against the deadline."""
        if self._hold is None and self.pace is None and self._next_at == 0.0:
            return self._admit(0.0)
        queued = self.stopwatch()
        self.waiting += 1
        try:
            async with self._turn:
                while (wait := self._wait()) > 0.0:
                    if self._hold and self.held_s >= deadline.left + queued():
                        kind = ServerAway if self._hold.failure.away else ModelUnavailable
                        raise kind(
                            f"{self._hold.failure} (the next attempt, in {self.held_s:.1f} s,"
                            " would be past the deadline)"
                        )
                    await self._clock.sleep(wait)
                return self._admit(self._clock.now())
        finally:
            self.waiting -= 1
            deadline.postpone(queued())

    def stopwatch(self) -> Callable[[], float]:
        """Measures seconds from now on, without those on hold."""
        start = self._clock.now() - self._held_total()
        return lambda: self._clock.now() - self._held_total() - start

    def note_refusal(self, permit: Permit, failure: Transient) -> None:
        """Hold everything back after a refusal or a failed connection."""
        now, current = self._clock.now(), self._round
        if permit.round is not current:
            return
        first = min(current.first_refused, permit.number) if current.refused else permit.number
        current.first_refused, current.refused = first, current.refused + 1
        if self._hold is not None:
            if failure.retry_after is not None:
                self._hold.until = max(self._hold.until, now + failure.retry_after)
            return
        if permit.number >= current.refused:  # a request sent before it was not refused
            self._strikes = self._accepted = 0
            self._measured_from = current.began
        self._strikes += 1
        self._hold = Hold(now, now + self._hold_seconds(failure.retry_after), failure)

    def note_reply(self, permit: Permit) -> None:
        """Make waits short again if a request that was sent since the last hold got through."""
        if self._strikes and permit.round is self._round and self._hold is None:
            self._strikes = 0
            if self.pace is None:
                self._next_at = 0.0

    def _hold_seconds(self, asked: float | None) -> float:
        tripled = min(LONGEST_HOLD_S, self._interval * 3.0 ** min(self._strikes - 1, 64))
        if asked is None:
            return tripled
        # A server whose own time turns out to be too short is still asked less and less often.
        return max(asked, tripled) if self._strikes > 1 else asked

    def _held_total(self) -> float:
        """How long requests have been on hold, all holds together."""
        if self._hold is None:
            return self._held_before
        return self._held_before + min(self._clock.now(), self._hold.until) - self._hold.since

    def _wait(self) -> float:
        now = self._clock.now()
        if self._hold is not None:
            if now < self._hold.until:
                return self._hold.until - now
            self._resume(self._hold, now)
        return self._next_at - now

    def _resume(self, hold: Hold, now: float) -> None:
        """Begin a new round, at the pace that was accepted."""
        past, was_free = self._round, self.pace is None
        self._held_before += hold.until - hold.since
        self._hold, self._next_at = None, now
        self._accepted += past.sent - past.refused
        followers = past.sent - past.first_refused - 1
        if followers >= _SAMPLE:
            self._by_chance = past.refused - 1 <= followers / 2
        if self._accepted and now > self._measured_from and not hold.failure.away:
            self._set_pace(self._accepted / (now - self._measured_from))
        # A pace measured over a hold of our own choice is too fast if the limit is a long one.
        is_guess = was_free and self.pace is not None and hold.failure.retry_after is None
        self._round = Round(now, probing=is_guess or self._strikes > 1)

    def _set_pace(self, measured: float) -> None:
        if self._strikes == 1:
            fell = self.pace is not None and measured < _CAUTION * self._measured
            self._falls = self._falls + 1 if fell else 0
            self._by_chance = self._by_chance or self._falls == _FALLS
        self._measured = measured
        slow = max(_CAUTION * measured, 1.0 / LONGEST_HOLD_S)
        self.pace = None if self._by_chance else slow

    def _admit(self, now: float) -> Permit:
        permit = Permit(self._round, self._round.sent)
        self._round.sent += 1
        if self.pace is not None:
            self.pace *= _GROWTH
            self._next_at = now + 1.0 / self.pace
        if self._round.probing and self._strikes:
            self._next_at = max(self._next_at, now + self._interval)
        return permit


class RequestLimits:
    """All limits of one server together."""

    def __init__(self, settings: ModelSettings, clock: Clock) -> None:
        requests, tokens = settings.requests_per_minute, settings.tokens_per_minute
        self.concurrency = Concurrency(settings.max_concurrency)
        self.throttle = Throttle(clock, settings.wait_interval)
        self._requests = Bucket(requests, clock) if requests else None
        self._tokens = Bucket(tokens, clock) if tokens else None
        self._most_tokens = tokens or 0
        self._max_completion = settings.max_tokens or math.inf
        self._usual_completion = _FIRST_GUESS

    async def enter(self, prompt_chars: int, deadline: Deadline) -> Permit:
        """Wait until a request may be sent; `leave` must follow.

        Time in our own queues does not count against the deadline, time on hold does.
        """
        queued = self.throttle.stopwatch()
        await self.concurrency.acquire()
        try:
            # Four characters are about a token; an answer takes what answers usually take.
            guess = prompt_chars / 4.0 + min(self._usual_completion, self._max_completion)
            if self._requests is not None:
                await self._requests.take()
            if self._tokens is not None:
                await self._tokens.take(guess)
            deadline.postpone(queued())
            permit = await self.throttle.enter(deadline)
            permit.guess = guess
            return permit
        except BaseException:
            self.concurrency.release()
            raise

    def leave(self, permit: Permit) -> None:
        """Free the request's place, and learn from how it went."""
        if permit.succeeded:
            self.throttle.note_reply(permit)
            self._learn(permit.usage, permit.guess)
        elif permit.failure is not None and (permit.failure.told_to_wait or permit.failure.away):
            self.throttle.note_refusal(permit, permit.failure)
        self.concurrency.release()

    def _learn(self, usage: Usage | None, guess: float) -> None:
        if usage is None or self._tokens is None:
            return
        # No request takes more than a minute's tokens; a server that says so must not stop a run.
        completion = min(usage.completion_tokens, self._most_tokens)
        self._tokens.settle(min(usage.prompt_tokens + completion, self._most_tokens) - guess)
        self._usual_completion += 0.1 * (completion - self._usual_completion)
