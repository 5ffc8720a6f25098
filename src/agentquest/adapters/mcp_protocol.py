"""The Model Context Protocol as far as a server of tools needs it, over any transport.

Messages are JSON-RPC 2.0. Revisions with a handshake are spoken (2024-11-05 to
2025-11-25); newer clients fall back to it. An error of a tool is a result that
says so; only what is no proper request is an error of the protocol.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agentquest.records.messages import ToolSpec
from agentquest.version import __version__

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NOT_JSON, NO_REQUEST, NO_METHOD, WRONG_PARAMETERS = -32700, -32600, -32601, -32602


@dataclass(frozen=True)
class ToolAnswer:
    """What a tool says: text for models, the same as data for programs."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False


class NoSuchTool(Exception):
    """A tool was called that is not in the list."""


class ToolHost(Protocol):
    """Who has the tools."""

    name: str
    instructions: str

    def tools(self) -> Sequence[ToolSpec]:
        """The tools that clients are told of."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Use a tool; raises NoSuchTool."""
        ...


async def answer_text(text: str | bytes, host: ToolHost) -> str | None:
    """The answer to one message as it came; None where there is none to give."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return json.dumps(_error(None, NOT_JSON, "this is not JSON"))
    answer = await answer_message(message, host)
    return None if answer is None else json.dumps(answer)


async def answer_message(message: Any, host: ToolHost) -> dict[str, Any] | None:
    """The answer to one JSON-RPC message; None for what wants none."""
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        if isinstance(message, dict) and ("result" in message or "error" in message):
            return None  # an answer to something we never asked
        number = message.get("id") if isinstance(message, dict) else None
        return _error(number, NO_REQUEST, "this is not a JSON-RPC request")
    if "id" not in message:
        return None  # a notification
    number, parameters = message["id"], message.get("params") or {}
    if isinstance(number, bool) or not isinstance(number, int | str):
        return _error(None, NO_REQUEST, "the id of a request must be a number or text")
    if not isinstance(parameters, dict):
        return _error(number, WRONG_PARAMETERS, "params must be an object")
    return await _answered(number, message["method"], parameters, host)


async def _answered(
    number: int | str, method: str, parameters: dict[str, Any], host: ToolHost
) -> dict[str, Any]:
    if method == "initialize":
        return _result(number, _introduction(parameters.get("protocolVersion"), host))
    if method == "ping":
        return _result(number, {})
    if method == "tools/list":
        return _result(number, {"tools": [_listed(tool) for tool in host.tools()]})
    if method != "tools/call":
        return _error(number, NO_METHOD, f"there is no method {method[:100]!r}")
    name, arguments = parameters.get("name"), parameters.get("arguments")
    arguments = {} if arguments is None else arguments
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return _error(number, WRONG_PARAMETERS, "a call needs a name and an object of arguments")
    try:
        answer = await host.call(name, arguments)
    except NoSuchTool:
        return _error(number, WRONG_PARAMETERS, f"there is no tool {name[:100]!r}")
    content = {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}
    return _result(number, {**content, "structuredContent": dict(answer.data)})


def _introduction(wanted: Any, host: ToolHost) -> dict[str, Any]:
    return {
        "protocolVersion": wanted if wanted in REVISIONS else REVISIONS[-1],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": host.name, "version": __version__},
        "instructions": host.instructions,
    }


def _listed(tool: ToolSpec) -> dict[str, Any]:
    schema = tool.parameters or {"type": "object", "properties": {}}
    return {"name": tool.name, "description": tool.description, "inputSchema": schema}


def _result(number: int | str, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _error(number: Any, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}
