"""One connection, with limits that uvicorn does not have.

A request must be there in time: its head within `head_s`, its body within
`body_s`. A client that sends a byte now and then would otherwise hold a
connection for ever, and a few hundred of them every file the process may open.
When all places are taken, whoever has kept us waiting longest makes room.
"""

import asyncio
import contextlib
import itertools
from dataclasses import dataclass
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
CONNECTION = "connection"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Limits:
    """How many connections at once, and how many seconds each part of one may take.

    `grace_s` is how long requests that are being answered may go on after the server
    was told to stop. Fewer connections are allowed where the process may open few files.
    """

    connections: int = 1000
    head_s: float = 10.0
    body_s: float = 30.0
    keep_alive_s: float = 75.0
    grace_s: float = 2.0


class Connections:
    """All connections of a process's servers."""

    def __init__(self, limit: int) -> None:
        self.limit = max(1, limit)
        self._open: dict[Connection, None] = {}  # oldest first

    def __len__(self) -> int:
        return len(self._open)

    def enter(self, connection: "Connection") -> None:
        """Give a connection a place. When all are taken, one that waits is dropped, or else it."""
        if len(self._open) >= self.limit:
            self._make_room(connection)
        self._open[connection] = None

    def leave(self, connection: "Connection") -> None:
        """Free the place of a connection that is closed."""
        self._open.pop(connection, None)

    def _make_room(self, newcomer: "Connection") -> None:
        half_sent = (each for each in self._open if each.waits_for is not None)
        idle = (each for each in self._open if each.idle)
        leaving = next(half_sent, None) or next(idle, None) or newcomer
        leaving.transport.abort()
        self.leave(leaving)


class Config(uvicorn.Config):
    """What one server is told; `shared` are the connections of all servers of the process."""

    def __init__(
        self, app: ASGIApp, limits: Limits, shared: Connections, websocket_bytes: int = 0
    ) -> None:
        self.limits = limits
        self.shared = shared
        super().__init__(
            app,
            http=Connection,
            ws="wsproto" if websocket_bytes else "none",
            ws_max_size=websocket_bytes,
            ws_per_message_deflate=False,  # a small message could become a very large one
            loop="asyncio",
            lifespan="on",
            # Warnings are about what clients do, and clients must not be able to fill a log.
            log_level="error",
            access_log=False,
            server_header=False,
            # So many are accepted at a time. Some four such batches are under way before the
            # first of them is counted, and there must be files for all of them.
            backlog=max(1, min(64, shared.limit // 16)),
            timeout_keep_alive=max(1, round(limits.keep_alive_s)),
        )


class Connection(H11Protocol):
    """A connection whose requests must arrive in time."""

    def __init__(self, config: Config, *rest: Any, **named: Any) -> None:
        super().__init__(config, *rest, **named)
        # In each request's `state`: tells connections apart, also those that share a port in turn.
        self.app_state = {**self.app_state, CONNECTION: next(_numbers)}
        self._limits = config.limits
        self._shared = config.shared
        self._timer: asyncio.TimerHandle | None = None
        self._timed: object = None  # the part of a request that the timer is for
        self._handed_over = False

    @property
    def waits_for(self) -> str | None:
        """The part of a request that has not arrived: "head", "body" or None."""
        if self.cycle is None or self.cycle.response_complete:
            return "head" if self.timeout_keep_alive_task is None else None
        return "body" if self.cycle.more_body else None

    @property
    def idle(self) -> bool:
        """Between two requests."""
        return self.timeout_keep_alive_task is not None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._shared.enter(self)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._shared.leave(self)
        self._stop_watching()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request, again within the time limits."""
        super().on_response_complete()
        self._watch()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """The connection is a WebSocket's from here on: its application says how long it lasts."""
        self._handed_over = True
        self._shared.leave(self)
        self._stop_watching()
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP, unless an answer is already being sent."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self.transport.abort()
            return
        with contextlib.suppress(h11.LocalProtocolError):
            super().send_400_response(msg)
        self.transport.close()

    def shutdown(self) -> None:
        """The server ends: wait for answers being sent, but not for half a request."""
        if self.waits_for is not None or self.idle:
            self.transport.abort()
        else:
            super().shutdown()

    def _watch(self) -> None:
        """Have the timer run for what is awaited, from when it was first awaited."""
        over = self._handed_over or self.transport.is_closing()
        waits_for = None if over else self.waits_for
        part = None if waits_for is None else (waits_for, id(self.cycle))
        if part == self._timed:
            return
        self._stop_watching()
        if waits_for is not None:
            seconds = self._limits.head_s if waits_for == "head" else self._limits.body_s
            self._timed = part
            self._timer = self.loop.call_later(seconds, self._too_slow)

    def _stop_watching(self) -> None:
        self._timed = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        if self.cycle is None and self.conn.trailing_data[0]:
            self.transport.write(_TIMED_OUT)
            self.transport.close()
        else:
            self.transport.abort()
