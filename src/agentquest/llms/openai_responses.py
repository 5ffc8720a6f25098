"""OpenAI's Responses API, without state on the server: every request holds the conversation.

Reasoning comes back encrypted and is sent again with the conversation, so that the model
continues from its own thoughts. The API supports neither a seed nor stop texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from agentquest.lib.settings import operational
from agentquest.lib.thinking import join_texts
from agentquest.llms.client import HttpModel
from agentquest.llms.config import ModelSettings, read_service
from agentquest.llms.types import Reply
from agentquest.llms.wire import declare_tool, drop_unset, objects_of, optional_text, text_of
from agentquest.records.messages import Message, ToolCall, ToolSpec
from agentquest.records.usage import read_cost, read_usage

# The key of `opaque`: output items that must be sent back as they came.
_ITEMS = "responses"


class ResponsesSettings(ModelSettings):
    """A model behind OpenAI's Responses API."""

    endpoint: ClassVar[str] = "/responses"
    own_fields: ClassVar[tuple[str, ...]] = (
        *("model", "input", "temperature", "max_output_tokens", "top_p", "tools", "stream"),
        *("store", "reasoning", "include"),
    )

    base_url: str = "https://api.openai.com/v1"
    """Base URL of the API, without `/responses`."""

    api_key_env: str | None = operational("OPENAI_API_KEY")
    """Environment variable that holds the key; null sends none."""

    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    """Sampling temperature; null leaves it to the server. Reasoning models refuse one."""

    stop: tuple[str, ...] = ()
    """Not supported by the Responses API."""

    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    """How much a reasoning model thinks; null leaves it to the server."""

    reasoning_summary: Literal["auto", "concise", "detailed"] | None = None
    """Whether the records include a summary of the reasoning."""

    @field_validator("stop")
    @classmethod
    def _no_stop(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if value:
            raise ValueError("the Responses API does not support stop texts")
        return value

    @classmethod
    def fill_in(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**read_service(given), **given}

    def request_fields(self, seed: int | None = None) -> dict[str, Any]:
        reasoning = drop_unset({"effort": self.reasoning_effort, "summary": self.reasoning_summary})
        fields: dict[str, Any] = {
            "model": self.model,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "temperature": self.temperature,
            "max_output_tokens": self.max_tokens,
            "top_p": self.top_p,
            "reasoning": reasoning or None,
            "stream": self.stream or None,
        }
        return {**drop_unset(fields), **self.extra_body}


class OpenAIResponses(HttpModel):
    """A model behind OpenAI's Responses API."""

    Settings = ResponsesSettings
    settings: ResponsesSettings

    def _write_conversation(self, messages: Sequence[Message]) -> dict[str, Any]:
        return {"input": [item for message in messages for item in _items(message)]}

    def _write_tools(self, tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
        return [{"type": "function", **declare_tool(tool), "strict": False} for tool in tools]

    def _error_status(self, error: object) -> int:
        code = str(error.get("code")) if isinstance(error, dict) else ""
        if code in ("rate_limit_exceeded", "insufficient_quota"):
            return 429
        return 400 if code in ("invalid_prompt", "context_length_exceeded") else 500

    def _assemble(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        """The event that ends the response holds all of it, whatever came before."""
        for event in events:
            if event.get("type") == "error":
                return {"error": event.get("error") or event}
            response = event.get("response")
            if event.get("type") in _ENDS and isinstance(response, dict):
                return response
        raise ValueError("the stream ends before the reply does")

    def _read_reply(self, data: dict[str, Any]) -> Reply:
        status = data.get("status")
        if status not in (None, "completed", "incomplete"):
            raise ValueError(f"the response is {status!s:.40}")
        output = objects_of(data, "output", required=True)
        text, refusal = _read_words(output)
        calls = tuple([_call(item) for item in output if item["type"] == "function_call"])
        reasoning = join_texts(list(_thoughts(output)))
        usage = read_usage(data.get("usage"))
        finish = _finish(data, bool(calls))
        generated = text or refusal or calls or reasoning or (usage and usage.completion_tokens)
        if not generated and finish == "stop":
            raise ValueError("no token was generated")
        return Reply(
            text=text,
            reasoning=reasoning,
            tool_calls=calls,
            finish_reason=finish,
            refusal=refusal,
            usage=usage,
            cost=read_cost(data.get("usage")),
            model=str(data.get("model") or self.settings.model),
            opaque=_opaque(output),
        )


_ENDS = ("response.completed", "response.incomplete", "response.failed")


def _items(message: Message) -> Iterator[dict[str, Any]]:
    """A message as items of the input."""
    if message.role == "tool":
        yield {
            "type": "function_call_output",
            "call_id": message.tool_call_id or "",
            "output": message.content,
        }
        return
    if message.opaque and _ITEMS in message.opaque:
        yield from message.opaque[_ITEMS]
        return
    if message.content or not message.tool_calls:
        yield {"role": message.role, "content": message.content}
    for call in message.tool_calls:
        yield {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }


def _opaque(output: list[dict[str, Any]]) -> dict[str, Any] | None:
    """All items, to be sent back in order, if there is reasoning among them."""
    kept = any(item["type"] == "reasoning" for item in output)
    return {_ITEMS: output} if kept else None


def _read_words(output: list[dict[str, Any]]) -> tuple[str, str]:
    """The text and the refusal of a response's messages."""
    words: list[str] = []
    refused: list[str] = []
    for item in output:
        if text_of(item, "type") != "message":
            continue
        for part in objects_of(item, "content"):
            if text_of(part, "type") == "refusal":
                refused.append(text_of(part, "refusal"))
            else:
                words.append(text_of(part, "text"))
    return "".join(words), "".join(refused)


def _thoughts(output: list[dict[str, Any]]) -> Iterator[str]:
    """The readable reasoning: a summary, or all of it for open models."""
    for item in output:
        if item["type"] == "reasoning":
            for name in ("summary", "content"):
                for part in objects_of(item, name):
                    yield optional_text(part, "text")


def _call(item: dict[str, Any]) -> ToolCall:
    name, arguments = text_of(item, "name"), optional_text(item, "arguments")
    return ToolCall(id=str(item.get("call_id") or ""), name=name, arguments=arguments)


def _finish(data: dict[str, Any], calls: bool) -> str:
    if data.get("status") != "incomplete":
        return "tool_calls" if calls else "stop"
    details = data.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    return reason if isinstance(reason, str) else "incomplete"
