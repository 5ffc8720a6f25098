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

from agentquest.adapters.json_requests import AsciiJson
from agentquest.adapters.openenv_wire import (
    NOT_JSON,
    Mistake,
    WireSession,
    answer_rpc,
    error_message,
    rpc_error,
)
from agentquest.errors import AgentQuestError, UserError
from agentquest.http.guard import Refused
from agentquest.lib import Arena, Benchmark, Task
from agentquest.version import __version__

Json = dict[str, Any]
MOST_TASKS = 20_000
_METADATA: Json = {"type": "object", "additionalProperties": True, "default": {}}
_TEXT: Json = {"type": "string"}
_FLAG: Json = {"type": "boolean"}
_COMMANDS: Json = {"type": "array", "items": _TEXT}
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
        get: Json = {
            "/health": self._health,
            "/schema": self._schema,
            "/metadata": self._metadata,
            "/state": self._state,
            "/list_environments": tasks.environments,
            "/{env}/splits": tasks.splits,
        }
        post: Json = {
            "/reset": self._reset,
            "/step": self._step,
            "/mcp": self._mcp,
            "/{env}/tasks": tasks.tasks,
            "/{env}/num_tasks": tasks.num_tasks,
            "/{env}/task": tasks.task,
            "/{env}/task_range": tasks.task_range,
        }
        listed = {path: ["GET"] for path in get} | {path: ["POST"] for path in post}
        document = _describe_routes(self.arena.benchmark, listed)

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

    async def _refuse(self, websocket: WebSocket, message: Json) -> None:
        try:
            await websocket.send_text(json.dumps(message))
            await websocket.close(code=1013)
        except _GONE:
            return

    async def _health(self, request: Request) -> Response:
        return AsciiJson({"status": "healthy"})

    async def _schema(self, request: Request) -> Response:
        return AsciiJson(_describe_schemas())

    async def _metadata(self, request: Request) -> Response:
        return AsciiJson(_describe_benchmark(self.arena.benchmark))

    async def _state(self, request: Request) -> Response:
        return AsciiJson(self.session().state())

    async def _reset(self, request: Request) -> Response:
        return await self._once(request, lambda wire, data: wire.reset(data))

    async def _step(self, request: Request) -> Response:
        def play(wire: WireSession, data: Json) -> Json:
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


class TaskApi:
    """The routes under the environment's name."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def environments(self, request: Request) -> Response:
        """The one environment that is served."""
        return AsciiJson([self._arena.benchmark.name])

    async def splits(self, request: Request) -> Response:
        """The splits of the environment."""
        return await self._answer(request, self._splits)

    async def tasks(self, request: Request) -> Response:
        """All tasks of a split; refused where they are too many for one answer."""
        return await self._answer(request, self._tasks)

    async def num_tasks(self, request: Request) -> Response:
        """How many tasks a split has."""
        return await self._answer(request, self._num_tasks)

    async def task(self, request: Request) -> Response:
        """One task of a split, by its index."""
        return await self._answer(request, self._task)

    async def task_range(self, request: Request) -> Response:
        """The tasks of a split from `start` up to, but without, `stop`."""
        return await self._answer(request, self._task_range)

    def _splits(self, data: Json) -> Any:
        names = self._arena.benchmark.splits
        return [{"name": name, "type": _split_type(name)} for name in names]

    def _tasks(self, data: Json) -> Any:
        split = _split(data)
        found = self._list_tasks(split, 0, len(self._arena.tasks(split)))
        return {"tasks": found, "env_name": self._arena.benchmark.name}

    def _num_tasks(self, data: Json) -> Any:
        return {"num_tasks": len(self._arena.tasks(_split(data)))}

    def _task(self, data: Json) -> Any:
        split, index = _split(data), _number(data, "index")
        return {"task": _describe_task(self._arena.task(index, split), index)}

    def _task_range(self, data: Json) -> Any:
        split = _split(data)
        total = len(self._arena.tasks(split))
        start = _number(data, "start") if data.get("start") is not None else 0
        stop = _number(data, "stop") if data.get("stop") is not None else total
        if not 0 <= start <= stop:
            raise Refused(400, f"{start} to {stop} is not a range of tasks")
        return {"tasks": self._list_tasks(split, start, min(stop, total))}

    def _list_tasks(self, split: str, start: int, stop: int) -> list[Json]:
        if stop - start > MOST_TASKS:
            raise Refused(400, f"ask for at most {MOST_TASKS} tasks, with task_range")
        tasks = self._arena.tasks(split)
        return [_describe_task(tasks[index], index) for index in range(start, stop)]

    async def _answer(self, request: Request, work: Any) -> Response:
        name = self._arena.benchmark.name
        if request.path_params["env"] != name:
            return AsciiJson({"detail": f"unknown environment; this server has: {name}"}, 404)
        try:
            data = json.loads(await request.body() or b"{}")
            if not isinstance(data, dict):
                raise Refused(400, "send a JSON object")
            return AsciiJson(work(data))
        except (ValueError, RecursionError):
            return AsciiJson({"detail": "this is not JSON"}, 400)
        except UserError as error:
            return AsciiJson({"detail": str(error)}, 400)
        except Refused as refused:
            return AsciiJson({"detail": str(refused)}, refused.status)


def _describe_task(task: Task, index: int) -> Json:
    return {"id": task.id, "task_type": task.task_type, "split": task.split, "index": index}


def _split(data: Json) -> str:
    split = data.get("split")
    if not isinstance(split, str):
        raise Refused(400, "name a split")
    return split


def _number(data: Json, name: str) -> int:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused(400, f"{name} must be a whole number")
    return value


def _describe_schemas() -> Json:
    """JSON schemas of actions, observations and states."""
    return {
        "action": _action_schema(),
        "observation": _observation_schema(),
        "state": _state_schema(),
    }


def _action_schema() -> Json:
    return {
        "title": "CommandAction",
        "type": "object",
        "properties": {
            "metadata": _METADATA,
            "command": {**_TEXT, "description": "One command, as the game understands it."},
        },
        "required": ["command"],
        "additionalProperties": False,
    }


def _observation_schema() -> Json:
    nullable = {"anyOf": [_COMMANDS, {"type": "null"}], "default": None}
    fields = {
        "done": {**_FLAG, "default": False},
        "reward": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
        "metadata": _METADATA,
        "text": _TEXT,
        "admissible_commands": _COMMANDS,
        "goal": _TEXT,
        "task_id": _TEXT,
        "won": _FLAG,
        "truncated": _FLAG,
        "valid": _FLAG,
        "plan": nullable,
    }
    required = ["text", "admissible_commands", "goal", "task_id", "won", "truncated", "valid"]
    return {
        "title": "TextObservation",
        "type": "object",
        "properties": fields,
        "required": required,
        "additionalProperties": False,
    }


def _state_schema() -> Json:
    identity = {"anyOf": [_TEXT, {"type": "null"}], "default": None}
    return {
        "title": "State",
        "type": "object",
        "properties": {
            "episode_id": identity,
            "step_count": {"type": "integer", "minimum": 0, "default": 0},
        },
        "additionalProperties": True,
    }


def _describe_benchmark(benchmark: Benchmark) -> Json:
    """What `/metadata` answers."""
    return {
        "name": benchmark.name,
        "description": f"{benchmark.title}, played natively by AgentQuest.",
        "version": __version__,
        "author": "AgentQuest",
        "readme_content": None,
        "documentation_url": None,
    }


def _split_type(name: str) -> str:
    """OpenEnv knows three kinds of split."""
    if name.startswith("train"):
        return "train"
    return "test" if name.startswith("test") else "validation"


def _describe_routes(benchmark: Benchmark, paths: dict[str, list[str]]) -> Json:
    """What `/openapi.json` answers; `paths` are the routes, each with its methods."""
    answer = {"200": {"description": "JSON", "content": {"application/json": {}}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"{benchmark.title} (OpenEnv)", "version": "1.0.0"},
        "paths": {
            path: {method.lower(): {"responses": answer} for method in methods}
            for path, methods in paths.items()
        },
    }
