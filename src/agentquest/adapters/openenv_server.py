"""An OpenEnv server of any benchmark, without OpenEnv: its WebSocket and HTTP wire format.

    agentquest serve openenv alfworld --max-sessions 2000

A session is a WebSocket connection to `/ws`. All share one benchmark, so that
thousands fit into one process. The stateless HTTP routes play in an environment
of their own each time, as OpenEnv's do.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from agentquest.adapters import openenv_schemas as schemas
from agentquest.adapters.json_requests import AsciiJson
from agentquest.adapters.openenv_tasks import TaskApi
from agentquest.adapters.openenv_wire import (
    NOT_JSON,
    Mistake,
    WireSession,
    answer_rpc,
    error_message,
    rpc_error,
)
from agentquest.errors import AgentQuestError
from agentquest.lib import Arena

_GONE = (WebSocketDisconnect, RuntimeError)  # Starlette's words for a client that has left


@dataclass(frozen=True)
class Terms:
    """What clients are given: sessions at once, seconds of silence, steps, plans."""

    max_sessions: int = 1000
    idle_s: float = 3600.0
    max_steps: int | None = 50
    oracle: bool = False


class OpenEnvServer:
    """All sessions of one benchmark."""

    def __init__(self, arena: Arena, terms: Terms) -> None:
        arena.tasks()  # what all sessions share is opened before the first comes
        self.arena = arena
        self.terms = terms
        self.active = 0

    def session(self) -> WireSession:
        """A new session, which shares the benchmark with all others."""
        return WireSession(self.arena, self.terms.max_steps, self.terms.oracle)

    def app(self) -> Starlette:
        """The application with OpenEnv's routes and WebSockets."""
        tasks = TaskApi(self.arena)
        get: dict[str, Any] = {
            "/health": self._health,
            "/schema": self._schema,
            "/metadata": self._metadata,
            "/state": self._state,
            "/list_environments": tasks.environments,
            "/{env}/splits": tasks.splits,
        }
        post: dict[str, Any] = {
            "/reset": self._reset,
            "/step": self._step,
            "/mcp": self._mcp,
            "/{env}/tasks": tasks.tasks,
            "/{env}/num_tasks": tasks.num_tasks,
            "/{env}/task": tasks.task,
            "/{env}/task_range": tasks.task_range,
        }
        listed = {path: ["GET"] for path in get} | {path: ["POST"] for path in post}
        document = schemas.openapi(self.arena.benchmark, listed)

        async def openapi(request: Request) -> Response:
            return AsciiJson(document)

        routes: list[BaseRoute] = [Route("/openapi.json", openapi)]
        routes += [Route(path, run) for path, run in get.items()]
        routes += [Route(path, run, methods=["POST"]) for path, run in post.items()]
        routes += [WebSocketRoute("/ws", self._serve), WebSocketRoute("/mcp", self._serve_mcp)]
        return Starlette(routes=routes)

    async def _serve(self, websocket: WebSocket) -> None:
        wire = self.session()
        await self._converse(websocket, wire, wire.answer)

    async def _serve_mcp(self, websocket: WebSocket) -> None:
        wire = self.session()
        wire.reset({})

        def answer(text: str | None) -> Any:
            try:
                message = json.loads(text or "")
            except (ValueError, RecursionError):
                return rpc_error(None, NOT_JSON, "this is not JSON")
            return answer_rpc(message, wire.session) or {}

        await self._converse(websocket, wire, answer)

    async def _converse(self, websocket: WebSocket, wire: WireSession, answer: Any) -> None:
        """Answer one client's messages until either has enough."""
        await websocket.accept()
        most = self.terms.max_sessions
        if self.active >= most:
            text = f"all {most} sessions are in use"
            counts = {"active_sessions": self.active, "max_sessions": most}
            await self._refuse(websocket, error_message("CAPACITY_REACHED", text, **counts))
            return
        self.active += 1
        try:
            while True:
                try:
                    message = await asyncio.wait_for(websocket.receive(), self.terms.idle_s)
                except asyncio.TimeoutError:
                    text = f"the session was idle for {self.terms.idle_s:g} s"
                    await self._refuse(websocket, error_message("SESSION_ERROR", text))
                    return
                if message["type"] == "websocket.disconnect":
                    return
                reply = answer(message.get("text"))
                if reply is None:
                    await websocket.close()
                    return
                if reply:
                    await websocket.send_text(json.dumps(reply))
        except _GONE:
            return
        finally:
            self.active -= 1
            wire.session.close()

    async def _refuse(self, websocket: WebSocket, message: dict[str, Any]) -> None:
        try:
            await websocket.send_text(json.dumps(message))
            await websocket.close(code=1013)
        except _GONE:
            return

    async def _health(self, request: Request) -> Response:
        return AsciiJson({"status": "healthy"})

    async def _schema(self, request: Request) -> Response:
        return AsciiJson(schemas.schemas())

    async def _metadata(self, request: Request) -> Response:
        return AsciiJson(schemas.metadata(self.arena.benchmark))

    async def _state(self, request: Request) -> Response:
        return AsciiJson(self.session().state())

    async def _reset(self, request: Request) -> Response:
        return await self._once(request, lambda wire, data: wire.reset(data))

    async def _step(self, request: Request) -> Response:
        def play(wire: WireSession, data: dict[str, Any]) -> dict[str, Any]:
            action = data.get("action")
            if not isinstance(action, dict):
                raise Mistake("VALIDATION_ERROR", "send {action: {command: text}}")
            wire.reset({"seed": 0})
            return wire.step(action)

        return await self._once(request, play)

    async def _once(self, request: Request, play: Any) -> Response:
        """Play in a fresh environment that is forgotten afterwards."""
        try:
            data = json.loads(await request.body() or b"{}")
            if not isinstance(data, dict):
                raise Mistake("VALIDATION_ERROR", "send a JSON object")
            return AsciiJson(play(self.session(), data))
        except (ValueError, RecursionError):
            return AsciiJson({"detail": "this is not JSON"}, 400)
        except (Mistake, AgentQuestError) as error:
            return AsciiJson({"detail": str(error)}, 422)

    async def _mcp(self, request: Request) -> Response:
        wire = self.session()
        try:
            message = json.loads(await request.body())
        except (ValueError, RecursionError):
            message = None
        answer = answer_rpc(message, wire.session)
        return AsciiJson(answer) if answer is not None else Response(status_code=202)
