"""Chat completions, as OpenAI, OpenRouter, vLLM, SGLang, llama.cpp and Ollama speak them."""

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import field_validator

from agentquest.lib.settings import operational
from agentquest.llms.client import HttpModel
from agentquest.llms.config import ModelSettings
from agentquest.llms.openai_messages import (
    marked,
    read_cost,
    read_message,
    read_opaque,
    read_tool_calls,
    read_usage,
    written_message,
    written_tools,
)
from agentquest.llms.openai_stream import assembled_chat
from agentquest.llms.types import CUT_OFF, REFUSED, Reply
from agentquest.llms.wire import given
from agentquest.records.messages import Message, ToolSpec


class OpenAISettings(ModelSettings):
    """A model behind a server that speaks chat completions."""

    endpoint: ClassVar[str] = "/chat/completions"
    own_fields: ClassVar[tuple[str, ...]] = (
        *("model", "messages", "temperature", "max_tokens", "top_p", "stop", "seed"),
        *("tools", "stream"),
    )

    enable_thinking: bool | None = None
    """Turn the reasoning of hybrid models on or off, as a `chat_template_kwargs`
    entry (vLLM, SGLang, llama.cpp); null sends nothing."""

    send_reasoning: bool = False
    """Send the model's earlier reasoning back to it, as `reasoning_content`. Models that
    think between tool calls need that; others refuse it."""

    cache_marks: bool = operational(False)
    """Mark the parts of the prompt that a server may cache, for Anthropic's models behind
    OpenRouter, which cache nothing unmarked."""

    @field_validator("extra_body")
    @classmethod
    def _template_arguments(cls, value: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(value.get("chat_template_kwargs", {}), dict):
            raise ValueError("chat_template_kwargs must be a mapping")
        return value

    def request_fields(self) -> dict[str, Any]:
        """The request without its messages, in a fixed order; unset fields are left out."""
        fields: dict[str, Any] = {
            "model": self.model,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "top_p": self.top_p,
            "stop": list(self.stop) or None,
            "seed": self.seed,
            "stream": self.stream or None,
            "stream_options": {"include_usage": True} if self.stream else None,
        }
        sent = {**given(fields), **dict(sorted(self.extra_body.items()))}
        if self.enable_thinking is not None:
            template = dict(self.extra_body.get("chat_template_kwargs", {}))
            template["enable_thinking"] = self.enable_thinking
            sent["chat_template_kwargs"] = template
        return sent


class OpenAIChat(HttpModel):
    """A model behind a server that speaks chat completions."""

    Settings = OpenAISettings
    settings: OpenAISettings

    def _written(self, message: Message, messages: Sequence[Message]) -> list[Any]:
        return [written_message(message, self.settings.send_reasoning)]

    def _conversation(self, messages: Sequence[Message]) -> str:
        if self.settings.cache_marks:
            turns = [turn for message in messages for turn in self._written(message, messages)]
            return f'"messages": {json.dumps(marked(turns))}'
        return f'"messages": [{", ".join(self._fragments.of(messages))}]'

    def _fields(self, tools: Sequence[ToolSpec], seed: int | None) -> dict[str, Any]:
        fields = self.settings.request_fields()
        if seed is not None:
            fields["seed"] = seed
        if tools:
            fields["tools"] = written_tools(tools)
        return fields

    def _error(self, data: dict[str, Any]) -> object:
        # OpenRouter tells a provider's failure inside a response of status 200.
        choices = data.get("choices")
        if data.get("error") or not isinstance(choices, list) or not choices:
            return data.get("error")
        return choices[0].get("error") if isinstance(choices[0], dict) else None

    def _assembled(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        return assembled_chat(events)

    def _reply(self, data: dict[str, Any]) -> Reply:
        choices = data.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise ValueError("there is no choice in it")
        message, finish = choices[0].get("message"), choices[0].get("finish_reason")
        if not isinstance(message, dict):
            raise ValueError("the choice has no message")
        if not (finish is None or isinstance(finish, str)):
            raise ValueError("finish_reason is not text")
        text, reasoning = read_message(message)
        usage, calls = read_usage(data.get("usage")), read_tool_calls(message.get("tool_calls"))
        refusal = message.get("refusal")
        generated = text or reasoning or calls or refusal or (usage and usage.completion_tokens > 0)
        # Where it was the model that said nothing, asking again would change its score.
        if not generated and finish not in CUT_OFF and finish not in REFUSED:
            raise ValueError("no token was generated")
        model = data.get("model")
        return Reply(
            text=text,
            reasoning=reasoning,
            tool_calls=calls,
            finish_reason=finish or None,
            refusal=refusal if isinstance(refusal, str) else "",
            usage=usage,
            cost=read_cost(data.get("usage")),
            model=model if isinstance(model, str) else self.settings.model,
            opaque=read_opaque(message),
        )
