"""Serving one agent over HTTP until it is told to stop.

A launched agent also stops when its launcher is gone, however that went: the
launcher holds the other end of its standard input.
"""

import asyncio
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCard
from starlette.applications import Starlette

from agentquest.a2a_agents import ports

_LAST_WORDS_S = 1


@dataclass(frozen=True)
class Place:
    """Where an agent is served; `card_url` is how others reach it, if not by host and port."""

    host: str
    port: int
    card_url: str | None = None

    def take(self) -> socket.socket:
        return ports.take(self.host, self.port)

    def url(self, sock: socket.socket) -> str:
        named = self.card_url or os.environ.get("AGENT_URL")
        if named:
            return named
        return f"http://{self.host}:{sock.getsockname()[1]}/"


def application(
    card: AgentCard, executor: AgentExecutor, close: Callable[[], Awaitable[None]] | None = None
) -> Starlette:
    """Both protocol versions on `/`, the card where both look for it; `close` comes last."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        if close is not None:
            await close()

    handler = DefaultRequestHandler(
        agent_executor=executor, task_store=InMemoryTaskStore(), agent_card=card
    )
    return Starlette(
        routes=[
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        ],
        lifespan=lifespan,
    )


def serve(app: Starlette, sock: socket.socket, launched: bool = False) -> None:
    """Serve until SIGINT, SIGTERM or, for a launched agent, the launcher's end."""
    server = _Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=_LAST_WORDS_S,
            timeout_keep_alive=75,
        )
    )
    if launched:
        threading.Thread(target=_stop_with_launcher, args=(server,), daemon=True).start()
    # Leaving the loop cancels assessments that go on, so that their logs say so.
    asyncio.run(server.serve_until_told(sock))


class _Server(uvicorn.Server):
    """Ends by itself on a signal; the original ends the process, and with it our last words."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def serve_until_told(self, sock: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, self.handle_exit, number, None)
        await self.serve(sockets=[sock])


def _stop_with_launcher(server: uvicorn.Server) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    server.should_exit = True
