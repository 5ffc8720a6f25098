"""MCP over HTTP ("streamable HTTP"): one caller per MCP session, answers as plain JSON.

A session begins with `initialize` and ends with DELETE, or when it was not used
for a while; both end what it was playing.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agentquest.adapters.json_requests import Said
from agentquest.adapters.mcp_desk import Seat
from agentquest.adapters.mcp_protocol import NOT_JSON, ToolHost, answer_message

SESSION = "Mcp-Session-Id"
_SWEEP_S = 5.0


class Callers:
    """The sessions that are open, no more than `most`, none idle for longer than `idle_s`."""

    def __init__(
        self, make: Callable[[str], tuple[Seat, ToolHost]], most: int, idle_s: float
    ) -> None:
        self._make = make
        self._most = most
        self._idle_s = idle_s
        self._open: dict[str, tuple[Seat, ToolHost]] = {}
        self._used: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._open)

    def begin(self) -> tuple[str, ToolHost] | None:
        """A new session; None when the server is full."""
        if len(self._open) >= self._most:
            return None
        name = secrets.token_urlsafe(16)
        self._open[name] = self._make(name[:8])
        self._used[name] = time.monotonic()
        return name, self._open[name][1]

    def host(self, name: str | None) -> ToolHost | None:
        """The tools of a session, which counts as used now; None if there is no such session."""
        if name is None or name not in self._open:
            return None
        self._used[name] = time.monotonic()
        return self._open[name][1]

    async def end(self, name: str | None) -> bool:
        """End a session and what it was playing; False if there is no such session."""
        found = self._open.pop(name, None) if name is not None else None
        if found is None:
            return False
        self._used.pop(str(name), None)
        await found[0].leave()
        return True

    async def sweep(self) -> None:
        """For ever: end the sessions that nobody uses."""
        while True:
            await asyncio.sleep(min(_SWEEP_S, self._idle_s))
            now = time.monotonic()
            idle = [name for name, used in self._used.items() if now - used > self._idle_s]
            for name in idle:
                await self.end(name)


def mcp_app(callers: Callers, path: str = "/mcp") -> Starlette:
    """The application: MCP at `path`, and `/health`."""

    async def post(request: Request) -> Response:
        try:
            message = json.loads(await request.body())
        except (ValueError, RecursionError):
            return _refused(400, "this is not JSON", NOT_JSON)
        begins = isinstance(message, dict) and message.get("method") == "initialize"
        if begins:
            begun = callers.begin()
            if begun is None:
                return _refused(503, "the server is full: no more sessions can start")
            name, host = begun
        else:
            name = request.headers.get(SESSION, "")
            known = callers.host(name)
            if known is None:
                text = "there is no such session" if name else "start with `initialize`"
                return _refused(404 if name else 400, text)
            host = known
        answer = await answer_message(message, host)
        if answer is None:
            return Response(status_code=202)
        return Said(answer, headers={SESSION: name})

    async def delete(request: Request) -> Response:
        ended = await callers.end(request.headers.get(SESSION))
        return Response(status_code=200) if ended else _refused(404, "there is no such session")

    async def health(request: Request) -> Response:
        return Said({"status": "healthy", "sessions": len(callers)})

    routes = [
        Route(path, post, methods=["POST"]),
        Route(path, delete, methods=["DELETE"]),
        Route("/health", health),
    ]
    return Starlette(routes=routes)


def _refused(status: int, text: str, code: int = -32000) -> Said:
    error: dict[str, Any] = {"code": code, "message": text}
    return Said({"jsonrpc": "2.0", "id": None, "error": error}, status)
