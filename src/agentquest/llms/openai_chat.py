"""Chat completions, as OpenAI, OpenRouter, vLLM, SGLang, llama.cpp and Ollama speak them."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import field_validator

from agentquest.lib.settings import operational
from agentquest.lib.thinking import Spoken, join_texts, split_thinking
from agentquest.llms.client import HttpModel
from agentquest.llms.config import ModelSettings, read_service
from agentquest.llms.types import CUT_OFF, REFUSED, Reply
from agentquest.llms.wire import (
    Pieces,
    declare_tool,
    drop_unset,
    join_pieces,
    object_of,
    objects_of,
    optional_text,
    place_of,
    text_of,
)
from agentquest.records.messages import Message, ToolCall, ToolSpec
from agentquest.records.usage import read_cost, read_usage


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

    @classmethod
    def fill_in(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**read_service(given), **given}

    def request_fields(self, seed: int | None = None) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "model": self.model,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "top_p": self.top_p,
            "stop": list(self.stop) or None,
            "seed": seed,
            "stream": self.stream or None,
            "stream_options": {"include_usage": True} if self.stream else None,
        }
        sent = {**drop_unset(fields), **dict(sorted(self.extra_body.items()))}
        if self.enable_thinking is not None:
            template = dict(self.extra_body.get("chat_template_kwargs", {}))
            template["enable_thinking"] = self.enable_thinking
            sent["chat_template_kwargs"] = template
        return sent


class OpenAIChat(HttpModel):
    """A model behind a server that speaks chat completions."""

    Settings = OpenAISettings
    settings: OpenAISettings

    def _write_conversation(self, messages: Sequence[Message]) -> dict[str, Any]:
        turns = [write_message(message, self.settings.send_reasoning) for message in messages]
        return {"messages": mark_for_cache(turns) if self.settings.cache_marks else turns}

    def _write_tools(self, tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
        return [{"type": "function", "function": declare_tool(tool)} for tool in tools]

    def _find_error(self, data: dict[str, Any]) -> object:
        # OpenRouter reports a provider's failure inside a response of status 200.
        return data.get("error") or _first_choice(data).get("error")

    def _assemble(self, events: list[dict[str, Any]]) -> dict[str, Any]:
        said = Pieces(list)
        details: list[Any] = []
        calls: dict[int, list[Pieces]] = {}
        whole: dict[str, Any] = {}
        finish: object = None
        for chunk in events:
            if error := self._find_error(chunk):
                return {"error": error}
            for name in ("model", "usage"):
                if chunk.get(name):
                    whole[name] = chunk[name]
            choice = _first_choice(chunk)
            finish = choice.get("finish_reason") or finish
            delta = object_of(choice, "delta")
            _add_texts(delta, said)
            _add_calls(delta, calls)
            if isinstance(delta.get(_DETAILS), list):
                details += delta[_DETAILS]
        if finish is None:
            raise ValueError("the stream ends before the reply does")
        functions = [join_pieces(call) for index in sorted(calls) for call in calls[index]]
        made = [{"id": function.pop("id", ""), "function": function} for function in functions]
        message = {**join_pieces(said), _DETAILS: details, "tool_calls": made}
        whole["choices"] = [{"index": 0, "message": message, "finish_reason": finish}]
        return whole

    def _read_reply(self, data: dict[str, Any]) -> Reply:
        choice = _first_choice(data)
        if not choice:
            raise ValueError("there is no choice in it")
        message, finish = choice.get("message"), choice.get("finish_reason")
        if not isinstance(message, dict):
            raise ValueError("the choice has no message")
        if not (finish is None or isinstance(finish, str)):
            raise ValueError("finish_reason is not text")
        if finish in _BROKEN_OFF:
            raise ValueError(f"the model ended with finish_reason {finish}")
        content = _content(message.get("content"))[0]
        text, reasoning = read_message(message)
        details = message.get(_DETAILS)
        usage, calls = read_usage(data.get("usage")), read_tool_calls(message)
        refusal = optional_text(message, "refusal")
        generated = text or reasoning or calls or refusal or (usage and usage.completion_tokens > 0)
        # If the model itself said nothing, asking again would change its score.
        if not generated and finish not in CUT_OFF and finish not in REFUSED:
            raise ValueError("no token was generated")
        return Reply(
            text=text,
            reasoning=reasoning,
            content=content if content != text else "",
            tool_calls=calls,
            finish_reason=finish or None,
            refusal=refusal,
            usage=usage,
            cost=read_cost(data.get("usage")),
            model=str(data.get("model") or self.settings.model),
            opaque={_DETAILS: details} if isinstance(details, list) and details else None,
        )


# A reply that its server did not finish, as OpenRouter and vLLM (also one that is shut down) say.
_BROKEN_OFF = ("error", "abort")
# Where OpenRouter puts signed or encrypted thoughts, which it wants back unchanged.
_DETAILS = "reasoning_details"


def write_message(message: Message, reasoning: bool = False) -> dict[str, Any]:
    """A message as it is sent, with its reasoning if the model wants it back."""
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


def mark_for_cache(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mark the messages up to which the server may cache the prompt.

    The first message is the same for a whole run; the last one is worth caching only if the
    next request continues from it.
    """
    continues = any(turn["role"] == "assistant" for turn in turns)
    for turn in {0, len(turns) - 1} if continues else {0}:
        content = turns[turn]["content"]
        if isinstance(content, str) and content:
            part = {"type": "text", "text": content, "cache_control": {"type": "ephemeral"}}
            turns[turn]["content"] = [part]
    return turns


def read_message(message: Mapping[str, Any]) -> Spoken:
    """The text and the reasoning of an assistant message, wherever the server put them."""
    content, thought_parts = _content(message.get("content"))
    text, tagged = split_thinking(content)
    fields = [message.get("reasoning_content"), message.get("reasoning")]
    pieces = [field for field in fields if isinstance(field, str)] + thought_parts + [tagged]
    return Spoken(text, join_texts(list(dict.fromkeys(pieces))))


def read_tool_calls(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of a message as the model wrote them; the arguments may not be JSON."""
    return tuple(map(_tool_call, objects_of(message, "tool_calls")))


def _tool_call(call: dict[str, Any]) -> ToolCall:
    function = object_of(call, "function")
    name, arguments = text_of(function, "name"), optional_text(function, "arguments")
    return ToolCall(id=str(call.get("id") or ""), name=name, arguments=arguments)


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
        if "text" in part:
            text.append(text_of(part, "text"))
        elif "thinking" in part:
            thoughts.append(_content(part["thinking"])[0])
    return "".join(text), thoughts


_TEXTS = ("reasoning_content", "reasoning", "refusal")


def _first_choice(data: dict[str, Any]) -> dict[str, Any]:
    """The choice number 0 of a response or chunk; empty if there is none."""
    choices = objects_of(data, "choices")
    return next((one for one in choices if place_of(one, "index") in (0, None)), {})


def _add_texts(delta: dict[str, Any], said: Pieces) -> None:
    content, thoughts = _content(delta.get("content"))
    said["content"].append(content)
    said["reasoning"] += thoughts
    for name in _TEXTS:
        said[name].append(optional_text(delta, name))


def _add_calls(delta: dict[str, Any], calls: dict[int, list[Pieces]]) -> None:
    for piece in objects_of(delta, "tool_calls"):
        function, index = object_of(piece, "function"), place_of(piece, "index")
        begins = bool(function.get("name"))
        if index is None:  # a server that does not number them: a name begins a call
            index = next(reversed(calls), -1) + (not calls or begins)
        same = calls.setdefault(index, [Pieces(list)])
        own_id = [str(piece["id"])] if piece.get("id") else same[-1]["id"]
        # Google's server gives all calls the same number, and each an id of its own.
        if begins and same[-1]["id"] not in ([], own_id):
            same.append(Pieces(list))
        call = same[-1]
        call["id"] = own_id
        for name in ("name", "arguments"):
            if function.get(name) is not None:
                call[name].append(text_of(function, name))
