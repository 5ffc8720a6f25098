"""Time for tests: clocks that stand still until someone sleeps."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agentquest.llms.clock import Clock

T = TypeVar("T")


class FakeClock:
    """Goes on by what is slept, and remembers for how long that was."""

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


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in which nobody waits: when all are asleep, time jumps to the next waking.

    For many tasks that share a clock, where `FakeClock` would run once for each sleeper.
    """

    def __init__(self) -> None:
        self._jumped = 0.0
        super().__init__()
        really_select = self._selector.select  # type: ignore[attr-defined]

        def select(timeout: float | None) -> object:
            if timeout is None:
                raise RuntimeError("everybody waits and nobody sleeps")
            self._jumped += timeout
            return really_select(0)

        self._selector.select = select  # type: ignore[attr-defined]

    def time(self) -> float:
        return self._jumped

    @property
    def clock(self) -> Clock:
        return Clock(now=self.time, wall=self.time, sleep=asyncio.sleep)

    @classmethod
    def run(cls, scenario: Callable[[Clock], Awaitable[T]]) -> T:
        loop = cls()
        try:
            return loop.run_until_complete(scenario(loop.clock))
        finally:
            loop.close()
