"""Finding out what is wrong with a model before anything is played."""

from collections.abc import Sequence

from agentquest.llms.config import ModelSettings, name_address
from agentquest.llms.failures import (
    AuthenticationFailed,
    BadRequest,
    ContextTooLong,
    ModelFailure,
    ModelUnavailable,
    Transient,
)
from agentquest.llms.types import Reply, ReplyKind
from agentquest.records.messages import Message, ToolSpec


def question(tools: Sequence[ToolSpec]) -> Message:
    """A small request, with a tool if the agent calls tools."""
    text = f"Call the tool {tools[0].name} once." if tools else "Reply with the one word: ready"
    return Message(role="user", content=text)


def remarks(reply: Reply, settings: ModelSettings, tools: Sequence[ToolSpec]) -> tuple[str, ...]:
    """Warnings about a model that answers."""
    found = []
    if tools and not reply.tool_calls:
        found.append(f"{settings.model} answered in text although it was asked to call a tool")
    if reply.kind is ReplyKind.TRUNCATED:
        found.append(
            f"a short answer was cut off: llm.max_tokens={settings.max_tokens} is too small"
        )
    if reply.usage is None:
        found.append("the server reports no token counts, so costs can only be estimated")
    return tuple(found)


def explain_failure(
    failure: Transient | ModelFailure, settings: ModelSettings, tools: Sequence[ToolSpec]
) -> ModelFailure:
    """The failure of the request, in terms of what the user can change."""
    kind, text = _explain(failure, settings, bool(tools))
    return kind(text, status=failure.status)


def _explain(
    failure: Transient | ModelFailure, settings: ModelSettings, wants_tools: bool
) -> tuple[type[ModelFailure], str]:
    said, name, where = str(failure), settings.model, settings.base_url
    words = said.lower()
    if isinstance(failure, Transient):
        if failure.unreachable:
            advice = f"is it running, and is {name_address(where)} correct?"
            return ModelUnavailable, f"no server at {where}; {advice} {said}"
        if failure.status == 200:
            return BadRequest, f"{settings.url} answers, but not like a model server: {said}"
    if isinstance(failure, AuthenticationFailed):
        key = "without a key (set llm.api_key_env)"
        if settings.api_key_env is not None:
            key = f"with the key in ${settings.api_key_env}"
        elif settings.api_key is not None:
            key = "with the configured key"
        return type(failure), f"{where} denies access {key}: {said}"
    if isinstance(failure, ContextTooLong):
        room = f"llm.max_tokens={settings.max_tokens} leaves no room for a prompt"
        return BadRequest, f"{name}: {room}: {said}"
    if wants_tools and ("tool" in words or "function call" in words):
        return BadRequest, f"{name} at {where} cannot call tools: {said}"
    if isinstance(failure, Transient):
        return ModelUnavailable, f"{where}: {said}"
    if isinstance(failure, BadRequest) and _is_of_the_model(failure, words, name):
        return BadRequest, f"{where} does not have the model {name!r}: {said}"
    if isinstance(failure, BadRequest) and failure.status in (404, 405):
        advice = f"is {name_address(where)} correct?"
        return BadRequest, f"nothing answers at {settings.url}; {advice} {said}"
    return type(failure), f"{name} at {where}: {said}"


def _is_of_the_model(failure: BadRequest, words: str, name: str) -> bool:
    """Whether the server refused the model's name, rather than the path or another value."""
    own_hint = words.rpartition("(is base_url correct")[0] or words
    if failure.status in (404, 405):
        return "model" in own_hint or name.lower() in own_hint
    unknown = ("not found", "not exist", "not a valid model", "unknown model", "invalid model")
    return "model" in own_hint and any(word in own_hint for word in unknown)
