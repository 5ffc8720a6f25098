"""What servers remember of their clients: named sessions, limited in number and in idle time.

No client can push others out by starting many sessions. When the store is full, the address
that holds most gives up a finished session, or else one that was started and left alone.
After that a connection that started more than its share loses one. Where a thousand
sessions were started within minutes and never used, newcomers are refused; otherwise the
session that was idle for longest goes. Busy sessions always stay.
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

FLOOD = 1000  # this many sessions that were just started and never used are a flood
LEFT_ALONE_S = 300.0
_SHARE = 10  # one connection's share is the limit divided by this
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
class _Entry(Generic[V]):
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
        # By stage, longest unused first.
        self._stages: dict[Stage, OrderedDict[K, _Entry[V]]] = {s: OrderedDict() for s in Stage}
        # How many sessions each client could lose; busy ones do not count.
        self._addresses: Counter[str] = Counter()
        self._connections: Counter[str] = Counter()

    def __len__(self) -> int:
        return sum(map(len, self._stages.values()))

    def __iter__(self) -> Iterator[K]:
        return iter([key for key in self._all_keys() if key in self])

    def __contains__(self, key: K) -> bool:
        return self._find(key) is not None

    def get(self, key: K) -> V | None:
        """The session, whose idle time starts again; None when it is unknown or expired."""
        entry = self._find(key)
        if entry is None:
            return None
        entry.used_at = self._clock()
        self._stages[entry.stage].move_to_end(key)
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
        self._put(key, _Entry(value, address, connection, Stage.STARTED, self._clock()))
        return dropped

    def make_room(self) -> list[V]:
        """Make sure that one more session fits; returns those dropped. Raises StoreFull."""
        dropped = self.expire()
        if len(self) >= self.limit:
            key = self._choose_leaving() if self._evicts else None
            if key is None:
                raise StoreFull(f"the limit of {self.limit} sessions is reached")
            dropped.append(self._take(key).value)
        return dropped

    def mark(self, key: K, stage: Stage) -> None:
        """Record how far a session has come, which counts as a use of it."""
        if self._find(key) is not None:
            entry = self._take(key)
            entry.stage, entry.used_at = stage, self._clock()
            self._put(key, entry)

    def remove(self, key: K) -> V | None:
        """Drop one session; returns it, or None if there is none."""
        held = any(key in entries for entries in self._stages.values())
        return self._take(key).value if held else None

    def expire(self) -> list[V]:
        """Drop the sessions that were idle for too long."""
        expired: list[V] = []
        for stage, entries in self._stages.items():
            if stage is not Stage.BUSY:
                while entries and self._is_expired(next(iter(entries.values()))):
                    expired.append(self._take(next(iter(entries))).value)
        return expired

    def clear(self) -> list[V]:
        """Drop all sessions, when the server stops."""
        return [self._take(key).value for key in self._all_keys()]

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

    def _choose_leaving(self) -> K | None:
        """The session that loses its place; None if a newcomer has to be refused."""
        if not self._addresses:
            return None
        address = max(self._addresses, key=self._addresses.__getitem__)
        finished = self._find_first(Stage.FINISHED, address)
        if finished is not None:
            return finished
        started = self._find_first(Stage.STARTED, address)
        started_ones = self._stages[Stage.STARTED]
        left_alone = self._clock() - LEFT_ALONE_S
        if started is not None and started_ones[started].used_at < left_alone:
            return started
        excess = self._find_excess()
        if excess is not None:
            return excess
        if len(started_ones) >= FLOOD:
            return None
        in_use = self._find_first(Stage.IN_USE, address)
        if started is None or in_use is None:
            return in_use if started is None else started
        used_at = self._stages[Stage.IN_USE][in_use].used_at
        return started if started_ones[started].used_at < used_at else in_use

    def _find_first(self, stage: Stage, address: str) -> K | None:
        """The session of an address that has been unused for longest at a stage."""
        entries = self._stages[stage].items()
        return next((key for key, entry in entries if entry.address == address), None)

    def _find_excess(self) -> K | None:
        """The first never-used session of a connection that has more than its share."""
        connection = max(self._connections, key=self._connections.__getitem__)
        if not connection or self._connections[connection] * _SHARE < self.limit:
            return None
        entries = self._stages[Stage.STARTED].items()
        return next((key for key, entry in entries if entry.connection == connection), None)

    def _all_keys(self) -> list[K]:
        return [key for entries in self._stages.values() for key in entries]

    def _find(self, key: K) -> _Entry[V] | None:
        for entries in self._stages.values():
            entry = entries.get(key)
            if entry is not None:
                return None if self._is_expired(entry) else entry
        return None

    def _is_expired(self, entry: _Entry[V]) -> bool:
        idle = self._clock() - entry.used_at
        return entry.stage is not Stage.BUSY and idle > self._idle_s

    def _put(self, key: K, entry: _Entry[V]) -> None:
        self._stages[entry.stage][key] = entry
        self._count(entry, 1)

    def _take(self, key: K) -> _Entry[V]:
        entry = next(held.pop(key) for held in self._stages.values() if key in held)
        self._count(entry, -1)
        return entry

    def _count(self, entry: _Entry[V], change: int) -> None:
        if entry.stage is Stage.BUSY:
            return
        clients = ((self._addresses, entry.address), (self._connections, entry.connection))
        for counter, client in clients:
            counter[client] += change
            if not counter[client]:
                del counter[client]
