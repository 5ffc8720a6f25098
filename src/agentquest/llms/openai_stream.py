"""Putting a chat completion together from the chunks of its stream."""

from typing import Any

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


def assembled_chat(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """The completion that the chunks make up; a `ValueError` where its end is missing."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    calls: dict[int, dict[str, Any]] = {}
    whole: dict[str, Any] = {}
    finish: object = None
    for chunk in chunks:
        if chunk.get("error"):
            return {"error": chunk["error"]}
        for name in ("model", "usage"):
            if chunk.get(name):
                whole[name] = chunk[name]
        choice = _first(chunk)
        if choice is None:
            continue
        finish = choice.get("finish_reason") or finish
        delta = choice.get("delta")
        if isinstance(delta, dict):
            _add(delta, message, calls)
    if finish is None:
        raise ValueError("the stream ends before the reply does")
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    whole["choices"] = [{"index": 0, "message": message, "finish_reason": finish}]
    return whole


def _first(chunk: dict[str, Any]) -> dict[str, Any] | None:
    choices = chunk.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    choice = choices[0]
    return choice if isinstance(choice, dict) else None


def _add(delta: dict[str, Any], message: dict[str, Any], calls: dict[int, dict[str, Any]]) -> None:
    for name in _TEXTS:
        if isinstance(delta.get(name), str):
            message[name] = (message.get(name) or "") + delta[name]
    if isinstance(delta.get("reasoning_details"), list):
        message["reasoning_details"] = [
            *message.get("reasoning_details", []),
            *delta["reasoning_details"],
        ]
    for piece in delta.get("tool_calls") or []:
        if not isinstance(piece, dict) or not isinstance(piece.get("function"), dict | None):
            raise ValueError("a piece of a tool call is not an object")
        index = piece.get("index")
        number = index if isinstance(index, int) else len(calls)
        call = calls.setdefault(
            number, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        )
        call["id"] = piece.get("id") or call["id"]
        function = piece.get("function") or {}
        for name in ("name", "arguments"):
            call["function"][name] += function.get(name) or ""
