"""A2A on the wire: the requests we write, and the answers we read, in both protocol versions.

Answers are read leniently: we need the text of an answer, so we look wherever
agents put it.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from agentquest.a2a import limits
from agentquest.a2a.client.cards import JSONRPC, Interface, read_object, read_objects
from agentquest.a2a.messages import ADK_EVENT, ADK_USAGE
from agentquest.records.episode import Call

# Agents that check what a client accepts find text here, by either name for it.
_ACCEPTED = ["text/plain", "text", "application/json"]
_METHODS = {
    "1.0": {"send": "SendMessage", "stream": "SendStreamingMessage", "task": "GetTask"},
    "0.3": {"send": "message/send", "stream": "message/stream", "task": "tasks/get"},
}
# Where an agent that answers with data and no text may have put its action.
_ACTION_KEYS = ("action", "command", "answer", "response", "output", "result", "reply", "text")
_ROLES = ("agent", "ROLE_AGENT")


@dataclass(frozen=True)
class HttpRequest:
    """One HTTP request, for any transport to send."""

    method: str
    url: str
    headers: dict[str, str]
    body: dict[str, Any] | None = None


@dataclass(frozen=True)
class MessageIds:
    """The ids of a message; `task` is the task that it continues, empty for none."""

    message: str
    context: str
    task: str = ""


def write_message(
    interface: Interface, ids: MessageIds, text: str, *, stream: bool = False
) -> HttpRequest:
    """The request that sends one turn; `stream` asks for events instead of one answer."""
    old, kind = interface.version == "0.3", "stream" if stream else "send"
    headers = {"A2A-Version": interface.version}
    headers["Accept"] = "text/event-stream" if stream else "application/json, text/event-stream"
    base = interface.url.rstrip("/")
    if old and interface.binding != JSONRPC:
        body = {"request": _old_rest_message(ids, text), "configuration": {"blocking": True}}
        return HttpRequest("POST", f"{base}/v1/message:{kind}", headers, body)
    blocking = {"blocking": True} if old else {}
    body = {
        "message": _message(ids, text, old),
        "configuration": {"acceptedOutputModes": _ACCEPTED, **blocking},
    }
    if interface.binding == JSONRPC:
        body = _rpc(interface, kind, ids.message, body)
        return HttpRequest("POST", interface.url, headers, body)
    return HttpRequest("POST", f"{base}/message:{kind}", headers, body)


def write_task_query(interface: Interface, task_id: str) -> HttpRequest:
    """The request that asks for the status of a task."""
    headers = {"A2A-Version": interface.version, "Accept": "application/json"}
    if interface.binding == JSONRPC:
        body = _rpc(interface, "task", task_id, {"id": task_id})
        return HttpRequest("POST", interface.url, headers, body)
    base = interface.url.rstrip("/") + ("/v1" if interface.version == "0.3" else "")
    return HttpRequest("GET", f"{base}/tasks/{task_id}", headers)


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


class AgentError(ValueError):
    """The agent answered with an error; `code` is its JSON-RPC code, where it has one."""

    def __init__(self, text: str, code: int | None = None) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class PartsContent:
    """The text of a message or an artifact, in the pieces it came in.

    Pieces are read joined with nothing between them or, where that gives no action, line by
    line. `kinds` are the kinds of all parts, for error messages.
    """

    pieces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(piece.strip() for piece in self.pieces)


@dataclass
class PendingReply:
    """What an agent has answered so far: a message, or a task and its state."""

    task_id: str = ""
    state: str = ""
    message: PartsContent | None = None
    status: PartsContent | None = None
    history: PartsContent | None = None  # the agent's last message after ours
    artifacts: dict[str, PartsContent] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)  # of ADK's events


@dataclass(frozen=True)
class RemoteReply:
    """An agent's answer: its text, and the same line by line where it came in pieces.

    `parts` says what the reply was made of, `calls` the model calls that it reports.
    """

    text: str
    by_lines: str = ""
    parts: str = ""
    calls: tuple[Call, ...] = ()


def read_result(content: Any) -> Any:
    """The result in a response, whichever transport it came over; raises AgentError."""
    if not isinstance(content, dict):
        raise AgentError(f"the response is a {type(content).__name__}, not a JSON object")
    error = content.get("error")
    if isinstance(error, dict):
        reason = str(error.get("message") or "no reason given")
        details = error.get("data") or error.get("details")
        if details:
            reason = f"{reason} ({json.dumps(details)})"
        code = error.get("code")
        raise AgentError(f"error {code}: {reason}", code if isinstance(code, int) else None)
    if "jsonrpc" in content or "result" in content:
        return content.get("result")
    return content


def add_result(reply: PendingReply, result: Any, our_message: str) -> None:
    """Add a response or an event to the reply; raises AgentError if it is neither a message
    nor a task. `our_message` is the id of the message that is being answered."""
    if not isinstance(result, dict):
        raise AgentError(f"the result is a {type(result).__name__}, not a JSON object")
    for key, inner in result.items():
        add = _find_reader(key)
        if add is not None and isinstance(inner, dict):
            add(reply, inner, our_message)
            return
    add = _find_reader(result.get("kind")) or _guess_kind(result)
    if add is None:
        raise AgentError(f"the result is neither a message nor a task: {json.dumps(result)[:300]}")
    add(reply, result, our_message)


def _guess_kind(result: dict[str, Any]) -> Any:
    """The reader for an object that does not name its kind."""
    if "artifact" in result:
        return _add_artifact
    if isinstance(result.get("status"), dict):
        return _add_task if "id" in result else _add_status
    return _add_message if "parts" in result or "content" in result else None


def _add_message(reply: PendingReply, message: dict[str, Any], our_message: str) -> None:
    reply.message = read_parts(message)
    _add_metadata(reply, message)


def _add_task(reply: PendingReply, task: dict[str, Any], our_message: str) -> None:
    reply.task_id = str(task.get("id") or reply.task_id)
    _add_status(reply, task, our_message)
    for place, artifact in enumerate(read_objects(task.get("artifacts"))):
        reply.artifacts[_artifact_id(artifact, place)] = read_parts(artifact)
        _add_metadata(reply, artifact)
    reply.history = _read_history(task.get("history"), our_message) or reply.history


def _add_status(reply: PendingReply, update: dict[str, Any], our_message: str) -> None:
    status = read_object(update.get("status"))
    reply.task_id = str(_either(update, "taskId", "task_id") or reply.task_id)
    reply.state = _state(status.get("state")) or reply.state
    message = status.get("message") or status.get("update")
    if isinstance(message, dict):
        reply.status = read_parts(message) or reply.status
        _add_metadata(reply, message)
    _add_metadata(reply, update)


def _add_artifact(reply: PendingReply, update: dict[str, Any], our_message: str) -> None:
    artifact = read_object(update.get("artifact"))
    reply.task_id = str(_either(update, "taskId", "task_id") or reply.task_id)
    name, new = _artifact_id(artifact, 0), read_parts(artifact)
    before = reply.artifacts.get(name)
    if update.get("append") and before is not None:
        new = PartsContent((*before.pieces, *new.pieces), (*before.kinds, *new.kinds))
    reply.artifacts[name] = new
    _add_metadata(reply, artifact)


def _add_metadata(reply: PendingReply, holder: dict[str, Any]) -> None:
    """Metadata of later parts replace those of earlier ones; the usage of each event is kept."""
    metadata = read_object(holder.get("metadata"))
    used = metadata.get(ADK_USAGE)
    if isinstance(used, dict) and len(reply.usage) < limits.MAX_REPORTED_CALLS:
        # A task repeats the metadata of its last event.
        reply.usage[str(metadata.get(ADK_EVENT) or json.dumps(used))] = used
    if reply.usage:
        metadata = {**metadata, ADK_USAGE: list(reply.usage.values())}
    reply.metadata.update(metadata)


_READERS = {
    "message": _add_message,
    "msg": _add_message,
    "task": _add_task,
    "statusupdate": _add_status,
    "artifactupdate": _add_artifact,
}


def _find_reader(kind: Any) -> Any:
    """The reader for a kind, which is written as statusUpdate, status_update or status-update."""
    return _READERS.get(str(kind).lower().replace("_", "").replace("-", ""))


def read_parts(holder: dict[str, Any]) -> PartsContent:
    """The content of a message or an artifact: its texts, else its data."""
    parts = read_objects(holder.get("parts") if "parts" in holder else holder.get("content"))
    # Protocol 0.2 and some agents wrap a part once more.
    parts = [
        read_object(part["root"]) if isinstance(part.get("root"), dict) else part for part in parts
    ]
    kinds = tuple(_part_kind(part) for part in parts)
    texts = tuple(part["text"] for part in parts if isinstance(part.get("text"), str))
    if any(text.strip() for text in texts):
        return PartsContent(texts, kinds)
    data = [part["data"] for part in parts if part.get("data") is not None]
    return PartsContent(tuple(_data_text(one) for one in data), kinds)


def _data_text(data: Any) -> str:
    """The text of a data part: its action, where one can be found, else all of it."""
    if isinstance(data, dict) and set(data) == {"data"}:
        data = data["data"]
    if isinstance(data, str):
        return data
    if isinstance(data, dict):
        for key in _ACTION_KEYS:
            if isinstance(data.get(key), str):
                return str(data[key])
        texts = [value for value in data.values() if isinstance(value, str)]
        if len(texts) == 1:
            return texts[0]
    return json.dumps(data, ensure_ascii=False)


def _read_history(history: Any, our_message: str) -> PartsContent | None:
    """The agent's last message in a task's history after ours."""
    found = None
    for message in read_objects(history):
        if _either(message, "messageId", "message_id") == our_message:
            found = None
        elif message.get("role") in _ROLES:
            found = read_parts(message) or found
    return found


def describe_kinds(kinds: Iterable[str]) -> str:
    """`2 text, 1 file`, for people."""
    counts = Counter(kinds)
    return ", ".join(f"{number} {kind}" for kind, number in counts.items()) or "no parts"


def _part_kind(part: dict[str, Any]) -> str:
    for name in ("text", "data", "file", "url", "raw"):
        if part.get(name) is not None:
            return name
    return "unknown"


def _state(value: Any) -> str:
    return str(value or "").lower().removeprefix("task_state_").replace("_", "-")


def _artifact_id(artifact: dict[str, Any], place: int) -> str:
    return str(_either(artifact, "artifactId", "artifact_id") or place)


def _either(content: dict[str, Any], *keys: str) -> Any:
    return next((content[key] for key in keys if content.get(key)), None)
