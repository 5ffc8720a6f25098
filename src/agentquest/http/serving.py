"""Running applications on their sockets until told to stop.

One event loop for all of them. SIGINT or SIGTERM, or `stop` from any thread,
ends them: nothing new is accepted, half-sent requests are dropped, answers
under way get a moment, applications close what they hold, and nothing is
printed. A second signal does not wait.
"""

import asyncio
import errno
import logging
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from agentquest.errors import UserError
from agentquest.http.connections import Config, Connections, Limits
from agentquest.http.sockets import BACKLOG, url_of

_log = logging.getLogger(__name__)
_NO_MORE_FILES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_SAID_EVERY_S = 60.0
_LAST_MOMENT_S = 1.0
_POLL_S = 0.02


@dataclass(frozen=True)
class Served:
    """An application and the socket it answers on.

    `websocket_bytes` is the longest WebSocket message that it takes; 0: it speaks none.
    """

    app: ASGIApp
    socket: socket.socket
    websocket_bytes: int = 0

    @property
    def url(self) -> str:
        """The address to open, with the port that was really taken."""
        return url_of(self.socket)


def serve(*served: Served, limits: Limits | None = None) -> None:
    """Answer until a signal asks to stop."""
    serving = Serving(served, limits)
    asyncio.run(serving.run())
    serving.leave_as_told()


class Serving:
    """Servers that start and end together."""

    def __init__(self, served: Sequence[Served], limits: Limits | None = None) -> None:
        limits = limits or Limits()
        self.connections = Connections(min(limits.connections, _files_to_spare()))
        self._servers = [
            _Server(Config(each.app, limits, self.connections, each.websocket_bytes))
            for each in served
        ]
        self._sockets = [each.socket for each in served]
        self._signal: signal.Signals | None = None

    @property
    def started(self) -> bool:
        """Whether every server accepts connections."""
        return all(server.started for server in self._servers)

    def stop(self) -> None:
        """End soon; called twice, at once. Safe from any thread and from signal handlers."""
        for server in self._servers:
            server.force_exit = server.should_exit
        self._end()

    def leave_as_told(self) -> None:
        """End the process as shells expect it of one that a signal ended: 130 after Ctrl-C."""
        if self._signal is not None:
            raise SystemExit(128 + self._signal)

    def _received(self, number: signal.Signals) -> None:
        self._signal = number
        self.stop()

    def _end(self) -> None:
        for server in self._servers:
            server.should_exit = True

    async def run(self) -> None:
        """Answer until stopped; cancelling this stops too, and one server's end is all servers'."""
        loop = asyncio.get_running_loop()
        before = loop.get_exception_handler()
        loop.set_exception_handler(_QuietAboutFiles(before))
        tasks = [
            asyncio.create_task(server.serve(sockets=[sock]))
            for server, sock in zip(self._servers, self._sockets, strict=True)
        ]
        try:
            with _signals(loop, self._received):
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._end()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            loop.set_exception_handler(before)
            for sock in self._sockets:
                sock.close()
        for result in results:
            if isinstance(result, BaseException):
                raise result


class _Server(uvicorn.Server):
    """Leaves signals to `Serving`, and ends without waiting for what will not come."""

    def __init__(self, config: Config) -> None:
        config.app = self._ends_quietly(config.app)
        self._limits = config.limits
        super().__init__(config)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit as error:  # the log says what went wrong
            raise UserError("the server could not start") from error
        for sock in sockets or []:
            sock.listen(BACKLOG)  # asyncio lets no more wait than it accepts at a time

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        for _ in range(round(self._limits.grace_s / _POLL_S)):
            if self.force_exit or not (self.server_state.connections or self.server_state.tasks):
                break
            await asyncio.sleep(_POLL_S)
        await self._end_the_rest()
        await self.lifespan.shutdown()

    async def _end_the_rest(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # connections learn that they are lost
        tasks = set(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_LAST_MOMENT_S)

    def _ends_quietly(self, app: Any) -> ASGIApp:
        """The application; being cancelled by our own end is not an error to report."""

        async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                await app(scope, receive, send)
            except asyncio.CancelledError:
                if not self.should_exit or scope["type"] != "http":
                    raise

        return wrapped


class _QuietAboutFiles:
    """Says once a minute that no connection can be accepted; asyncio says it at each attempt."""

    def __init__(self, otherwise: Any) -> None:
        self._otherwise = otherwise
        self._said = -_SAID_EVERY_S

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _NO_MORE_FILES and "socket" in context:
            if time.monotonic() - self._said >= _SAID_EVERY_S:
                self._said = time.monotonic()
                _log.warning("connections wait: %s", error.strerror)
        elif self._otherwise is not None:
            self._otherwise(loop, context)
        else:
            loop.default_exception_handler(context)


@contextmanager
def _signals(loop: asyncio.AbstractEventLoop, received: Any) -> Iterator[None]:
    """SIGINT and SIGTERM call `received`, where this thread and system can have that."""
    taken = []
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, received, number)
            taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            loop.remove_signal_handler(number)


def _files_to_spare() -> int:
    """How many connections fit the limit of open files, with as many left for everything else."""
    try:
        import resource
    except ImportError:  # a system without such a limit
        return 1 << 20
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if soft == resource.RLIM_INFINITY else max(4, soft // 2)
