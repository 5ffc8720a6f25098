"""Anthropic's Messages API.

Thinking blocks are sent back with the conversation unchanged, signatures and order
included. The prompt is marked for the server's cache, which stores only what is marked.
"""

import json
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from agentquest.lib.settings import operational
from agentquest.lib.thinking import join_texts
from agentquest.llms.client import HttpModel
from agentquest.llms.config import ModelSettings
from agentquest.llms.types import Reply
from agentquest.llms.wire import (
    Pieces,
    arguments_object,
    declare_tool,
    drop_unset,
    in_turns,
    join_pieces,
    object_of,
    objects_of,
    optional_text,
    place_of,
    text_of,
)
from agentquest.records.messages import Message, ToolCall, ToolSpec
from agentquest.records.usage import read_usage

# The key of `opaque`: content blocks that must be sent back as they came.
_BLOCKS = "anthropic"
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class AnthropicSettings(ModelSettings):
    """A model behind Anthropic's Messages API."""

    endpoint: ClassVar[str] = "/messages"
    own_fields: ClassVar[tuple[str, ...]] = (
        *("model", "messages", "system", "temperature", "max_tokens", "top_p", "tools", "stream"),
        *("stop_sequences", "thinking"),
    )

    base_url: str = "https://api.anthropic.com/v1"
    """Base URL of the API, without `/messages`."""

    api_key_env: str | None = operational("ANTHROPIC_API_KEY")
    """Environment variable that holds the key; null sends none."""

    api_version: str = "2023-06-01"
    """The API's version, as its header names it. `2026-10-21` takes no temperature or top_p."""

    temperature: float | None = Field(default=None, ge=0.0, le=1.0)
    """Sampling temperature; null leaves it to the server. Newer models refuse one."""

    max_tokens: int = Field(default=8192, ge=1)
    """Most tokens per reply, thinking included."""

    thinking: Literal["adaptive", "disabled"] | int | None = None
    """`adaptive`: the model decides how much it thinks; a number: at most so many tokens
    (older models); null leaves it to the server."""

    thinking_display: Literal["summarized", "omitted"] | None = None
    """Whether `adaptive` thoughts are returned in words; null leaves it to the server."""

    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    """How much effort the model puts into a reply; null leaves it to the server."""

    cache_marks: bool = operational(True)
    """Mark the parts of the prompt that the server may cache; without marks it caches nothing."""

    @model_validator(mode="after")
    def _one_way_of_thinking(self) -> "AnthropicSettings":
        if self.thinking_display is not None and self.thinking != "adaptive":
            raise ValueError("thinking_display needs thinking: adaptive")
        if self.effort is not None and "output_config" in self.extra_body:
            raise ValueError("give effort or extra_body.output_config, not both")
        return self

    def request_fields(self, seed: int | None = None) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "model": self.model,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "stop_sequences": list(self.stop) or None,
            "thinking": self._thinking(),
            "output_config": {"effort": self.effort} if self.effort else None,
            "stream": self.stream or None,
        }
        return {**drop_unset(fields), **self.extra_body}

    def _thinking(self) -> dict[str, Any] | None:
        if self.thinking is None:
            return None
        if isinstance(self.thinking, int):
            return {"type": "enabled", "budget_tokens": self.thinking}
        display = {"display": self.thinking_display} if self.thinking_display else {}
        return {"type": self.thinking, **display}


class AnthropicMessages(HttpModel):
    """A model behind Anthropic's Messages API."""

    Settings = AnthropicSettings
    settings: AnthropicSettings

    def _headers(self, key: str) -> dict[str, str]:
        version = {"anthropic-version": self.settings.api_version}
        return {**version, "x-api-key": key} if key else version

    def _write_conversation(self, messages: Sequence[Message]) -> dict[str, Any]:
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        turns = in_turns(
            ("assistant" if message.role == "assistant" else "user", _blocks(message))
            for message in messages
            if message.role != "system"
        )
        blocks = [{"type": "text", "text": system}] if system else []
        said = [{"role": role, "content": content} for role, content in turns]
        if self.settings.cache_marks:
            _mark_last(blocks)
            # The last turn is worth caching only if the next request continues from it.
            if len(turns) > 1:
                _mark_last(turns[-1][1])
        return {"system": blocks, "messages": said} if blocks else {"messages": said}

    def _write_tools(self, tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
        return [declare_tool(tool, "input_schema") for tool in tools]

    def _error_status(self, error: object) -> int:
        kind = error.get("type") if isinstance(error, dict) else None
        return _STATUS.get(str(kind), 500)

    def _assemble(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        """The message; events out of their order mean that something was lost on the way."""
        message: dict[str, Any] | None = None
        blocks: dict[int | None, dict[str, Any]] = {}
        pieces: dict[int | None, Pieces] = {}  # of those that are not finished
        for event in events:
            kind, index = text_of(event, "type"), place_of(event, "index")
            if kind == "error":
                return {"error": event.get("error") or event}
            if kind == "message_start":
                message = dict(object_of(event, "message"))
            elif kind == "content_block_start" and index not in blocks:
                blocks[index] = object_of(event, "content_block")
                pieces[index] = Pieces(list)
            elif kind == "content_block_delta" and index in pieces:
                _add(object_of(event, "delta"), pieces[index])
            elif kind == "content_block_stop" and index in pieces:
                blocks[index] = _complete(blocks[index], pieces.pop(index))
            elif kind == "message_delta" and message is not None:
                message |= object_of(event, "delta")
                message["usage"] = {**object_of(message, "usage"), **object_of(event, "usage")}
            elif kind in ("content_block_start", "content_block_delta", "message_delta"):
                raise ValueError(f"the stream's {kind} is out of order")
            elif kind == "message_stop":
                break
        else:
            raise ValueError("the stream ends before the reply does")
        if message is None or message.get("stop_reason") is None:
            raise ValueError("the stream lacks the start or the end of its message")
        for index, texts in pieces.items():
            blocks[index] = _complete(blocks[index], texts)
        return {**message, "content": list(blocks.values())}

    def _read_reply(self, data: dict[str, Any]) -> Reply:
        content = objects_of(data, "content", required=True)
        finish, usage = optional_text(data, "stop_reason"), read_usage(data.get("usage"))
        kinds = [text_of(block, "type") for block in content]
        text = "".join(text_of(block, "text") for block in content if block["type"] == "text")
        thoughts = join_texts([optional_text(block, "thinking") for block in content])
        calls = tuple([_call(block) for block in content if block["type"] == "tool_use"])
        generated = content or (usage and usage.completion_tokens > 0)
        if not generated and finish in ("", "end_turn", "stop_sequence"):
            raise ValueError("no token was generated")
        return Reply(
            text=text,
            reasoning=thoughts,
            tool_calls=calls,
            finish_reason=finish or None,
            usage=usage,
            model=str(data.get("model") or self.settings.model),
            opaque={_BLOCKS: content} if _THOUGHTS.intersection(kinds) else None,
        )


def _mark_last(blocks: list[dict[str, Any]]) -> None:
    """Put a cache mark on the last block, which may be a message's own and stays as it is."""
    blocks[-1:] = [{**block, "cache_control": {"type": "ephemeral"}} for block in blocks[-1:]]


def _blocks(message: Message) -> list[dict[str, Any]]:
    """A message's content; the API refuses empty text."""
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.tool_call_id or ""}
        return [{**result, "content": message.content} if message.content else result]
    if message.opaque and _BLOCKS in message.opaque:
        return list(message.opaque[_BLOCKS])
    blocks: list[dict[str, Any]] = []
    if message.content.strip():
        blocks.append({"type": "text", "text": message.content})
    for call in message.tool_calls:
        used = {"type": "tool_use", "id": call.id, "name": call.name}
        blocks.append({**used, "input": arguments_object(call.arguments)})
    return blocks


def _call(block: dict[str, Any]) -> ToolCall:
    wanted = block.get("input")
    arguments = wanted if isinstance(wanted, str) else json.dumps(wanted)
    return ToolCall(id=str(block.get("id") or ""), name=text_of(block, "name"), arguments=arguments)


_DELTAS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


def _add(delta: dict[str, Any], pieces: Pieces) -> None:
    field = _DELTAS.get(text_of(delta, "type"))
    if field is not None:
        pieces[field].append(text_of(delta, field))


def _complete(block: dict[str, Any], pieces: Pieces) -> dict[str, Any]:
    """A streamed block with its texts and its tool's input; one that was cut off stays text."""
    texts = join_pieces(pieces)
    written = texts.pop("partial_json", "")
    whole = {**block, **{name: optional_text(block, name) + texts[name] for name in texts}}
    if written:
        try:
            whole["input"] = json.loads(written)
        except (ValueError, RecursionError):
            whole["input"] = written
    return whole
