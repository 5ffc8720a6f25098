"""Putting one of Anthropic's messages together from the events of its stream."""

import json
from typing import Any

_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def assembled_message(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that the events make up; a `ValueError` where its end is missing."""
    message: dict[str, Any] = {}
    blocks: dict[object, dict[str, Any]] = {}
    inputs: dict[object, str] = {}
    for event in events:
        kind, index = event.get("type"), event.get("index")
        if kind == "error":
            return {"error": event.get("error")}
        if kind == "message_start":
            message = dict(event.get("message") or {})
        elif kind == "content_block_start":
            blocks[index] = dict(event.get("content_block") or {})
        elif kind == "content_block_delta":
            _add(event.get("delta") or {}, blocks.setdefault(index, {}), inputs, index)
        elif kind == "message_delta":
            message |= event.get("delta") or {}
            message["usage"] = {**(message.get("usage") or {}), **(event.get("usage") or {})}
    if not events or events[-1].get("type") != "message_stop":
        raise ValueError("the stream ends before the reply does")
    for index, written in inputs.items():
        blocks[index]["input"] = _read(written)
    message["content"] = list(blocks.values())
    return message


def _add(
    delta: dict[str, Any], block: dict[str, Any], inputs: dict[object, str], index: object
) -> None:
    kind = delta.get("type")
    if kind == "input_json_delta":
        inputs[index] = inputs.get(index, "") + str(delta.get("partial_json") or "")
    elif kind in _DELTAS:
        name = _DELTAS[kind]
        block[name] = str(block.get(name) or "") + str(delta.get(name) or "")


def _read(written: str) -> object:
    """A tool's input; what was cut off before it was JSON stays as it was written."""
    try:
        return json.loads(written) if written else {}
    except (ValueError, RecursionError):
        return written
