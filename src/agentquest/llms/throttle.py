"""Holding all requests back when the server says so, and finding the pace that it allows.

One refusal (429, or any answer with Retry-After) or one failed connection stops
the whole client: what was queued waits, rather than being refused one by one.
Waits double for as long as nothing gets through. After a refusal, requests are
spaced by what had been accepted until then, pause included, which is the pace
of a limit per second and of one per minute alike; it grows slowly until it is
refused again. Single refusals among many requests accepted at the same time are
no limit: they cost a hold, not the pace.

Requests between two holds are a generation. A refusal means that the server
still refuses only if nothing sent before it in its generation was accepted.
"""

import asyncio
import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from agentquest.llms.clock import Clock, Deadline
from agentquest.llms.failures import ModelUnavailable, ServerAway, Transient

LONGEST_HOLD_S = 20.0
# A little below what was accepted. It grows back by doubling in a time, but by no more than a
# share per request; faster when so many requests in so many seconds have not been refused.
_CAUTION = 0.9
_DOUBLING_S, _GROWTH = 60.0, 1.01
_FAST_DOUBLING_S, _FAST_GROWTH = 10.0, 1.05
_UNREFUSED, _UNREFUSED_S = 60, 65.0
# Fewer accepted requests than these do not tell a pace well; so many times in a row, the pace
# is not what they are refused for, or is it? A few sent at once will show.
_FEW, _SHORT, _BURST = 10, 5, 8
# Faster than this, a pace is no limit any more.
_NO_PACE = 1000.0


@dataclass(frozen=True)
class Ticket:
    """A request's place: its number in its generation, and when it was sent."""

    generation: int
    number: int
    sent_at: float


class Throttle:
    """Lets requests pass one by one, or all at once while nothing is wrong."""

    def __init__(
        self, clock: Clock, wait_interval: float, rng: random.Random | None = None
    ) -> None:
        self._clock = clock
        self._interval = wait_interval
        self._rng = rng or random.Random()
        self._turn = asyncio.Lock()
        self._generation = self._sent = self._refused = self._strikes = 0
        self._began = self._cycle_began = clock.now()
        self._cycle_accepted = 0
        self._held_since: float | None = None
        self._held_until = self._held_for = 0.0
        self._slow_down = False
        self._why = ""
        self._rate: float | None = None
        self._paced_at = self._next_at = 0.0
        self._first_refused = self._short = self._burst = 0
        self._followed = self._followed_refused = 0.0
        self._refusal_s = 0.0
        self.waiting = 0

    @property
    def pace(self) -> float | None:
        """Requests a second, or None where nothing limits them."""
        return self._rate

    @property
    def held_s(self) -> float:
        """Seconds until requests go on; 0 when they do."""
        if self._held_since is None:
            return 0.0
        return max(0.0, self._held_until - self._clock.now())

    async def enter(self, deadline: Deadline) -> Ticket:
        """Wait for leave to send. Only time on hold is counted against the deadline."""
        if self._held_since is None and self._rate is None and self._next_at == 0.0:
            return self._admit(self._clock.now())
        queued = self.stopwatch()
        self.waiting += 1
        try:
            async with self._turn:
                while (wait := self._wait()) > 0.0:
                    if self.held_s >= deadline.left + queued():
                        kind = ModelUnavailable if self._slow_down else ServerAway
                        raise kind(
                            f"{self._why} (the next attempt, in {self.held_s:.1f} s, would be past"
                            " the deadline)"
                        )
                    await self._clock.sleep(wait)
                return self._admit(self._clock.now())
        finally:
            self.waiting -= 1
            deadline.postpone(queued())

    def stopwatch(self) -> Callable[[], float]:
        """Measures seconds from now on, without those on hold."""
        start, held = self._clock.now(), self._held_total()
        return lambda: self._clock.now() - start - (self._held_total() - held)

    def refused(self, ticket: Ticket, failure: Transient) -> None:
        """Hold everything back after a refusal or a failed connection."""
        now = self._clock.now()
        self._refusal_s += 0.3 * (now - ticket.sent_at - self._refusal_s)
        if ticket.generation != self._generation:
            return
        before, self._refused = self._refused, self._refused + 1
        if self._held_since is not None:
            if failure.retry_after is not None:
                self._held_until = max(self._held_until, now + failure.retry_after)
            return
        if ticket.number > before:
            self._strikes = 0
            self._cycle_began, self._cycle_accepted = self._began, 0
        self._strikes += 1
        self._first_refused = ticket.number
        self._held_since, self._slow_down = now, not failure.away
        self._why = str(failure)
        self._held_until = now + self._hold(failure.retry_after)

    def succeeded(self, ticket: Ticket) -> None:
        """Note that a request got through; one sent since the last hold makes waits short again."""
        if self._strikes and ticket.generation == self._generation and self._held_since is None:
            self._strikes = 0
            self._next_at = 0.0 if self._rate is None else self._next_at

    def _hold(self, asked: float | None) -> float:
        wait = min(LONGEST_HOLD_S, self._interval * 2.0 ** min(self._strikes - 1, 64))
        if asked is None:
            # By then it is known what became of all those that were sent together.
            return max(wait, 2.0 * self._refusal_s) * self._rng.uniform(1.0, 1.1)
        # A server whose own time turns out too short is asked less and less often all the same.
        return max(asked, wait / 2.0) if self._strikes > 1 else asked

    def _held_total(self) -> float:
        """How long requests have been on hold, all holds together."""
        if self._held_since is None:
            return self._held_for
        until = min(self._clock.now(), self._held_until)
        return self._held_for + max(0.0, until - self._held_since)

    def _wait(self) -> float:
        now = self._clock.now()
        if self._held_since is not None:
            if now < self._held_until:
                return self._held_until - now
            self._resume(now)
        return self._next_at - now

    def _resume(self, now: float) -> None:
        """Begin a new generation, at the pace that was accepted."""
        self._held_for = self._held_total()
        self._held_since = None
        self._cycle_accepted += self._sent - self._refused
        if self._slow_down and self._cycle_accepted and now > self._cycle_began:
            self._set_pace(_CAUTION * self._cycle_accepted / (now - self._cycle_began), now)
        self._generation += 1
        self._sent = self._refused = 0
        self._began = self._next_at = now

    def _set_pace(self, measured: float, now: float) -> None:
        # Of those sent after the first that was refused, a limit refuses nearly all.
        followed = self._sent - self._first_refused - 1
        self._followed = 0.9 * self._followed + followed
        self._followed_refused = 0.9 * self._followed_refused + self._refused - 1
        if self._followed > 1.0 and self._followed_refused < self._followed / 2.0:
            self._rate, self._short = None, 0
            return
        self._short += 1 if 0 < self._sent - self._refused < 2 * _FEW else -(self._short > 0)
        if self._short >= _SHORT:
            self._burst, self._short = _BURST, 0
        if self._rate is not None and self._cycle_accepted < _FEW:
            measured = max(measured, self._rate / 4.0)
        self._rate, self._paced_at = max(measured, 1.0 / LONGEST_HOLD_S), now

    def _admit(self, now: float) -> Ticket:
        ticket = Ticket(self._generation, self._sent, now)
        self._sent += 1
        if self._rate is not None:
            self._rate *= self._growth(now)
            self._paced_at = now
            self._next_at = max(now, self._next_at) + 1.0 / self._rate
            if self._burst:
                self._burst -= 1
                self._next_at = now
            if self._rate > _NO_PACE:
                self._rate, self._next_at = None, 0.0
        if self._strikes > 1 and ticket.number == 0:
            # The first one shows whether the server refuses still: give it time to say so.
            proof = min(max(0.1, 3.0 * self._refusal_s), self._hold(None) / 2.0)
            self._next_at = max(self._next_at, now + proof)
        return ticket

    def _growth(self, now: float) -> float:
        doubling, most = _DOUBLING_S, _GROWTH
        if self._sent > _UNREFUSED and now - self._began > _UNREFUSED_S:
            doubling, most = _FAST_DOUBLING_S, _FAST_GROWTH
        doublings = min(1.0, (now - self._paced_at) / doubling)
        return min(most, math.pow(2.0, doublings))
