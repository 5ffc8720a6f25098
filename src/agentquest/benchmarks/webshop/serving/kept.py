"""What is kept for visitors while they are around: bounded in number and in time.

Nobody can push others out by starting much. Past the limit, what is over goes
first, then what was started and left alone, of the address that holds most; then
what one connection started beyond its share. Where a thousand have been started
within minutes and never used, newcomers are refused. Only then does the longest
unused go.
"""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import Generic, TypeVar

from agentquest.errors import ConfigError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

FLOOD = 1000  # this many sessions that were just started and never used are a flood
LEFT_ALONE_S = 300.0
_PER_PEER = 10  # one part in so many is more than a connection's share
_MOST_BETWEEN_SWEEPS_S = 60.0


class Full(Exception):
    """There is no place for a new session that could fairly be taken from another."""


class Stage(IntEnum):
    """How far somebody has come, and the order in which places are taken away."""

    OVER = 0
    STARTED = 1
    USED = 2


@dataclass
class _Entry(Generic[V]):
    value: V
    address: str
    peer: str
    stage: Stage
    at: float


class Kept(Generic[K, V]):
    """Values by key. `on_drop` is called for each that is dropped."""

    def __init__(
        self,
        limit: int,
        ttl_s: float,
        on_drop: Callable[[K, V], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if limit < 1:
            raise ConfigError(f"the limit of sessions must be 1 or more, not {limit}")
        if not ttl_s > 0:
            raise ConfigError(f"the life of an unused session must be positive, not {ttl_s}")
        self._limit = limit
        self._ttl = ttl_s
        self._on_drop = on_drop
        self._clock = clock
        # By stage, longest unused first.
        self._shelves: dict[Stage, OrderedDict[K, _Entry[V]]] = {s: OrderedDict() for s in Stage}
        self._addresses: Counter[str] = Counter()
        self._peers: Counter[str] = Counter()

    def __len__(self) -> int:
        return sum(map(len, self._shelves.values()))

    def get(self, key: K) -> V | None:
        """The value, which counts as a use of it; None when it is unknown or past its time."""
        entry = self._found(key)
        if entry is None:
            return None
        entry.at = self._clock()
        self._shelves[entry.stage].move_to_end(key)
        return entry.value

    def peek(self, key: K) -> V | None:
        """The value, looked at by somebody else."""
        entry = self._found(key)
        return None if entry is None else entry.value

    def _found(self, key: K) -> _Entry[V] | None:
        for shelf in self._shelves.values():
            entry = shelf.get(key)
            if entry is not None and not self._is_old(entry):
                return entry
        return None

    def put(self, key: K, value: V, address: str = "", peer: str = "") -> list[V]:
        """Keep a value that was just started; returns those that had to go for it.

        `address` is the machine and `peer` the connection that asks. Raises Full.
        """
        self._forget(key)
        dropped = self.sweep()
        if len(self) >= self._limit:
            dropped.append(self._room())
        self._add(key, _Entry(value, address, peer, Stage.STARTED, self._clock()))
        return dropped

    def mark(self, key: K, stage: Stage) -> None:
        """Say how far the one with this key has come."""
        entry = self._forget(key)
        if entry is not None:
            entry.stage, entry.at = stage, self._clock()
            self._add(key, entry)

    def sweep(self) -> list[V]:
        """Let go of what is past its time; returns it."""
        old: list[V] = []
        for shelf in self._shelves.values():
            while shelf and self._is_old(next(iter(shelf.values()))):
                old.append(self._let_go(next(iter(shelf))))
        return old

    def drop_all(self) -> list[V]:
        """Let go of everything, and return it; for when the server stops."""
        keys = [key for shelf in self._shelves.values() for key in shelf]
        return [self._let_go(key) for key in keys]

    @asynccontextmanager
    async def swept(
        self, save: Callable[[list[V]], Awaitable[None]] | None = None
    ) -> AsyncIterator[None]:
        """While this is open, what is past its time goes without anybody asking."""

        async def sweeping() -> None:
            while True:
                await asyncio.sleep(min(self._ttl / 2, _MOST_BETWEEN_SWEEPS_S))
                old = self.sweep()
                if save is not None:
                    await save(old)

        task = asyncio.create_task(sweeping())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def _room(self) -> V:
        """Take a place from somebody of the address that holds most."""
        most = self._addresses.most_common(1)[0][0]
        over, started, used = (self._first(stage, most) for stage in Stage)
        if over is not None:
            return self._let_go(over)
        before = self._clock() - LEFT_ALONE_S
        if started is not None and self._shelves[Stage.STARTED][started].at < before:
            return self._let_go(started)
        flooding = self._started_by_the_busiest()
        if flooding is not None:
            return self._let_go(flooding)
        if len(self._shelves[Stage.STARTED]) >= FLOOD:
            raise Full(f"the limit of {self._limit} sessions is reached")
        candidates = [key for key in (started, used) if key is not None]
        return self._let_go(min(candidates, key=self._last_used))

    def _first(self, stage: Stage, address: str) -> K | None:
        """Who of an address has been unused for longest at a stage."""
        shelf = self._shelves[stage]
        return next((key for key, entry in shelf.items() if entry.address == address), None)

    def _started_by_the_busiest(self) -> K | None:
        """Of a connection that has started much more than its share: its first, never used."""
        peer, count = self._peers.most_common(1)[0]
        if not peer or count * _PER_PEER < self._limit:
            return None
        shelf = self._shelves[Stage.STARTED]
        return next((key for key, entry in shelf.items() if entry.peer == peer), None)

    def _last_used(self, key: K) -> float:
        entry = self._found(key)
        return 0.0 if entry is None else entry.at

    def _add(self, key: K, entry: _Entry[V]) -> None:
        self._shelves[entry.stage][key] = entry
        self._addresses[entry.address] += 1
        self._peers[entry.peer] += 1

    def _forget(self, key: K) -> _Entry[V] | None:
        for shelf in self._shelves.values():
            entry = shelf.pop(key, None)
            if entry is not None:
                for counter, name in ((self._addresses, entry.address), (self._peers, entry.peer)):
                    counter[name] -= 1
                    if not counter[name]:
                        del counter[name]
                return entry
        return None

    def _let_go(self, key: K) -> V:
        entry = self._forget(key)
        assert entry is not None
        if self._on_drop is not None:
            self._on_drop(key, entry.value)
        return entry.value

    def _is_old(self, entry: _Entry[V]) -> bool:
        return self._clock() - entry.at > self._ttl
