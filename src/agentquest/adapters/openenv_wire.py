"""What OpenEnv's clients and servers say to each other, for one session.

One text message in, one out: reset, step, state, mcp, close. What a client gets
wrong is answered with an error and changes nothing. `mcp` carries requests for
tools, which games here offer over MCP itself (`agentquest mcp`).
"""

import random
from typing import Any
from uuid import uuid4

from agentquest.adapters.json_requests import parse_json
from agentquest.errors import AgentQuestError
from agentquest.lib import Arena, Session, Turn

LONGEST_MESSAGE = 64 * 1024
_LONGEST_ID = 255
_NO_METHOD = -32601  # JSON-RPC's
_RESET = {"seed", "episode_id", "task_id", "index", "split", "oracle"}
_NO_TOOLS = (
    "this environment has no tools: play it with reset and step, or start `agentquest mcp`"
    " instead of this server"
)

Json = dict[str, Any]


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
