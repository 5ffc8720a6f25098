"""A2A requests as they are written, in both versions of the protocol and over both transports."""

from dataclasses import dataclass
from typing import Any

from agentquest.a2a.card_reading import JSONRPC, Interface

# Agents that check what a client accepts find text here, by either name for it.
_ACCEPTED = ["text/plain", "text", "application/json"]
_METHODS = {
    "1.0": {"send": "SendMessage", "stream": "SendStreamingMessage", "task": "GetTask"},
    "0.3": {"send": "message/send", "stream": "message/stream", "task": "tasks/get"},
}


@dataclass(frozen=True)
class Call:
    """One HTTP request."""

    method: str
    url: str
    headers: dict[str, str]
    body: dict[str, Any] | None = None


def send_call(interface: Interface, ids: "MessageIds", text: str, *, stream: bool = False) -> Call:
    """A turn; `stream` asks for events instead of one answer."""
    old, kind = interface.version == "0.3", "stream" if stream else "send"
    headers = {"A2A-Version": interface.version}
    headers["Accept"] = "text/event-stream" if stream else "application/json, text/event-stream"
    if interface.binding == JSONRPC:
        params = {"message": _message(ids, text, old), "configuration": _configuration(old)}
        return Call("POST", interface.url, headers, _rpc(interface, kind, ids.message, params))
    base = interface.url.rstrip("/")
    if old:
        body = {"request": _old_rest_message(ids, text), "configuration": {"blocking": True}}
        return Call("POST", f"{base}/v1/message:{kind}", headers, body)
    body = {"message": _message(ids, text, old), "configuration": _configuration(old)}
    return Call("POST", f"{base}/message:{kind}", headers, body)


def task_call(interface: Interface, task_id: str) -> Call:
    """The status of a task."""
    headers = {"A2A-Version": interface.version, "Accept": "application/json"}
    if interface.binding == JSONRPC:
        body = _rpc(interface, "task", task_id, {"id": task_id})
        return Call("POST", interface.url, headers, body)
    base = interface.url.rstrip("/") + ("/v1" if interface.version == "0.3" else "")
    return Call("GET", f"{base}/tasks/{task_id}", headers)


@dataclass(frozen=True)
class MessageIds:
    """`task` goes on with a task that asked for more; empty for none."""

    message: str
    context: str
    task: str = ""


def _rpc(interface: Interface, kind: str, number: str, params: dict[str, Any]) -> dict[str, Any]:
    method = _METHODS[interface.version][kind]
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def _message(ids: MessageIds, text: str, old: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"messageId": ids.message, "contextId": ids.context}
    if ids.task:
        message["taskId"] = ids.task
    if old:
        parts = [{"kind": "text", "text": text}]
        return {**message, "kind": "message", "role": "user", "parts": parts}
    return {**message, "role": "ROLE_USER", "parts": [{"text": text}]}


def _old_rest_message(ids: MessageIds, text: str) -> dict[str, Any]:
    message = {"message_id": ids.message, "context_id": ids.context, "role": "ROLE_USER"}
    if ids.task:
        message["task_id"] = ids.task
    return {**message, "content": [{"text": text}]}


def _configuration(old: bool) -> dict[str, Any]:
    return {"acceptedOutputModes": _ACCEPTED, **({"blocking": True} if old else {})}
