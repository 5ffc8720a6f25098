"""An OpenEnv server of any benchmark, without OpenEnv: its WebSocket and HTTP wire format.

A session is a WebSocket connection to `/ws`: one text message in, one out. All share one
benchmark, so that thousands fit into one process. What a client gets wrong is answered with an
error and changes nothing. The stateless HTTP routes play in an environment of their own each
time, as OpenEnv's do. `mcp` carries requests for tools, which `agentquest mcp` offers instead.
"""

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from agentquest.adapters.json_requests import (
    Body,
    Handler,
    always,
    make_routes,
    parse_json,
    read_json,
)
from agentquest.errors import AgentQuestError
from agentquest.http.guard import Refused
from agentquest.lib import Arena, Benchmark, Session, Task, Turn
from agentquest.version import __version__

Json = dict[str, Any]
MOST_TASKS = 20_000
LONGEST_MESSAGE = 64 * 1024
_LONGEST_ID = 255
_NO_METHOD = -32601  # JSON-RPC's
_RESET = {"seed", "episode_id", "task_id", "index", "split", "oracle"}
_NO_TOOLS = (
    "this environment has no tools: play it with reset and step, or start `agentquest mcp`"
    " instead of this server"
)
_METADATA: Json = {"type": "object", "additionalProperties": True, "default": {}}
_TEXT: Json = {"type": "string"}
_FLAG: Json = {"type": "boolean"}
_COMMANDS: Json = {"type": "array", "items": _TEXT}
_SCHEMAS: Json = {
    "action": {
        "title": "CommandAction",
        "type": "object",
        "properties": {
            "metadata": _METADATA,
            "command": {**_TEXT, "description": "One command, as the game understands it."},
        },
        "required": ["command"],
        "additionalProperties": False,
    },
    "observation": {
        "title": "TextObservation",
        "type": "object",
        "properties": {
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
            "plan": {"anyOf": [_COMMANDS, {"type": "null"}], "default": None},
        },
        "required": [
            "text", "admissible_commands", "goal", "task_id", "won", "truncated", "valid",
        ],
        "additionalProperties": False,
    },
    "state": {
        "title": "State",
        "type": "object",
        "properties": {
            "episode_id": {"anyOf": [_TEXT, {"type": "null"}], "default": None},
            "step_count": {"type": "integer", "minimum": 0, "default": 0},
        },
        "additionalProperties": True,
    },
}  # fmt: skip
_GONE = (WebSocketDisconnect, RuntimeError)  # Starlette's words for a client that has left


class Mistake(Exception):
    """Something the client got wrong; `code` is OpenEnv's name for it."""

    def __init__(self, code: str, text: str, **more: Any) -> None:
        super().__init__(text)
        self.code = code
        self.more = more


def error_message(code: str, text: str, **more: Any) -> Json:
    """An error in OpenEnv's form."""
    return {"type": "error", "data": {"message": text, "code": code, **more}}


class WireSession:
    """One client's environment. `oracle` says whether plans may be asked for."""

    def __init__(self, arena: Arena, max_steps: int | None, oracle: bool) -> None:
        self.session = Session(arena, max_steps)
        self._oracle = oracle
        self._with_plan = False
        self._episode_id: str | None = None

    def answer(self, text: str | None) -> Json | None:
        """The answer to a message as it came; None: the client is done."""
        try:
            message = _read_message(text)
            kind, data = message["type"], message.get("data") or {}
            if kind == "close":
                return None
            if kind == "mcp":
                return {"type": "mcp", "data": answer_rpc(data)}
            if kind == "state":
                return {"type": "state", "data": self.state()}
            if kind not in ("reset", "step"):
                known = "reset, step, state, mcp, close"
                raise Mistake("UNKNOWN_TYPE", f"unknown message {kind[:50]!r}; there are: {known}")
            play = self.reset if kind == "reset" else self.step
            return {"type": "observation", "data": play(data)}
        except Mistake as mistake:
            return error_message(mistake.code, str(mistake), **mistake.more)
        except AgentQuestError as error:
            return error_message("EXECUTION_ERROR", str(error))

    def reset(self, data: Json) -> Json:
        """Start a task: by id, by split and index, by a seed that draws one, or any."""
        wanted = _check_reset(data)
        self._with_plan = bool(wanted.get("oracle"))
        if self._with_plan and not self._oracle:
            raise Mistake(
                "VALIDATION_ERROR", "this server does not give out plans; start it with --oracle"
            )
        split, task = wanted.get("split"), wanted.get("task_id", wanted.get("index"))
        if task is None:
            number = len(self.session.arena.tasks(split))
            task = random.Random(wanted.get("seed")).randrange(number)
        turn = self.session.reset(task, split)
        self._episode_id = wanted.get("episode_id") or str(uuid4())
        return self._observation(turn, reward=None)

    def step(self, data: Json) -> Json:
        """Play `command`; raises Mistake for an action of another form."""
        if set(data) - {"command", "metadata"} or not isinstance(data.get("command"), str):
            raise Mistake("VALIDATION_ERROR", "an action is {command: text}", errors=[])
        turn = self.session.step(data["command"])
        return self._observation(turn, reward=turn.reward)

    def state(self) -> Json:
        """Which episode is being played, and how far it is; its id is None before a reset."""
        if self._episode_id is None:
            return {"episode_id": None, "step_count": 0}
        turn, task = self.session.last, self.session.task
        return {
            "episode_id": self._episode_id,
            "step_count": turn.steps,
            "task_id": task.id,
            "split": task.split,
            "done": turn.over,
            "won": turn.won,
        }

    def _observation(self, turn: Turn, reward: float | None) -> Json:
        session = self.session
        observation: Json = {
            "text": turn.text,
            "admissible_commands": list(turn.admissible),
            "goal": session.goal,
            "task_id": session.task.id,
            "won": turn.won,
            "truncated": turn.truncated,
            "valid": turn.valid,
            "plan": session.plan() if self._with_plan else None,
            "metadata": {},
        }
        return {"observation": observation, "reward": reward, "done": turn.over}


def _read_message(text: str | None) -> Json:
    """One message; raises Mistake for what is none."""
    if text is None or len(text) > LONGEST_MESSAGE:
        raise Mistake("INVALID_JSON", f"messages are text of at most {LONGEST_MESSAGE} characters")
    try:
        message = parse_json(text)
    except ValueError:
        raise Mistake("INVALID_JSON", "this is not JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise Mistake("UNKNOWN_TYPE", "a message is an object with a `type`")
    if not isinstance(message.get("data") or {}, dict):
        raise Mistake("VALIDATION_ERROR", "`data` must be an object", errors=[])
    return message


def _check_reset(data: Json) -> Json:
    """What a reset may say; anything else would be a wish that is silently not met."""
    kinds = {"seed": int, "index": int, "episode_id": str, "task_id": str, "split": str}
    wanted = {name: value for name, value in data.items() if value is not None}
    unknown = sorted(set(wanted) - _RESET)
    if unknown:
        there = ", ".join(sorted(_RESET))
        raise Mistake(
            "VALIDATION_ERROR", f"reset has no {unknown[0][:50]!r}; it has: {there}", errors=[]
        )
    for name, kind in kinds.items():
        value = wanted.get(name)
        if name in wanted and (isinstance(value, bool) or not isinstance(value, kind)):
            raise Mistake("VALIDATION_ERROR", f"{name} must be {kind.__name__}", errors=[])
    if len(str(wanted.get("episode_id", ""))) > _LONGEST_ID:
        raise Mistake("VALIDATION_ERROR", "episode_id is too long", errors=[])
    if "task_id" in wanted and "index" in wanted:
        raise Mistake("VALIDATION_ERROR", "give task_id or index, not both", errors=[])
    return wanted


def answer_rpc(message: Any) -> Json:
    """The answer to a JSON-RPC request for tools, of which there are none."""
    number = message.get("id") if isinstance(message, dict) else None
    error = {"code": _NO_METHOD, "message": _NO_TOOLS}
    known = number if isinstance(number, int | str) else None
    return {"jsonrpc": "2.0", "id": known, "error": error}


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
        benchmark = self.arena.benchmark
        gets: dict[str, Handler] = {
            "/health": always({"status": "healthy"}),
            "/schema": always(_SCHEMAS),
            "/metadata": always(_describe_benchmark(benchmark)),
            "/state": self._state,
            "/list_environments": always([benchmark.name]),
            "/{env}/splits": self._list_splits,
        }
        posts: dict[str, Handler] = {
            "/reset": self._reset,
            "/step": self._step,
            "/mcp": self._mcp,
            "/{env}/tasks": self._list_tasks,
            "/{env}/num_tasks": self._count_tasks,
            "/{env}/task": self._find_task,
            "/{env}/task_range": self._list_range,
        }
        methods = dict.fromkeys(gets, "get") | dict.fromkeys(posts, "post")
        gets["/openapi.json"] = always(_describe_routes(benchmark, methods))
        return Starlette(routes=[*make_routes(gets, posts), WebSocketRoute("/ws", self._serve)])

    async def _serve(self, websocket: WebSocket) -> None:
        """Answer one client's messages until either has enough."""
        await websocket.accept()
        most = self.terms.max_sessions
        if self.active >= most:
            text = f"all {most} sessions are in use"
            counts = {"active_sessions": self.active, "max_sessions": most}
            await self._refuse(websocket, error_message("CAPACITY_REACHED", text, **counts))
            return
        self.active += 1
        wire = self.session()
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
                reply = wire.answer(message.get("text"))
                if reply is None:
                    await websocket.close()
                    return
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

    async def _state(self, request: Request) -> Json:
        return self.session().state()

    async def _reset(self, request: Request) -> Json:
        return await self._play_once(request, lambda wire, data: wire.reset(data))

    async def _step(self, request: Request) -> Json:
        def play(wire: WireSession, data: Json) -> Json:
            action = data.get("action")
            if not isinstance(action, dict):
                raise Refused(422, "send {action: {command: text}}")
            wire.reset({"seed": 0})
            return wire.step(action)

        return await self._play_once(request, play)

    async def _play_once(self, request: Request, play: Callable[[WireSession, Json], Json]) -> Json:
        """Play in a fresh environment that is forgotten afterwards."""
        data = await read_json(request, 400)
        if not isinstance(data, dict):
            raise Refused(422, "send a JSON object")
        try:
            return play(self.session(), data)
        except (Mistake, AgentQuestError) as error:
            raise Refused(422, str(error)) from None

    async def _mcp(self, request: Request) -> Json:
        return answer_rpc(await read_json(request, 400))

    async def _list_splits(self, request: Request) -> list[Json]:
        self._check_environment(request)
        names = self.arena.benchmark.splits
        return [{"name": name, "type": _split_type(name)} for name in names]

    async def _list_tasks(self, request: Request) -> Json:
        _, split = await self._read_split(request)
        found = self._describe_tasks(split, 0, len(self.arena.tasks(split)))
        return {"tasks": found, "env_name": self.arena.benchmark.name}

    async def _count_tasks(self, request: Request) -> Json:
        _, split = await self._read_split(request)
        return {"num_tasks": len(self.arena.tasks(split))}

    async def _find_task(self, request: Request) -> Json:
        body, split = await self._read_split(request)
        index = body.number("index")
        return {"task": _describe_task(self.arena.task(index, split), index)}

    async def _list_range(self, request: Request) -> Json:
        body, split = await self._read_split(request)
        total = len(self.arena.tasks(split))
        start, stop = body.number_or_none("start") or 0, body.number_or_none("stop")
        stop = total if stop is None else stop
        if not 0 <= start <= stop:
            raise Refused(400, f"{start} to {stop} is not a range of tasks")
        return {"tasks": self._describe_tasks(split, start, min(stop, total))}

    def _describe_tasks(self, split: str, start: int, stop: int) -> list[Json]:
        if stop - start > MOST_TASKS:
            raise Refused(400, f"ask for at most {MOST_TASKS} tasks, with task_range")
        tasks = self.arena.tasks(split)
        return [_describe_task(tasks[index], index) for index in range(start, stop)]

    async def _read_split(self, request: Request) -> tuple[Body, str]:
        self._check_environment(request)
        body = await Body.of(request, 400)
        return body, body.text("split")

    def _check_environment(self, request: Request) -> None:
        name = self.arena.benchmark.name
        if request.path_params["env"] != name:
            raise Refused(404, f"unknown environment; this server has: {name}")


def _describe_task(task: Task, index: int) -> Json:
    return {"id": task.id, "task_type": task.task_type, "split": task.split, "index": index}


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


def _describe_routes(benchmark: Benchmark, methods: Mapping[str, str]) -> Json:
    """What `/openapi.json` answers; `methods` has the method of each path."""
    answer = {"200": {"description": "JSON", "content": {"application/json": {}}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"{benchmark.title} (OpenEnv)", "version": "1.0.0"},
        "paths": {path: {method: {"responses": answer}} for path, method in methods.items()},
    }
