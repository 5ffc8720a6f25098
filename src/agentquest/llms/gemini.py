"""Google's Gemini API.

Parts that carry a thought's signature are sent back unchanged: newer models refuse a
conversation without them. A tool's result is sent under the tool's name.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import Field

from agentquest.lib.settings import operational
from agentquest.lib.thinking import join_texts
from agentquest.llms.client import HttpModel
from agentquest.llms.config import ModelSettings
from agentquest.llms.types import Reply
from agentquest.llms.wire import (
    arguments_object,
    declare_tool,
    drop_unset,
    in_turns,
    object_of,
    objects_of,
    optional_text,
    text_of,
)
from agentquest.records.messages import Message, ToolCall, ToolSpec
from agentquest.records.usage import read_usage

# The key of `opaque`: parts that must be sent back as they came.
_PARTS = "gemini"
# Prefix of the ids that we give to calls without one.
_OWN_ID = "call-"


class GeminiSettings(ModelSettings):
    """A model behind Google's Gemini API."""

    own_fields: ClassVar[tuple[str, ...]] = ("contents", "systemInstruction", "tools")

    base_url: str = "https://generativelanguage.googleapis.com/v1beta"
    """Base URL of the API, without `/models/…`."""

    api_key_env: str | None = operational("GEMINI_API_KEY")
    """Environment variable that holds the key; null sends none."""

    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    """Sampling temperature; null leaves it to the server, as Google advises for newer models."""

    max_tokens: int | None = Field(default=8192, ge=1)
    """Most tokens per reply, thoughts included."""

    thinking_budget: int | None = Field(default=None, ge=-1)
    """Most thinking tokens; 0: none, -1: up to the model; null leaves it to the server."""

    thinking_level: Literal["minimal", "low", "medium", "high"] | None = None
    """How much newer models think; null leaves it to the server."""

    include_thoughts: bool = operational(False)
    """Whether the records include a summary of the thoughts."""

    @property
    def url(self) -> str:
        """The model's own address; which method it names depends on streaming."""
        method = "streamGenerateContent?alt=sse" if self.stream else "generateContent"
        name = quote(self.model.removeprefix("models/"), safe="/")
        return f"{self.base_url}/models/{name}:{method}"

    def request_fields(self, seed: int | None = None) -> dict[str, Any]:
        thinking = {
            "thinkingBudget": self.thinking_budget,
            "thinkingLevel": self.thinking_level and self.thinking_level.upper(),
            "includeThoughts": self.include_thoughts or None,
        }
        generation: dict[str, Any] = {
            "temperature": self.temperature,
            "maxOutputTokens": self.max_tokens,
            "topP": self.top_p,
            "stopSequences": list(self.stop) or None,
            "seed": seed,
            "thinkingConfig": drop_unset(thinking) or None,
        }
        more = self.extra_body.get("generationConfig", {})
        return {**self.extra_body, "generationConfig": {**drop_unset(generation), **more}}


class GeminiModel(HttpModel):
    """A model behind Google's Gemini API."""

    Settings = GeminiSettings
    settings: GeminiSettings

    def _headers(self, key: str) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def _write_conversation(self, messages: Sequence[Message]) -> dict[str, Any]:
        system = [{"text": message.content} for message in messages if message.role == "system"]
        turns = [{"role": role, "parts": parts} for role, parts in in_turns(_say(messages))]
        fixed = {"systemInstruction": {"parts": system}} if system else {}
        return {**fixed, "contents": turns}

    def _write_tools(self, tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
        declared = [declare_tool(tool, "parametersJsonSchema") for tool in tools]
        return [{"functionDeclarations": declared}]

    def _assemble(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        whole: dict[str, Any] = {}
        parts: list[dict[str, Any]] = []
        finish = None
        for event in events:
            if event.get("error"):
                return {"error": event["error"]}
            whole |= {name: value for name, value in event.items() if name != "candidates"}
            candidate = _candidate(event)
            parts += _parts(candidate)
            finish = candidate.get("finishReason") or finish
        if finish is None and not whole.get("promptFeedback"):
            raise ValueError("the stream ends before the reply does")
        if finish is not None:
            content = {"parts": _merge_texts(parts), "role": "model"}
            whole["candidates"] = [{"content": content, "finishReason": finish}]
        return whole

    def _read_reply(self, data: dict[str, Any]) -> Reply:
        reason = optional_text(object_of(data, "promptFeedback"), "blockReason")
        candidate = _candidate(data)
        # Without a reason the model has not stopped generating, so the reply is not whole.
        finish = "prohibited_content" if reason else text_of(candidate, "finishReason").lower()
        parts, usage = _parts(candidate), read_usage(data.get("usageMetadata"))
        if not parts and finish == "stop" and not (usage and usage.completion_tokens):
            raise ValueError("no token was generated")
        texts = [part for part in parts if "text" in part]
        return Reply(
            text="".join(text_of(part, "text") for part in texts if not _is_thought(part)),
            reasoning=join_texts([text_of(part, "text") for part in texts if _is_thought(part)]),
            tool_calls=_calls(parts),
            finish_reason=finish,
            refusal=f"The prompt was blocked: {reason}" if reason else "",
            usage=usage,
            model=str(data.get("modelVersion") or self.settings.model),
            opaque=_opaque(parts),
        )


def _say(messages: Sequence[Message]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Who says what; a tool's result goes by the name of the newest call that it answers, of calls
    without an identity in one turn the first, as that is the one carried out."""
    names: dict[str, str] = {}
    for message in messages:
        names.update((used.id, used.name) for used in reversed(message.tool_calls))
        if message.role == "tool":
            call = message.tool_call_id or ""
            given = {"name": names.get(call, ""), "response": {"result": message.content}}
            yield "user", [{"functionResponse": {**_identity(call), **given}}]
        elif message.role != "system":
            yield "model" if message.role == "assistant" else "user", _write_parts(message)


def _write_parts(message: Message) -> list[dict[str, Any]]:
    if message.opaque and _PARTS in message.opaque:
        return list(message.opaque[_PARTS])
    parts: list[dict[str, Any]] = [{"text": message.content}] if message.content else []
    for used in message.tool_calls:
        wanted = {**_identity(used.id), "name": used.name, "args": arguments_object(used.arguments)}
        parts.append({"functionCall": wanted})
    return parts


def _identity(call: str) -> dict[str, str]:
    return {} if not call or call.startswith(_OWN_ID) else {"id": call}


def _calls(parts: list[dict[str, Any]]) -> tuple[ToolCall, ...]:
    wanted = [object_of(part, "functionCall") for part in parts if "functionCall" in part]
    return tuple(
        ToolCall(
            id=str(call.get("id") or f"{_OWN_ID}{number}"),
            name=text_of(call, "name"),
            arguments=json.dumps(call.get("args") or {}),
        )
        for number, call in enumerate(wanted)
    )


def _opaque(parts: list[dict[str, Any]]) -> dict[str, Any] | None:
    return {_PARTS: parts} if any("thoughtSignature" in part for part in parts) else None


def _candidate(data: dict[str, Any]) -> dict[str, Any]:
    return next(iter(objects_of(data, "candidates")), {})


def _parts(candidate: dict[str, Any]) -> list[dict[str, Any]]:
    return objects_of(object_of(candidate, "content"), "parts")


def _is_thought(part: dict[str, Any]) -> bool:
    if not isinstance(part.get("thought"), bool | None):
        raise ValueError("thought is not true or false")
    return bool(part.get("thought"))


def _merge_texts(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join consecutive pieces of text into one part; signatures stay in place."""
    merged: list[dict[str, Any]] = []
    for (is_plain, _), group in itertools.groupby(parts, _kind_of_text):
        pieces = list(group)
        if is_plain:
            text = "".join([text_of(piece, "text") for piece in pieces])
            pieces = [{**pieces[0], "text": text}]
        merged += pieces
    return merged


def _kind_of_text(part: dict[str, Any]) -> tuple[bool, object]:
    return "text" in part and "thoughtSignature" not in part, part.get("thought")
