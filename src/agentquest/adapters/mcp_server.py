"""A run's games as tools of an MCP server: `start`, `observe`, `give_up`, and the benchmark's own.

The official SDK speaks the protocol, every revision that it knows. What is left to say here
is who calls: over stdio there is one caller; a revision with a handshake gives each HTTP
caller a session; from 2026-07-28 on requests over HTTP stand alone. There `start` names the
game, and calls that do not repeat the name belong to the game of their connection.
"""

import asyncio
import json
import secrets
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from agentquest.adapters.arenas import briefing_of
from agentquest.adapters.mcp_callers import NO_EPISODE, Caller, CallerExecutor, CallerSettings
from agentquest.errors import UserError
from agentquest.http.connections import CONNECTION
from agentquest.http.sessions import SessionStore, Stage, StoreFull
from agentquest.lib import Arena
from agentquest.platform import can_wait_for
from agentquest.records.messages import ToolSpec
from agentquest.records.outcome import MEANINGS
from agentquest.running.factory import agent_settings
from agentquest.running.run import Run
from agentquest.safe_text import say
from agentquest.version import __version__

HOW_TO_PLAY = (
    "Call `start` to be given a task, then act with {tools} until you are told that the episode is"
    " over. `observe` shows the newest observation again and costs nothing."
)
LONGEST_LINE = 1024 * 1024
_LAST_ANSWERS_S = 10.0
_SESSION = "mcp-session-id"
_PROXY_HEADERS = ("via", "forwarded", "x-forwarded-for")
_TASK = {"type": "string", "description": "The task's id; without it you get the next one."}
_GAME = {"type": "string", "description": "The game that `start` named."}
_OWN_TOOLS = (
    ToolSpec(
        name="start",
        description="Begin a task: says the goal and what you see first.",
        parameters={"type": "object", "properties": {"task_id": _TASK}},
    ),
    ToolSpec(name="observe", description="Show the newest observation again. Costs no step."),
    ToolSpec(name="give_up", description="End the episode as not solved."),
)


@dataclass(frozen=True)
class ToolAnswer:
    """What a tool says: text for models, the same as data for programs."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False


class GameServer:
    """The tools of one run, for all its callers."""

    def __init__(
        self, run: Run, executor: CallerExecutor, max_callers: int = 1, idle_s: float = 3600.0
    ) -> None:
        benchmark, chosen = run.benchmark, run.config.agent
        briefing = briefing_of(Arena(benchmark), run.selection.tasks[0])
        settings = agent_settings(chosen.name, chosen.settings)
        assert isinstance(settings, CallerSettings)
        self._game_tools = briefing.choose_tools(settings.tools)
        self.tools = (*_OWN_TOOLS, *self._game_tools)
        self._show_admissible = settings.show_admissible
        self._executor = executor
        self._max_callers, self._idle_s = max_callers, idle_s
        self.callers: SessionStore[str, Caller] = SessionStore(max_callers, idle_s, evicts=False)
        named = ", ".join(f"`{tool.name}`" for tool in self._game_tools)
        self._server: Server[Any] = Server(
            f"agentquest-{benchmark.name}",
            version=__version__,
            instructions=f"{briefing.instructions}\n\n{HOW_TO_PLAY.format(tools=named)}",
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    async def serve_stdio(self) -> None:
        """Answer over standard input and output until the input ends."""
        options = self._server.create_initialization_options()
        streams: Any = _StandardStreams()
        async with stdio_server(stdin=streams, stdout=streams) as (incoming, outgoing):
            await self._server.run(incoming, outgoing, options)
        await self._end(self.callers.clear())

    def http_app(self, path: str = "/mcp") -> ASGIApp:
        """The application: MCP at `path`, and `/health`."""

        async def tell_health(request: Request) -> Response:
            return JSONResponse({"status": "healthy", "sessions": len(self.callers)})

        app = self._server.streamable_http_app(
            streamable_http_path=path,
            json_response=True,
            session_idle_timeout=self._idle_s,
            max_sessions=self._max_callers,
            # Names and origins are checked before, as for every server.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            custom_starlette_routes=[Route("/health", tell_health)],
        )

        async def end_sessions(scope: Scope, receive: Receive, send: Send) -> None:
            await app(scope, receive, send)
            if scope["type"] == "http" and scope["method"] == "DELETE":
                caller = self.callers.remove(Request(scope).headers.get(_SESSION, ""))
                await self._end([caller] if caller else [])

        return end_sessions

    def expire_callers(self) -> AbstractAsyncContextManager[None]:
        """While this is open, callers that are idle for too long lose their game."""
        return self.callers.expire_regularly(self._end)

    async def call(
        self, key: str, name: str, arguments: Mapping[str, Any], connection: str = ""
    ) -> ToolAnswer:
        """Use a tool as the caller of this key; who is not known yet has to `start`."""
        try:
            caller = self.callers.get(key)
            if caller is None:
                if name != "start":
                    raise UserError(NO_EPISODE)
                caller = Caller(self._executor, key)
                await self._end(self.callers.add(key, caller))
            caller.connection = connection
            async with caller.lock:
                self.callers.mark(key, Stage.BUSY)
                try:
                    return await self._use(caller, name, arguments)
                finally:
                    self.callers.mark(key, Stage.IN_USE)
        except (UserError, StoreFull) as error:
            return ToolAnswer(str(error), {"error": str(error)}, is_error=True)

    async def _use(self, caller: Caller, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        if name == "start":
            return await self._start(caller, arguments.get("task_id"))
        if name == "give_up":
            await caller.give_up()
        elif name != "observe":
            is_call = await caller.call(name, arguments, self._game_tools)
            return replace(self._describe(caller), is_error=not is_call)
        elif caller.spec is None:
            raise UserError(NO_EPISODE)
        return self._describe(caller)

    async def _start(self, caller: Caller, task_id: Any) -> ToolAnswer:
        if not (task_id is None or isinstance(task_id, str)):
            raise UserError("task_id must be text")
        if await caller.start(task_id) is None:
            return ToolAnswer("There is no task left: all are played.", {"tasks_left": 0})
        seen, goal = self._describe(caller), caller.goal
        return ToolAnswer(f"Goal: {goal}\n\n{seen.text}", {"goal": goal, **seen.data})

    def _describe(self, caller: Caller) -> ToolAnswer:
        """The newest observation, and how the episode ended if it did."""
        record, observation = caller.record, caller.observation
        assert caller.spec is not None
        data: dict[str, Any] = {"task_id": caller.spec.task.id, "done": record is not None}
        if record is not None:
            observed = record.steps[-1].observation if record.steps else record.first_observation
            verdict = f"The episode is over: {MEANINGS[record.end]}."
            data |= {"observation": observed, "reward": record.reward, "won": record.success}
            data |= {"end": record.end.value, "steps": len(record.steps)}
            return ToolAnswer(f"{observed}\n\n{verdict}", data)
        assert observation is not None
        text = observation.text or observation.output
        data |= {"observation": text, "reward": 0.0, "won": False}
        if self._show_admissible and observation.admissible:
            data["admissible"] = list(observation.admissible)
            text += "\n\nPossible now: " + ", ".join(observation.admissible)
        return ToolAnswer(text, data)

    async def _end(self, callers: list[Caller]) -> None:
        for caller in callers:
            await caller.leave()

    async def _list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        names_game = _stands_alone(context)
        return types.ListToolsResult(
            tools=[_describe_tool(each, names_game) for each in self.tools]
        )

    async def _call_tool(
        self, context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        name, arguments = params.name, dict(params.arguments or {})
        if name not in {tool.name for tool in self.tools}:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {name[:100]!r}")
        if _stands_alone(context):
            connection = _find_connection(context.request)
            key = self._find_game(arguments.pop("game", None), connection)
            answer = await self.call(key, name, arguments, connection)
            if name == "start" and answer.data.get("goal"):
                text = f"{answer.text}\n\nThis is game {key}: name it in every call."
                answer = ToolAnswer(text, {**answer.data, "game": key})
        else:
            key = context.request.headers[_SESSION] if context.request else "stdio"
            answer = await self.call(key, name, arguments)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=dict(answer.data),
            is_error=answer.is_error,
        )

    def _find_game(self, named: Any, connection: str) -> str:
        """The game that a call names, that of its connection, or a new name."""
        if isinstance(named, str) and named in self.callers:
            return named
        callers = [(key, self.callers.peek(key)) for key in self.callers if connection]
        known = (key for key, caller in callers if caller and caller.connection == connection)
        new = secrets.token_urlsafe(16)
        return next(known, new) if named is None else new


def _stands_alone(context: Any) -> bool:
    """Whether a request came without a session or a stream that would say whose it is."""
    return context.request is not None and context.protocol_version in MODERN_PROTOCOL_VERSIONS


def _find_connection(request: Request) -> str:
    """What tells the request's connection apart; empty where a proxy may share one."""
    if any(header in request.headers for header in _PROXY_HEADERS):
        return ""
    return str(request.scope.get("state", {}).get(CONNECTION, ""))


def _describe_tool(tool: ToolSpec, names_game: bool) -> types.Tool:
    schema = dict(tool.parameters or {"type": "object", "properties": {}})
    if names_game and tool.name != "start":
        schema["properties"] = {**schema["properties"], "game": _GAME}
    return types.Tool(name=tool.name, description=tool.description, input_schema=schema)


class _StandardStreams:
    """Standard input and output, as the SDK wants them.

    Its own reader is a thread, which no signal would end; and where the input ends, it gives
    up the requests that are being answered.
    """

    def __init__(self) -> None:
        self._unanswered = 0
        self._all_answered = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in _read_pipe() if can_wait_for(sys.stdin) else _read_file():
            self._unanswered += _wants_answer(line)
            yield line.decode("utf-8", "replace")
        if self._unanswered > 0:
            self._all_answered.clear()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._all_answered.wait(), _LAST_ANSWERS_S)

    async def write(self, line: str) -> None:
        """Write an answer; the server says nothing else."""
        sys.stdout.write(line)
        self._unanswered -= 1
        if self._unanswered <= 0:
            self._all_answered.set()

    async def flush(self) -> None:
        """Send what was written."""
        sys.stdout.flush()


def _wants_answer(line: bytes) -> bool:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and "id" in message and "method" in message


async def _read_pipe() -> AsyncIterator[bytes]:
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    try:
        while line := await reader.readline():
            yield line
    except ValueError:
        # A longer line than any call has: there is no telling where the next one starts.
        say(f"agentquest mcp: a line is longer than {LONGEST_LINE} bytes", err=True)
    finally:
        transport.close()


async def _read_file() -> AsyncIterator[bytes]:
    while line := await asyncio.to_thread(sys.stdin.buffer.readline, LONGEST_LINE):
        yield line
