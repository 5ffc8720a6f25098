"""Time as the model client sees it, so that waits can be tested without waiting."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """`now` never goes back; `wall` is seconds since 1970, for dates in headers."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class Deadline:
    """The time left for a call. Waiting for our own limits does not use it up."""

    __slots__ = ("_at", "_now")

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._now = clock.now
        self._at = clock.now() + seconds

    @property
    def left(self) -> float:
        """Seconds until time is up; negative when it is."""
        return self._at - self._now()

    def postpone(self, seconds: float) -> None:
        """Add seconds that were not the call's own fault."""
        self._at += seconds
