"""What a client is doing now, for live views and logs: a slow or failing server is never silent."""

import logging
from dataclasses import dataclass

from agentquest.llms.clock import Clock
from agentquest.llms.failures import Transient
from agentquest.llms.limits import RequestLimits
from agentquest.words import counted

logger = logging.getLogger(__name__)

# Seconds without a reply after which the status says so.
_QUIET_S = 30.0


@dataclass(frozen=True)
class Status:
    """A client at one moment. Times are seconds; `held_by` is the refusal that nothing is sent
    after, `tries` the most of any open call, `requests` counts all that were sent."""

    in_flight: int = 0
    oldest_s: float = 0.0
    waiting: int = 0
    held_s: float = 0.0
    held_by: str = ""
    pace: float | None = None
    failing_s: float | None = None
    away: bool = False
    tries: int = 1
    last_error: str = ""
    requests: int = 0

    @property
    def line(self) -> str:
        """What is wrong, in one line; nothing when all is well."""
        if self.away and self.failing_s is not None:
            next_try = f", next attempt in {self.held_s:.0f} s" if self.held_s else ""
            return f"server down for {self.failing_s:.0f} s{next_try}: {self.last_error}"
        if self.held_s:
            return f"rate limited, on hold for {self.held_s:.0f} s: {self.held_by}"
        if self.failing_s is not None and self.tries > 1:
            return f"no reply for {self.failing_s:.0f} s, attempt {self.tries}: {self.last_error}"
        if self.oldest_s > _QUIET_S:
            open_now = counted(self.in_flight, "request")
            return f"{open_now} open, the oldest for {self.oldest_s:.0f} s"
        if self.pace is not None and self.waiting:
            return f"rate limited, {self.pace:.2g} requests per second, {self.waiting} waiting"
        return ""


class Monitor:
    """Collects what `Status` reports, at almost no cost while all goes well."""

    def __init__(self, clock: Clock) -> None:
        self.has_replied = False
        self._clock = clock
        self._requests = 0
        self._open: dict[int, float] = {}
        self._tries: dict[int, int] = {}
        self._failing_since: float | None = None
        self._away = False
        self._last_error = ""
        self.failed_in_a_row = 0

    def sent(self) -> tuple[int, float]:
        """A request goes out; gives its number and time."""
        self._requests += 1
        self._open[self._requests] = now = self._clock.now()
        return self._requests, now

    def done(self, number: int) -> None:
        """A request is no longer in flight."""
        del self._open[number]

    def replied(self) -> None:
        """Note a reply, and log that the server is back if it was away."""
        self.has_replied = True
        self.failed_in_a_row = 0
        if self._failing_since is not None:
            if self._away:
                away_s = self._clock.now() - self._failing_since
                logger.warning("the server is up again after %.0f s", away_s)
            self._failing_since, self._away = None, False

    def failed(self, call: int, tries: int, failure: Transient) -> None:
        """Note a failed attempt; log it if the server has just gone away."""
        self.failed_in_a_row += 1
        self._tries[call] = tries + 1
        self._last_error = str(failure)
        if self._failing_since is None:
            self._failing_since = self._clock.now()
        if failure.away and not self._away:
            self._away = True
            logger.warning("the server is down, calls wait for it: %s", failure)

    def forget(self, call: int) -> None:
        """A call is over, however it went."""
        self._tries.pop(call, None)

    def status(self, limits: RequestLimits) -> Status:
        """The state of the client now."""
        now, throttle = self._clock.now(), limits.throttle
        failing = self._failing_since
        return Status(
            in_flight=len(self._open),
            oldest_s=now - next(iter(self._open.values())) if self._open else 0.0,
            waiting=throttle.waiting + limits.concurrency.waiting,
            held_s=throttle.held_s,
            held_by=throttle.held_by,
            pace=throttle.pace,
            failing_s=None if failing is None else now - failing,
            away=self._away,
            tries=max(self._tries.values(), default=1),
            last_error=self._last_error,
            requests=self._requests,
        )
