"""Sessions by number: so many at once, and none that nobody has used for long."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Slots(Generic[T]):
    """Keeps what clients come back for; what is idle goes when room is looked for.

    `freed` is told of everything that goes, however it does.
    """

    def __init__(
        self,
        most: int,
        idle_s: float,
        freed: Callable[[T], object] = lambda value: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most = most
        self._idle_s = idle_s
        self._freed = freed
        self._clock = clock
        self._kept: dict[int, T] = {}
        self._used: dict[int, float] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, number: int) -> bool:
        return number in self._kept

    def numbers(self) -> list[int]:
        """The numbers in use, oldest first."""
        return list(self._kept)

    def has_room(self) -> bool:
        """Whether one more can be kept; the idle ones are let go first."""
        now = self._clock()
        for idle in [n for n, used in self._used.items() if now - used > self._idle_s]:
            self.free(idle)
        return len(self._kept) < self.most

    def add(self, value: T, number: int | None = None) -> int:
        """Keep it, under a number that nobody has; ask for room first."""
        while number is None or number in self._kept:
            number, self._next = self._next, self._next + 1
        self._kept[number] = value
        self._used[number] = self._clock()
        return number

    def get(self, number: int) -> T | None:
        """What is kept under a number, which counts as use; None if there is nothing."""
        if number in self._kept:
            self._used[number] = self._clock()
        return self._kept.get(number)

    def free(self, number: int) -> bool:
        """Let go of one; False if there is none."""
        if number not in self._kept:
            return False
        del self._used[number]
        self._freed(self._kept.pop(number))
        return True
