"""What agents answer, in either version of the protocol, read leniently.

The SDK's client reads strictly: a timestamp without a zone, an answer in a
place it does not look at, and a correct agent is called broken. We need the
words of an answer, so we look wherever agents put them.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

# Where an agent that answers with data and no text may have put its action.
_ACTION_KEYS = ("action", "command", "answer", "response", "output", "result", "reply", "text")
_ROLES = ("agent", "ROLE_AGENT")


class AgentError(ValueError):
    """The agent answered with an error; `code` is its JSON-RPC code, where it has one."""

    def __init__(self, text: str, code: int | None = None) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True)
class Said:
    """The words of some parts. `pieces` are to be read joined with nothing between, or, where
    that says nothing, line by line; `seen` names the kinds of parts, for diagnoses."""

    pieces: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(piece.strip() for piece in self.pieces)


@dataclass
class Turn:
    """What an agent has answered so far: a message, or a task and how it stands."""

    task_id: str = ""
    state: str = ""
    message: Said | None = None
    status: Said | None = None
    spoken: Said | None = None  # the last thing said in the task's history after our message
    artifacts: dict[str, Said] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)


def read_result(content: Any) -> Any:
    """The result in a response, whichever transport it came over; raises AgentError."""
    if not isinstance(content, dict):
        raise AgentError(f"the response is a {type(content).__name__}, not a JSON object")
    error = content.get("error")
    if isinstance(error, dict):
        told = str(error.get("message") or "no reason given")
        more = error.get("data") or error.get("details")
        reason = f"{told} ({json.dumps(more)})" if more else told
        code = error.get("code")
        raise AgentError(f"error {code}: {reason}", code if isinstance(code, int) else None)
    if "jsonrpc" in content or "result" in content:
        return content.get("result")
    return content


def take_in(turn: Turn, result: Any, our_message: str) -> None:
    """Add what a response or an event says; raises AgentError where it says nothing we know."""
    if not isinstance(result, dict):
        raise AgentError(f"the result is a {type(result).__name__}, not a JSON object")
    for key, read in _READERS.items():
        inner = result.get(key)
        if isinstance(inner, dict):
            read(turn, inner, our_message)
            return
    read = _KINDS.get(str(result.get("kind"))) or _shape(result)
    if read is None:
        raise AgentError(f"the result is neither a message nor a task: {json.dumps(result)[:300]}")
    read(turn, result, our_message)


def _shape(result: dict[str, Any]) -> Any:
    """The kind of an object that does not say it."""
    if "artifact" in result:
        return _take_artifact
    if isinstance(result.get("status"), dict):
        return _take_task if "id" in result else _take_status
    return _take_message if "parts" in result or "content" in result else None


def _take_message(turn: Turn, message: dict[str, Any], our_message: str) -> None:
    turn.message = said(message)
    turn.metadata.update(_object(message.get("metadata")))


def _take_task(turn: Turn, task: dict[str, Any], our_message: str) -> None:
    turn.task_id = str(task.get("id") or turn.task_id)
    _take_status(turn, task, our_message)
    turn.metadata.update(_object(task.get("metadata")))
    listed = task.get("artifacts")
    for place, artifact in enumerate(map(_object, listed if isinstance(listed, list) else [])):
        turn.artifacts[_artifact_id(artifact, place)] = said(artifact)
        turn.metadata.update(_object(artifact.get("metadata")))
    turn.spoken = _spoken(task.get("history"), our_message) or turn.spoken


def _take_status(turn: Turn, update: dict[str, Any], our_message: str) -> None:
    status = _object(update.get("status"))
    turn.task_id = str(_either(update, "taskId", "task_id") or turn.task_id)
    turn.state = _state(status.get("state")) or turn.state
    message = status.get("message") or status.get("update")
    if isinstance(message, dict):
        turn.status = said(message) or turn.status
        turn.metadata.update(_object(message.get("metadata")))


def _take_artifact(turn: Turn, update: dict[str, Any], our_message: str) -> None:
    artifact = _object(update.get("artifact"))
    turn.task_id = str(_either(update, "taskId", "task_id") or turn.task_id)
    name, new = _artifact_id(artifact, 0), said(artifact)
    before = turn.artifacts.get(name)
    if update.get("append") and before is not None:
        new = Said((*before.pieces, *new.pieces), (*before.seen, *new.seen))
    turn.artifacts[name] = new
    turn.metadata.update(_object(artifact.get("metadata")))


_READERS = {
    "message": _take_message,
    "msg": _take_message,
    "task": _take_task,
    "statusUpdate": _take_status,
    "status_update": _take_status,
    "artifactUpdate": _take_artifact,
    "artifact_update": _take_artifact,
}
_KINDS = {
    "message": _take_message,
    "task": _take_task,
    "status-update": _take_status,
    "artifact-update": _take_artifact,
}


def said(holder: dict[str, Any]) -> Said:
    """The words of a message or an artifact: its texts, else its data."""
    listed = holder.get("parts") if "parts" in holder else holder.get("content")
    parts = [_object(part) for part in (listed if isinstance(listed, list) else [])]
    # Protocol 0.2 and some agents wrap a part once more.
    parts = [
        _object(part["root"]) if isinstance(part.get("root"), dict) else part for part in parts
    ]
    seen = tuple(_kind(part) for part in parts)
    texts = tuple(part["text"] for part in parts if isinstance(part.get("text"), str))
    if any(text.strip() for text in texts):
        return Said(texts, seen)
    data = [part["data"] for part in parts if part.get("data") is not None]
    return Said(tuple(_words_of(one) for one in data), seen)


def _words_of(data: Any) -> str:
    """What a data part says: its action, where one can be found, else all of it."""
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


def _spoken(history: Any, our_message: str) -> Said | None:
    """What the agent said in a task's history after our message."""
    found = None
    for message in map(_object, history if isinstance(history, list) else []):
        if _either(message, "messageId", "message_id") == our_message:
            found = None
        elif message.get("role") in _ROLES:
            found = said(message) or found
    return found


def _kind(part: dict[str, Any]) -> str:
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


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def kinds_of(parts: Iterable[str]) -> str:
    """`2 text, 1 file`, for people."""
    counted: dict[str, int] = {}
    for part in parts:
        counted[part] = counted.get(part, 0) + 1
    return ", ".join(f"{number} {kind}" for kind, number in counted.items()) or "no parts"
