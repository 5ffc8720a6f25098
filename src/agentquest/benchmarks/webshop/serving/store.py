"""What is kept for visitors while they are around: bounded in number and in time."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from agentquest.errors import ConfigError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentlyUsed(Generic[K, V]):
    """Values by key; those unused for `ttl_s`, or longest unused past `limit`, can be dropped."""

    def __init__(
        self, limit: int, ttl_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if limit < 1:
            raise ConfigError(f"the limit of sessions must be 1 or more, not {limit}")
        if not ttl_s > 0:
            raise ConfigError(f"the life of an unused session must be positive, not {ttl_s}")
        self._limit = limit
        self._ttl = ttl_s
        self._clock = clock
        self._entries: OrderedDict[K, tuple[float, V]] = OrderedDict()  # longest unused first

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """The value, which counts as a use of it; None when it is unknown or past its time."""
        entry = self._entries.get(key)
        if entry is None or self._is_old(entry[0]):
            return None
        self.put(key, entry[1])
        return entry[1]

    def put(self, key: K, value: V) -> None:
        self._entries[key] = (self._clock(), value)
        self._entries.move_to_end(key)

    def pop(self, key: K) -> V | None:
        entry = self._entries.pop(key, None)
        return None if entry is None else entry[1]

    def drop(self) -> list[V]:
        """Let go of what is too old or too much; returns it."""
        dropped = []
        while self._entries:
            used, value = next(iter(self._entries.values()))
            if len(self._entries) <= self._limit and not self._is_old(used):
                break
            self._entries.popitem(last=False)
            dropped.append(value)
        return dropped

    def drop_all(self) -> list[V]:
        values = [value for _, value in self._entries.values()]
        self._entries.clear()
        return values

    def _is_old(self, used: float) -> bool:
        return self._clock() - used > self._ttl
