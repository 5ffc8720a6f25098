"""Running applications on their sockets until told to stop.

One event loop for all of them. A signal, or `stop` from any thread, ends them: nothing new is
accepted, half-sent requests are dropped, answers under way get a moment, applications close
what they hold, and nothing is printed. A second signal does not wait.
"""

import asyncio
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from agentquest.errors import UserError
from agentquest.http.connections import ConnectionLimits, Connections
from agentquest.http.sockets import BACKLOG, url_of
from agentquest.platform import count_files, handle_signals, keep_handlers, stop_signals

_POLL_S = 0.05


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


def serve(*served: Served, limits: ConnectionLimits | None = None) -> None:
    """Answer until a signal asks to stop."""
    Serving(served, limits).run_to_end()


class Serving:
    """Servers that start and end together.

    `hears_signals`: signals stop them; not where the caller listens for these itself.
    """

    def __init__(
        self,
        served: Sequence[Served],
        limits: ConnectionLimits | None = None,
        hears_signals: bool = True,
    ) -> None:
        self._hears_signals = hears_signals
        self._limits = limits or ConnectionLimits()
        # As many files are left for everything else.
        most = min(self._limits.connections, max(4, count_files() // 2))
        self.connections = Connections(self._limits, most)
        self._servers = [uvicorn.Server(self._configure(each)) for each in served]
        self._sockets = [each.socket for each in served]
        self._signal: signal.Signals | None = None
        self._stops = 0

    @property
    def started(self) -> bool:
        """Whether every server accepts connections."""
        return all(server.started for server in self._servers)

    def stop(self) -> None:
        """End soon; called twice, at once. Safe from any thread and from signal handlers."""
        self._stops += 1

    def run_to_end(self, resources: AbstractAsyncContextManager[None] | None = None) -> None:
        """Answer until a signal asks to stop; `resources` are open meanwhile. Signals are heard
        before there is an event loop, because one that is interrupted while it is made complains.
        """

        async def run() -> None:
            async with resources or nullcontext():
                await self.run()

        with keep_handlers():
            for each in stop_signals():
                signal.signal(each, self._receive_signal)
            asyncio.run(run())
        self.exit_by_signal()

    def exit_by_signal(self) -> None:
        """End the process as shells expect it of one that a signal ended: 130 after Ctrl-C."""
        if self._signal is not None:
            raise SystemExit(128 + self._signal)

    async def run(self) -> None:
        """Answer until stopped; cancelling this stops too, and one server's end is all servers'."""
        supervising = asyncio.create_task(self._supervise())
        tasks = [
            asyncio.create_task(_serve(server, sock))
            for server, sock in zip(self._servers, self._sockets, strict=True)
        ]
        try:
            numbers = stop_signals() if self._hears_signals else ()
            with handle_signals(numbers, self._receive_signal):
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._stops = self._stops or 1
            results = await asyncio.gather(*tasks, return_exceptions=True)
            supervising.cancel()
            for sock in self._sockets:
                sock.close()
        for result in results:
            if isinstance(result, BaseException):
                raise result

    def _configure(self, served: Served) -> uvicorn.Config:
        connections = self.connections
        return uvicorn.Config(
            connections.watch(served.app),
            http=cast(Any, connections.accept),
            ws="wsproto" if served.websocket_bytes else "none",
            ws_max_size=served.websocket_bytes,
            ws_per_message_deflate=False,  # a small message could become a very large one
            loop="asyncio",
            lifespan="on",
            # Warnings are about what clients do, and clients must not be able to fill a log.
            log_level="error",
            log_config=None,  # errors go where all warnings of the program go
            access_log=False,
            server_header=False,
            # So many are accepted at a time. Some four such batches are under way before the
            # first of them is counted, and there must be files for all of them.
            backlog=max(1, min(64, connections.limit // 16)),
            timeout_keep_alive=max(1, round(self._limits.keep_alive_s)),
        )

    def _receive_signal(self, number: int, frame: FrameType | None = None) -> None:
        self._signal = signal.Signals(number)
        self.stop()

    async def _supervise(self) -> None:
        """Enforce time limits; once stopped, wait for answers under way and for nothing else."""
        while not self._stops:
            self.connections.drop_slow()
            await asyncio.sleep(_POLL_S)
        for server in self._servers:
            server.should_exit = True
        end_at = time.monotonic() + self._limits.grace_s
        while self._stops < 2 and time.monotonic() < end_at:
            self.connections.drop_waiting()
            await asyncio.sleep(_POLL_S)
        if not await self.connections.end():
            for server in self._servers:
                server.force_exit = True


async def _serve(server: uvicorn.Server, sock: socket.socket) -> None:
    """What `uvicorn.Server.serve` does, without its signal handlers."""
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    with suppress(SystemExit):
        await server.startup(sockets=[sock])
    if not server.started:  # the log says why
        raise UserError("the server could not start")
    sock.listen(BACKLOG)  # asyncio lets no more wait than it accepts at a time
    await server.main_loop()
    await server.shutdown(sockets=[sock])
