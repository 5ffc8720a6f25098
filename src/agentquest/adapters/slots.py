"""Sessions by number: so many at once, and none that nobody has used for long."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Slots(Generic[T]):
    """Keeps what clients come back for; what is idle goes when room is looked for."""

    def __init__(self, most: int, idle_s: float, clock: Callable[[], float] = time.monotonic):
        self.most = most
        self._idle_s = idle_s
        self._clock = clock
        self._kept: dict[int, T] = {}
        self._used: dict[int, float] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, number: int) -> bool:
        return number in self._kept

    def numbers(self) -> list[int]:
        return list(self._kept)

    def new_number(self) -> int:
        """One that nobody has."""
        while self._next in self._kept:
            self._next += 1
        self._next += 1
        return self._next - 1

    def add(self, number: int, value: T) -> bool:
        """Keep it; False when all places are taken."""
        now = self._clock()
        for idle in [n for n, used in self._used.items() if now - used > self._idle_s]:
            self.pop(idle)
        if len(self._kept) >= self.most:
            return False
        self._kept[number] = value
        self._used[number] = now
        return True

    def get(self, number: int) -> T | None:
        if number in self._kept:
            self._used[number] = self._clock()
        return self._kept.get(number)

    def pop(self, number: int) -> T | None:
        self._used.pop(number, None)
        return self._kept.pop(number, None)
