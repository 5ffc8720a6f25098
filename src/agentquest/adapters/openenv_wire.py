"""What OpenEnv's clients and servers say to each other, for one session.

One text message in, one out: reset, step, state, mcp, close. What a client gets
wrong is answered with an error and changes nothing. `mcp` carries requests for
tools without a session of their own, which is OpenEnv's way and not MCP's.
"""

import json
import random
from typing import Any
from uuid import uuid4

from agentquest.errors import AgentQuestError, UserError
from agentquest.lib import Arena, Session, Turn
from agentquest.version import __version__

LONGEST_MESSAGE = 64 * 1024
_LONGEST_ID = 255
_RESET = {"seed", "episode_id", "task_id", "index", "split", "oracle"}

_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NOT_JSON, NO_REQUEST, NO_METHOD, WRONG_PARAMETERS = -32700, -32600, -32601, -32602

Json = dict[str, Any]

_TOOLS: list[Json] = [
    {
        "name": "act",
        "description": "Carry out one command, written as the game understands it.",
        "inputSchema": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
            "additionalProperties": False,
        },
    },
    {
        "name": "observe",
        "description": "Show the newest observation again.",
        "inputSchema": {"type": "object", "properties": {}},
    },
]


class Mistake(Exception):
    """Something the client got wrong; `code` is OpenEnv's or JSON-RPC's name for it."""

    def __init__(self, code: str | int, text: str, **more: Any) -> None:
        super().__init__(text)
        self.code = code
        self.more = more


def error_message(code: str | int, text: str, **more: Any) -> Json:
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
                return {"type": "mcp", "data": answer_rpc(data, self.session)}
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
        message = json.loads(text)
    except (ValueError, RecursionError):
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


def answer_rpc_text(text: str | bytes, session: Session) -> Json | None:
    """The answer to a JSON-RPC request as it came."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return _rpc_error(None, NOT_JSON, "this is not JSON")
    return answer_rpc(message, session)


def answer_rpc(message: Any, session: Session) -> Json | None:
    """The answer to one JSON-RPC request for tools; None for what wants none."""
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        if isinstance(message, dict) and ("result" in message or "error" in message):
            return None  # an answer to something we never asked
        number = message.get("id") if isinstance(message, dict) else None
        return _rpc_error(number, NO_REQUEST, "this is not a JSON-RPC request")
    if "id" not in message:
        return None  # a notification
    number, parameters = message["id"], message.get("params") or {}
    if isinstance(number, bool) or not isinstance(number, int | str):
        return _rpc_error(None, NO_REQUEST, "the id of a request must be a number or text")
    if not isinstance(parameters, dict):
        return _rpc_error(number, WRONG_PARAMETERS, "params must be an object")
    try:
        result = _call_method(message["method"], parameters, session)
    except Mistake as error:
        return _rpc_error(number, error.code, str(error))
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _rpc_error(number: Any, code: str | int, text: str) -> Json:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}


def _call_method(method: str, parameters: Json, session: Session) -> Json:
    if method == "initialize":
        wanted = parameters.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in _REVISIONS else _REVISIONS[-1],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {
                "name": f"agentquest-{session.arena.benchmark.name}",
                "version": __version__,
            },
            "instructions": "Reset first; then `act` until `done`.",
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": _TOOLS}
    if method != "tools/call":
        raise Mistake(NO_METHOD, f"there is no method {method[:100]!r}")
    name, arguments = parameters.get("name"), parameters.get("arguments")
    arguments = {} if arguments is None else arguments
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise Mistake(WRONG_PARAMETERS, "a call needs a name and an object of arguments")
    return _call_tool(name, arguments, session)


def _call_tool(name: str, arguments: Json, session: Session) -> Json:
    if name not in ("act", "observe"):
        raise Mistake(WRONG_PARAMETERS, f"there is no tool {name[:100]!r}")
    is_error = False
    data: Json
    try:
        turn = session.step(arguments.get("command", 0)) if name == "act" else session.last
        text = turn.text
        data = {"observation": turn.text, "admissible": list(turn.admissible)}
        data |= {"reward": turn.reward, "done": turn.over}
    except UserError as error:
        text, data, is_error = str(error), {"error": str(error)}, True
    content = [{"type": "text", "text": text}]
    return {"content": content, "isError": is_error, "structuredContent": data}
