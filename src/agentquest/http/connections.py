"""Connections with limits that uvicorn does not have.

A request must arrive in time: its head within `head_s`, its body within `body_s`. A client
that sends a byte now and then would otherwise hold a connection for ever, and a few hundred
of them every file the process may open. When all places are taken, the client that has kept
the server waiting longest makes room.

`Connection` stands between asyncio and uvicorn's protocol and sees bytes; the application
that `Connections.watch` wraps sees when a request has arrived and when it is answered.
"""

import asyncio
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

import h11
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from agentquest.http.guard import has_body

_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
CONNECTION = "connection"
"""In each request's `state`: as text, it tells connections apart, also those that share a port
one after the other."""

_LAST_MOMENT_S = 1.0


@dataclass(frozen=True)
class ConnectionLimits:
    """How many connections at once, and how many seconds each part of one may take.

    `grace_s` is how long requests that are being answered may go on after the server
    was told to stop. Fewer connections are allowed where the process may open few files.
    """

    connections: int = 1000
    head_s: float = 10.0
    body_s: float = 30.0
    keep_alive_s: float = 75.0
    grace_s: float = 2.0


class Phase(Enum):
    """What happens on a connection: a request arrives in two parts, and then it is answered."""

    HEAD = "head"
    BODY = "body"
    ANSWER = "answer"
    IDLE = "idle"


class Connection:
    """Passes everything on to uvicorn's protocol, and remembers what the client has yet to send."""

    def __init__(self, number: int, connections: "Connections", settings: dict[str, Any]) -> None:
        settings["app_state"] = {**settings["app_state"], CONNECTION: self}
        self._number = number
        self._connections = connections
        self._protocol = H11Protocol(**settings)
        self._received_early = False
        self.enter(Phase.HEAD)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)

    def __str__(self) -> str:
        return str(self._number)

    def enter(self, phase: Phase) -> None:
        """Note what is awaited from now on; bytes received early are the next request's head."""
        if phase is Phase.IDLE and self._received_early:
            phase = Phase.HEAD
        self._received_early = False
        self.phase = phase
        if phase is Phase.HEAD or phase is Phase.BODY:
            self.since = time.monotonic()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a place for the connection, then hand it to uvicorn."""
        self.transport = cast(asyncio.Transport, transport)
        self._connections.add(self)
        self._protocol.connection_made(self.transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Free the place."""
        self._connections.remove(self)
        self._protocol.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Note that the client has sent something, then hand it to uvicorn."""
        if self.phase is Phase.IDLE:
            self.enter(Phase.HEAD)
        elif self.phase is Phase.ANSWER:
            self._received_early = True
        try:
            self._protocol.data_received(data)
        except h11.LocalProtocolError:  # not HTTP, and an answer is already being sent
            self.transport.abort()


class Connections:
    """All connections of a process's servers."""

    def __init__(self, limits: ConnectionLimits, limit: int) -> None:
        self.limit = max(1, limit)
        self._limits = limits
        self._open: dict[Connection, None] = {}  # oldest first
        self._requests: set[asyncio.Task[Any]] = set()
        self._numbers = itertools.count(1)
        self._ending = False

    def accept(self, **settings: Any) -> Connection:
        """The protocol of a new connection, which uvicorn asks for with its own settings."""
        return Connection(next(self._numbers), self, settings)

    def add(self, connection: Connection) -> None:
        """Give a connection a place. When all are taken, one that waits is dropped, or else it."""
        if len(self._open) >= self.limit:
            waiting = next(self._in_phase(Phase.HEAD, Phase.BODY), None)
            self._drop(waiting or next(self._in_phase(Phase.IDLE), None) or connection)
        self._open[connection] = None

    def remove(self, connection: Connection) -> None:
        """Free the place of a connection that is closed."""
        self._open.pop(connection, None)

    def watch(self, app: ASGIApp) -> ASGIApp:
        """The application, whose requests tell their connections how far they are."""

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await app(scope, receive, send)
                return
            task = cast("asyncio.Task[Any]", asyncio.current_task())
            self._requests.add(task)
            try:
                await self._run_request(app, scope, receive, send)
            finally:
                self._requests.discard(task)

        return watched

    async def _run_request(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """A WebSocket is a request too: its application says how long the answer lasts."""
        connection: Connection = scope["state"][CONNECTION]
        is_awaited = has_body(Headers(scope=scope))

        async def receive_part() -> Message:
            message = await receive()
            if not message.get("more_body", False):
                connection.enter(Phase.ANSWER)
            return message

        connection.enter(Phase.BODY if is_awaited else Phase.ANSWER)
        try:
            await app(scope, receive_part if is_awaited else receive, send)
        except asyncio.CancelledError:
            if not self._ending:  # our own end is not an error to report
                raise
        finally:
            connection.enter(Phase.IDLE)
            if scope["type"] == "websocket":  # the protocol that took it over told us nothing
                self.remove(connection)

    def drop_slow(self) -> None:
        """End the connections whose requests have not arrived in time."""
        now = time.monotonic()
        for connection in list(self._in_phase(Phase.HEAD, Phase.BODY)):
            in_head = connection.phase is Phase.HEAD
            if now - connection.since > (self._limits.head_s if in_head else self._limits.body_s):
                connection.transport.write(_TIMED_OUT)
                connection.transport.close()
                self.remove(connection)

    def drop_waiting(self) -> None:
        """End the connections on which nothing is being answered."""
        for connection in list(self._in_phase(Phase.HEAD, Phase.BODY, Phase.IDLE)):
            self._drop(connection)

    async def end(self) -> bool:
        """End everything; False if an application would not be cancelled."""
        self._ending = True
        for connection in list(self._open):
            self._drop(connection)
        await asyncio.sleep(0)  # uvicorn learns that the connections are lost
        requests = set(self._requests)
        for task in requests:
            task.cancel()
        if not requests:
            return True
        _, pending = await asyncio.wait(requests, timeout=_LAST_MOMENT_S)
        return not pending

    def _in_phase(self, *phases: Phase) -> Iterator[Connection]:
        return (connection for connection in self._open if connection.phase in phases)

    def _drop(self, connection: Connection) -> None:
        connection.transport.abort()
        self.remove(connection)
