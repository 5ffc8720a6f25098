"""A clock that stands still until someone sleeps, and remembers for how long they did."""

import asyncio

from agentquest.llms.clock import Clock


class FakeClock:
    def __init__(self, wall: float = 1_700_000_000.0) -> None:
        self.time = 0.0
        self.sleeps: list[float] = []
        self._wall = wall

    def now(self) -> float:
        return self.time

    def wall(self) -> float:
        return self._wall + self.time

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)

    @property
    def clock(self) -> Clock:
        return Clock(now=self.now, wall=self.wall, sleep=self.sleep)
