"""A small guarded server, in a thread or as a process of its own."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from agentquest.http.connections import ConnectionLimits
from agentquest.http.guard import Names, Rules, guard_app
from agentquest.http.serving import Served, Serving, serve
from agentquest.http.sockets import listen


async def echo(request: Request) -> Response:
    return Response(await request.body(), media_type="application/json")


async def endless(request: Request) -> Response:
    async def ticks():
        while True:
            yield b"tick\n"
            await asyncio.sleep(0.05)

    return StreamingResponse(ticks())


def app() -> ASGIApp:
    return Starlette(
        routes=[
            Route("/", echo, methods=["GET", "POST"]),
            Route("/open", echo, methods=["GET"]),
            Route("/endless", endless, methods=["GET"]),
        ]
    )


@contextmanager
def running(application: ASGIApp, limits: ConnectionLimits | None = None) -> Iterator[Served]:
    served = Served(application, listen())
    serving = Serving([served], limits)
    thread = threading.Thread(target=lambda: asyncio.run(serving.run()), daemon=True)
    url = served.url
    thread.start()
    try:
        yield _At(url)
    finally:
        serving.stop()
        thread.join(60)
        assert not thread.is_alive(), "the server did not end"


class _At:
    def __init__(self, url: str) -> None:
        self.url = url
        self.host, port = url.removeprefix("http://").split(":")
        self.port = int(port)

    def ask(
        self, method: str = "GET", path: str = "/", body: bytes | None = None, **headers: str
    ) -> HTTPResponse:
        connection = HTTPConnection(self.host, self.port, timeout=60)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, names)
        response = connection.getresponse()
        response.content = response.read()
        connection.close()
        return response


def rules(**changes: object) -> Rules:
    return Rules(**({"names": Names("127.0.0.1")} | changes))


def main() -> None:
    """Serve as a process; `HEAD_S` and `GRACE_S` set its limits, and its port is printed."""
    limits = ConnectionLimits(
        head_s=float(os.environ.get("HEAD_S", "600")),
        body_s=600,
        grace_s=float(os.environ.get("GRACE_S", "600")),
    )
    served = Served(guard_app(app(), rules()), listen())
    print(served.url, flush=True)
    serve(served, limits=limits)


def process(**environment: str) -> tuple[subprocess.Popen[str], _At]:
    """The server as a process, and how to ask it."""
    started = subprocess.Popen(
        [sys.executable, __file__],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    return started, _At(started.stdout.readline().strip())


if __name__ == "__main__":
    main()
