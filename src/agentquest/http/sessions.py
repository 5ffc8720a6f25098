"""What servers remember of their clients: named sessions, limited in number and in idle time.

No client can push others out by starting many sessions. When the store is full, the address
that holds most makes room: with a finished session, or else with the longest idle one of a
connection that holds more than half of the places. Where hundreds, and half of all, were
started and never used, the oldest of these goes, so that neither players nor newcomers lose
their place to a flood; otherwise the session that was idle for longest. Busy ones always stay.
"""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import Generic, TypeVar

from agentquest.errors import ConfigError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

FLOOD = 500  # so many sessions that were never used, if they are half of all, are a flood
_MAX_EXPIRY_INTERVAL_S = 60.0


class StoreFull(Exception):
    """No place for a new session can fairly be taken from another."""


class Stage(IntEnum):
    """How far a session has come; earlier stages lose their place first."""

    FINISHED = 0
    STARTED = 1
    IN_USE = 2
    BUSY = 3
    """Stays, however long it takes and however full the store is."""


@dataclass
class _Entry(Generic[K, V]):
    key: K
    value: V
    address: str
    connection: str
    stage: Stage
    used_at: float


class SessionStore(Generic[K, V]):
    """Sessions by key. Methods that drop sessions return them, for the caller to close.

    Without `evicts`, a full store refuses newcomers instead of dropping sessions in use.
    """

    def __init__(
        self,
        limit: int,
        idle_s: float,
        *,
        evicts: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if limit < 1:
            raise ConfigError(f"the limit of sessions must be 1 or more, not {limit}")
        if not idle_s > 0:
            raise ConfigError(f"the life of an unused session must be positive, not {idle_s}")
        self.limit = limit
        self._idle_s = idle_s
        self._evicts = evicts
        self._clock = clock
        self._entries: dict[K, _Entry[K, V]] = {}
        # The same entries by stage, longest unused first.
        self._stages: dict[Stage, OrderedDict[K, _Entry[K, V]]] = {s: OrderedDict() for s in Stage}
        # How many sessions each client could lose; busy ones do not count.
        self._addresses: Counter[str] = Counter()
        self._connections: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[K]:
        return iter([key for key in self._entries if key in self])

    def __contains__(self, key: K) -> bool:
        return self._find(key) is not None

    def get(self, key: K) -> V | None:
        """The session, whose idle time starts again; None when it is unknown or expired."""
        entry = self._find(key)
        if entry is None:
            return None
        self._touch(entry)
        return entry.value

    def peek(self, key: K) -> V | None:
        """The session, which does not count as a use of it."""
        entry = self._find(key)
        return None if entry is None else entry.value

    def add(self, key: K, value: V, address: str = "", connection: str = "") -> list[V]:
        """Store a session that was just started; returns those dropped for it.

        A session of the same key is replaced silently. `address` is the client's machine.
        Raises StoreFull.
        """
        self.remove(key)
        dropped = self.make_room()
        self._put(_Entry(key, value, address, connection, Stage.STARTED, self._clock()))
        return dropped

    def make_room(self) -> list[V]:
        """Make sure that one more session fits; returns those dropped. Raises StoreFull."""
        dropped = self.expire()
        if len(self) >= self.limit:
            leaving = self._choose_leaving() if self._evicts else None
            if leaving is None:
                raise StoreFull(f"the limit of {self.limit} sessions is reached")
            dropped.append(self._take(leaving))
        return dropped

    def mark(self, key: K, stage: Stage) -> None:
        """Record how far a session has come, which counts as a use of it."""
        entry = self._find(key)
        if entry is not None:
            if entry.stage is not stage:
                self._take(entry)
                entry.stage = stage
                self._put(entry)
            self._touch(entry)

    def remove(self, key: K) -> V | None:
        """Drop one session; returns it, or None if there is none."""
        entry = self._entries.get(key)
        return None if entry is None else self._take(entry)

    def expire(self) -> list[V]:
        """Drop the sessions that were idle for too long."""
        expired: list[V] = []
        for entries in self._stages.values():
            while entries and self._is_expired(oldest := next(iter(entries.values()))):
                expired.append(self._take(oldest))
        return expired

    def clear(self) -> list[V]:
        """Drop all sessions, when the server stops."""
        return [self._take(entry) for entry in list(self._entries.values())]

    @asynccontextmanager
    async def expire_regularly(
        self, close: Callable[[list[V]], Awaitable[None]] | None = None
    ) -> AsyncIterator[None]:
        """While this is open, idle sessions expire without a request; `close` is given them."""

        async def work() -> None:
            while True:
                await asyncio.sleep(min(self._idle_s / 2, _MAX_EXPIRY_INTERVAL_S))
                expired = self.expire()
                if close is not None and expired:
                    await close(expired)

        task = asyncio.create_task(work())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def _choose_leaving(self) -> _Entry[K, V] | None:
        """The session that loses its place; None if all are busy."""
        if not self._addresses:
            return None
        address = max(self._addresses, key=self._addresses.__getitem__)

        def is_theirs(entry: _Entry[K, V]) -> bool:
            return entry.address == address

        finished = self._find_oldest(Stage.FINISHED, is_theirs)
        if finished is not None:
            return finished
        connection = max(self._connections, key=self._connections.__getitem__)
        if connection and self._connections[connection] * 2 > self.limit:
            return self._find_idle(lambda entry: entry.connection == connection)
        if len(self._stages[Stage.STARTED]) >= max(FLOOD, self.limit // 2):
            started = self._find_oldest(Stage.STARTED, is_theirs)
            if started is not None:
                return started
        return self._find_idle(is_theirs)

    def _find_idle(self, fits: "Callable[[_Entry[K, V]], bool]") -> _Entry[K, V] | None:
        """The fitting session that has been unused for longest and is not busy."""
        oldest = (self._find_oldest(stage, fits) for stage in Stage if stage is not Stage.BUSY)
        return min(filter(None, oldest), key=lambda entry: entry.used_at, default=None)

    def _find_oldest(
        self, stage: Stage, fits: "Callable[[_Entry[K, V]], bool]"
    ) -> _Entry[K, V] | None:
        """The fitting session that has been unused for longest at a stage."""
        return next(filter(fits, self._stages[stage].values()), None)

    def _find(self, key: K) -> _Entry[K, V] | None:
        entry = self._entries.get(key)
        return None if entry is None or self._is_expired(entry) else entry

    def _is_expired(self, entry: _Entry[K, V]) -> bool:
        return entry.stage is not Stage.BUSY and self._clock() - entry.used_at > self._idle_s

    def _touch(self, entry: _Entry[K, V]) -> None:
        entry.used_at = self._clock()
        self._stages[entry.stage].move_to_end(entry.key)

    def _put(self, entry: _Entry[K, V]) -> None:
        self._entries[entry.key] = self._stages[entry.stage][entry.key] = entry
        if entry.stage is not Stage.BUSY:
            self._addresses[entry.address] += 1
            self._connections[entry.connection] += 1

    def _take(self, entry: _Entry[K, V]) -> V:
        del self._entries[entry.key], self._stages[entry.stage][entry.key]
        if entry.stage is not Stage.BUSY:
            _decrement(self._addresses, entry.address)
            _decrement(self._connections, entry.connection)
        return entry.value


def _decrement(counter: Counter[str], client: str) -> None:
    counter[client] -= 1
    if not counter[client]:
        del counter[client]
