"""Serving one agent over HTTP until it is told to stop: A2A on top of `agentquest.http`.

A launched agent also stops when its launcher is gone, however that went: the
launcher holds the other end of its standard input.
"""

import asyncio
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import urlsplit

from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.types import AgentCard
from starlette.applications import Starlette
from starlette.types import ASGIApp

from agentquest.a2a.card_reading import CARD_PATHS
from agentquest.a2a.task_store import AskerContexts, OwnedTaskStore
from agentquest.http.connections import Limits
from agentquest.http.guard import Names, Refused, Rules, guard_app, host_in
from agentquest.http.serving import Served, Serving
from agentquest.http.sockets import LOOPBACK, listen

MAX_BODY = 256 * 1024
_LIMITS = Limits(grace_s=1.0)
ANY = "*"


@dataclass(frozen=True)
class Place:
    """Where an agent is served, and for whom.

    `card_url` is how others reach it, if not by host and port. It answers to requests for the
    names of its address and card, and `allowed_hosts`; `*` means any. `token` is what a
    requester's `Authorization: Bearer` must hold.
    """

    host: str
    port: int
    card_url: str | None = None
    allowed_hosts: Collection[str] = ()
    token: str | None = field(default=None, repr=False)

    def listen(self) -> socket.socket:
        """Bind the port; raises PortInUse if it is taken."""
        return listen(self.host, self.port)

    def url(self, sock: socket.socket) -> str:
        """The address on the card: one that other machines can reach, where any can."""
        named = self.card_url or os.environ.get("AGENT_URL")
        if named:
            return named
        host = self.host
        if ip_address(sock.getsockname()[0]).is_unspecified:
            host = _outward_address()
        return f"http://{f'[{host}]' if ':' in host else host}:{sock.getsockname()[1]}/"

    def rules(self, sock: socket.socket) -> Rules:
        """What is asked of requests: the right name and token, JSON, and a body within bounds."""
        if ANY in self.allowed_hosts:
            names: Names = _AnyName(self.host)
        else:
            on_card = urlsplit(self.url(sock)).hostname or ""
            names = Names(self.host, [on_card, *self.allowed_hosts])
        return Rules(
            names, max_body=MAX_BODY, json_only=True, token=self.token, open_paths=CARD_PATHS
        )


class _AnyName(Names):
    """For agents behind a gateway, which asks by names of its own."""

    def check_host(self, headers: Mapping[str, str]) -> None:
        if host_in(headers.get("host", "")) is None:
            raise Refused(400, "the request has no valid Host header")


class Lifecycle(Protocol):
    """What an application holds while it is served."""

    async def open(self) -> None:
        """Called once, before the first request."""
        ...

    async def close(self) -> None:
        """Called once, when the server stops."""
        ...


def application(
    card: AgentCard, executor: AgentExecutor, held: Lifecycle | None = None
) -> Starlette:
    """Both protocol versions on `/`, the card where any version looks for it."""
    handler = DefaultRequestHandler(
        agent_executor=executor, task_store=OwnedTaskStore(), agent_card=card
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if held is not None:
            await held.open()
        yield
        # Cancels assessments that go on, so that their documents say so.
        await handler.aclose()
        if held is not None:
            await held.close()

    cards = [create_agent_card_routes(card, card_url=path)[0] for path in CARD_PATHS]
    calls = create_jsonrpc_routes(
        handler, "/", context_builder=AskerContexts(), enable_v0_3_compat=True
    )
    return Starlette(routes=[*cards, *calls], lifespan=lifespan)


def serve(app: ASGIApp, place: Place, sock: socket.socket, launched: bool = False) -> None:
    """Serve until SIGINT, SIGTERM or, for a launched agent, the launcher's end."""
    serving = Serving([Served(guard_app(app, place.rules(sock)), sock)], _LIMITS)
    if launched:
        threading.Thread(target=_stop_with_launcher, args=(serving,), daemon=True).start()
    asyncio.run(serving.run())
    serving.exit_by_signal()


def _outward_address() -> str:
    """This machine's address on the way out; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address reserved for examples
            return str(probe.getsockname()[0])
        except OSError:
            return LOOPBACK


def _stop_with_launcher(serving: Serving) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    serving.stop()
