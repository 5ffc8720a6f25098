"""Messages, tools and token counts as chat completions write them."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from agentquest.llms.thinking import Spoken, joined, split_thinking
from agentquest.llms.wire import count_of, schema_of
from agentquest.records.messages import Message, ToolCall, ToolSpec, Usage

# Where OpenRouter keeps signed or encrypted thoughts, which it wants back as they were.
_DETAILS = "reasoning_details"


def written_message(message: Message, reasoning: bool = False) -> dict[str, Any]:
    """A message as it is sent, with its reasoning where the model wants it back."""
    if message.role == "tool":
        return {
            "role": "tool",
            "tool_call_id": message.tool_call_id or "",
            "content": message.content,
        }
    sent: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        sent["content"] = message.content or None
        sent["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.opaque and _DETAILS in message.opaque:
        sent[_DETAILS] = message.opaque[_DETAILS]
    if reasoning and message.reasoning:
        sent["reasoning_content"] = message.reasoning
    return sent


def marked(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages with marks up to which the server may keep the prompt.

    What comes first stays the same for a whole run; the last message is worth
    keeping only where the next request goes on from it.
    """
    goes_on = any(turn["role"] == "assistant" for turn in turns)
    for turn in {0, len(turns) - 1} if goes_on else {0}:
        content = turns[turn]["content"]
        if isinstance(content, str) and content:
            part = {"type": "text", "text": content, "cache_control": {"type": "ephemeral"}}
            turns[turn]["content"] = [part]
    return turns


def written_tools(tools: Iterable[ToolSpec]) -> list[dict[str, Any]]:
    """Tools as functions with a JSON schema."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": schema_of(tool),
            },
        }
        for tool in tools
    ]


def read_message(message: Mapping[str, Any]) -> Spoken:
    """The words of an assistant message, wherever the server put the reasoning."""
    content = message.get("content")
    if isinstance(content, str):
        thought_parts: list[str] = []
    else:
        content, thought_parts = _content(content)
    text, tagged = split_thinking(content)
    fields = [message.get("reasoning_content"), message.get("reasoning")]
    pieces = [field for field in fields if isinstance(field, str)] + thought_parts + [tagged]
    return Spoken(text, joined(list(dict.fromkeys(pieces))))


def read_opaque(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """Reasoning details that must be sent back as they came; None if there are none."""
    details = message.get(_DETAILS)
    return {_DETAILS: details} if isinstance(details, list) and details else None


def read_tool_calls(calls: object) -> tuple[ToolCall, ...]:
    """The calls of a message, as they were written: whether the arguments are JSON is not asked."""
    if not calls:
        return ()
    if not isinstance(calls, list):
        raise ValueError("tool_calls is not a list")
    return tuple([_tool_call(call) for call in calls])


def _tool_call(call: object) -> ToolCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        raise ValueError("a tool call holds no function")
    name, arguments, identity = function.get("name"), function.get("arguments"), call.get("id")
    if not isinstance(name, str) or not isinstance(arguments, str | None):
        raise ValueError("a tool call is not named in text")
    return ToolCall(
        id=identity if isinstance(identity, str) else "", name=name, arguments=arguments or ""
    )


def _content(content: object) -> tuple[str, list[str]]:
    """Content as text, given as a string, as nothing, or as a list of typed parts."""
    if content is None:
        return "", []
    if isinstance(content, str):
        return content, []
    if not isinstance(content, list):
        raise ValueError(f"content is {type(content).__name__}, not text")
    text: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if not isinstance(part, dict):
            raise ValueError("a content part is not an object")
        if isinstance(part.get("text"), str):
            text.append(part["text"])
        elif "thinking" in part:
            thoughts.append(_thinking_part(part["thinking"]))
    return "".join(text), thoughts


def _thinking_part(thinking: object) -> str:
    if isinstance(thinking, str):
        return thinking
    return _content(thinking)[0]


def read_usage(usage: object) -> Usage | None:
    """Token counts of a response, or None where they are absent or not counts."""
    if not isinstance(usage, dict):
        return None
    prompt, completion = count_of(usage, "prompt_tokens"), count_of(usage, "completion_tokens")
    if prompt is None or completion is None:
        return None
    reasoning = count_of(usage.get("completion_tokens_details"), "reasoning_tokens")
    if reasoning is None:
        reasoning = count_of(usage, "reasoning_tokens")
    details = usage.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        reasoning_tokens=reasoning or 0,
        cached_tokens=count_of(details, "cached_tokens") or 0,
        cache_write_tokens=count_of(details, "cache_write_tokens") or 0,
    )


def read_cost(usage: object) -> float | None:
    """What the server says the call cost (OpenRouter does), in its currency."""
    cost = usage.get("cost") if isinstance(usage, dict) else None
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    return float(cost) if math.isfinite(cost) and cost >= 0 else None
