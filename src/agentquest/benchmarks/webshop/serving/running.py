"""Running the applications: sockets bound first, one event loop, an orderly end."""

import asyncio
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from starlette.applications import Starlette

from agentquest.errors import UserError

BACKLOG = 2048
GRACE_S = 5


@dataclass(frozen=True)
class Listening:
    """An application and the socket it answers on."""

    app: Starlette
    socket: socket.socket

    @property
    def url(self) -> str:
        host, port = self.socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def listen(app: Starlette, host: str, port: int) -> Listening:
    """Bind a port (0: any free one), or say why that cannot be."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        bound = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"cannot listen on {host} port {port}: {reason}") from error
    bound.setblocking(False)
    return Listening(app, bound)


class _Server(uvicorn.Server):
    """Leaves signals alone: they are for all servers of the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(listening: Sequence[Listening]) -> None:
    """Answer until a signal asks to stop; a second one stops at once."""
    servers = [_Server(_config(each.app)) for each in listening]

    def stop() -> None:
        for server in servers:
            server.force_exit = server.should_exit
            server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    await asyncio.gather(
        *(
            server.serve(sockets=[each.socket])
            for server, each in zip(servers, listening, strict=True)
        )
    )


def _config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="on",
        ws="none",
        backlog=BACKLOG,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
