"""What we send is what each provider's own package says may be sent."""

import base64
import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from agentquest.lib.settings import describe_fields
from agentquest.llms.anthropic import AnthropicMessages, AnthropicSettings
from agentquest.llms.client import HttpModel
from agentquest.llms.gemini import GeminiModel, GeminiSettings
from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings
from agentquest.llms.openai_responses import OpenAIResponses, ResponsesSettings
from agentquest.records.messages import Message, ToolCall, ToolSpec

ACT = ToolSpec(
    name="act",
    description="Do something.",
    parameters={"type": "object", "properties": {"command": {"type": "string"}}},
    command="<command>",
)
LOOK = ToolSpec(name="look", description="Look around.")
CALL = ToolCall(id="c1", name="act", arguments='{"command": "look"}')
SYSTEM = Message(role="system", content="You play.")
TALK = [
    SYSTEM,
    Message(role="user", content="Begin."),
    Message(role="assistant", content="Now.", tool_calls=(CALL,)),
    Message(role="tool", tool_call_id="c1", content="You see a desk 1."),
    Message(role="assistant", content="Hm."),
    Message(role="user", content="Go on."),
]


def sent(client: HttpModel, messages: list[Message] = TALK, seed: int | None = 7) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(client._body(messages, (ACT, LOOK), seed))
    return body


def check(params: Any, body: dict[str, Any]) -> None:
    """The body is valid to its depths, and nothing in it is unknown to the package."""
    assert unrolled(TypeAdapter(params).validate_python(body)) == body


def unrolled(value: Any) -> Any:
    """Lists that pydantic validates only as they are read, read."""
    if isinstance(value, dict):
        return {key: unrolled(item) for key, item in value.items()}
    if isinstance(value, list | tuple) or hasattr(value, "__next__"):
        return [unrolled(item) for item in value]
    return value


def chat(**fields: Any) -> OpenAIChat:
    return OpenAIChat(OpenAISettings(model="m", **fields))


def responses(**fields: Any) -> OpenAIResponses:
    return OpenAIResponses(ResponsesSettings(model="m", api_key_env=None, **fields))


def anthropic(**fields: Any) -> AnthropicMessages:
    return AnthropicMessages(AnthropicSettings(model="m", api_key_env=None, **fields))


def gemini(**fields: Any) -> GeminiModel:
    return GeminiModel(GeminiSettings(model="m", api_key_env=None, **fields))


@pytest.mark.parametrize("fields", [{}, {"stop": "\n", "top_p": 0.5, "send_reasoning": True}])
def test_chat_completions(fields: dict[str, Any]) -> None:
    pytest.importorskip("openai", reason="openai is not installed")
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    check(CompletionCreateParamsNonStreaming, sent(chat(**fields)))


@pytest.mark.parametrize(
    "fields",
    [{}, {"reasoning_effort": "low", "reasoning_summary": "auto", "max_tokens": None, "top_p": 1}],
)
def test_responses(fields: dict[str, Any]) -> None:
    pytest.importorskip("openai", reason="openai is not installed")
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

    body = sent(responses(**fields))
    check(ResponseCreateParamsNonStreaming, body)
    assert body["store"] is False
    assert "seed" not in body


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"thinking": "adaptive", "thinking_display": "summarized", "effort": "low"},
        {"thinking": 2048, "stop": "\n", "cache_marks": False},
    ],
)
def test_messages(fields: dict[str, Any]) -> None:
    pytest.importorskip("anthropic", reason="anthropic is not installed")
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    check(MessageCreateParamsNonStreaming, sent(anthropic(**fields)))


@pytest.mark.parametrize(
    "fields", [{}, {"thinking_level": "low", "include_thoughts": True, "stop": ["a"], "top_p": 1}]
)
def test_gemini(fields: dict[str, Any]) -> None:
    types = pytest.importorskip("google.genai.types", reason="google-genai is not installed")
    body = sent(gemini(**fields))
    assert set(body) == {"systemInstruction", "contents", "generationConfig", "tools"}
    contents = [types.Content.model_validate(content) for content in body["contents"]]
    assert [content.role for content in contents] == ["user", "model", "user", "model", "user"]
    assert contents[2].parts[0].function_response.name == "act"
    types.Content.model_validate(body["systemInstruction"])
    types.GenerationConfig.model_validate(body["generationConfig"])
    (tool,) = [types.Tool.model_validate(tool) for tool in body["tools"]]
    assert [declared.name for declared in tool.function_declarations] == ["act", "look"]


def test_the_packages_would_tell_what_is_wrong() -> None:
    """The checks above can fail."""
    pytest.importorskip("anthropic", reason="anthropic is not installed")
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    wrong = {**sent(anthropic()), "messages": [{"role": "tool", "content": 3}]}
    with pytest.raises(ValidationError):
        check(MessageCreateParamsNonStreaming, wrong)


def test_what_a_tool_stands_for_here_is_not_told_to_models() -> None:
    for client in (chat(), responses(), anthropic(), gemini()):
        assert "<command>" not in json.dumps(sent(client))


def test_thoughts_go_back_to_anthropic_as_they_came() -> None:
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "signed"},
        {"type": "redacted_thinking", "data": "locked"},
        {"type": "text", "text": "Now."},
        {"type": "tool_use", "id": "c1", "name": "act", "input": {"command": "look"}},
    ]
    reply = anthropic()._read_reply({"content": blocks, "stop_reason": "tool_use"})
    assert reply.reasoning == "Hm."
    turns = sent(anthropic(), [*TALK[:2], reply.message, TALK[3]])["messages"]
    assert turns[1] == {"role": "assistant", "content": blocks}


def test_thoughts_go_back_to_openai_as_they_came() -> None:
    items = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "locked"},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "c1",
            "name": "act",
            "arguments": '{"command": "look"}',
            "status": "completed",
        },
    ]
    reply = responses()._read_reply({"output": items, "status": "completed"})
    assert reply.finish_reason == "tool_calls"
    asked = sent(responses(), [*TALK[:2], reply.message, TALK[3]])["input"]
    assert asked[2:4] == items
    assert asked[4] == {
        "type": "function_call_output",
        "call_id": "c1",
        "output": "You see a desk 1.",
    }


def test_thoughts_go_back_to_google_as_they_came() -> None:
    signature = base64.b64encode(b"signed").decode()
    parts = [
        {"text": "Hm.", "thought": True},
        {
            "functionCall": {"id": "f1", "name": "act", "args": {"command": "look"}},
            "thoughtSignature": signature,
        },
    ]
    candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}
    reply = gemini()._read_reply({"candidates": [candidate]})
    assert (reply.reasoning, reply.tool_calls[0].id) == ("Hm.", "f1")
    told = Message(role="tool", tool_call_id="f1", content="You see a desk 1.")
    contents = sent(gemini(), [*TALK[:2], reply.message, told])["contents"]
    assert contents[1] == {"role": "model", "parts": parts}
    assert contents[2]["parts"] == [
        {
            "functionResponse": {
                "id": "f1",
                "name": "act",
                "response": {"result": "You see a desk 1."},
            }
        }
    ]


def test_thoughts_go_back_over_chat_completions_where_that_is_wanted() -> None:
    thinking = Message(role="assistant", content="Now.", reasoning="Hm.")
    assert "Hm." not in json.dumps(sent(chat(), [thinking]))
    (turn,) = sent(chat(send_reasoning=True), [thinking])["messages"]
    assert turn["reasoning_content"] == "Hm."


def test_another_provider_s_secrets_are_not_sent_on() -> None:
    foreign = Message(role="assistant", content="Now.", opaque={"anthropic": [{"signature": "s"}]})
    for client in (chat(), responses(), gemini()):
        assert "signature" not in json.dumps(sent(client, [SYSTEM, foreign]))


def marks(body: dict[str, Any]) -> int:
    return json.dumps(body).count("cache_control")


def test_the_prompt_is_marked_where_it_will_be_asked_for_again() -> None:
    """A mark writes to the cache, which costs: a message that changes every time has none."""
    once = [SYSTEM, Message(role="user", content="All that changes.")]
    body = sent(anthropic(), once)
    assert marks(body) == 1
    assert body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    growing = sent(anthropic())
    assert marks(growing) == 2
    assert growing["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert marks(sent(anthropic(cache_marks=False))) == 0
    assert marks(sent(chat())) == 0
    assert marks(sent(chat(cache_marks=True))) == 2
    assert marks(sent(chat(cache_marks=True), once)) == 1


@pytest.mark.parametrize(
    ("settings", "fields", "named"),
    [
        (ResponsesSettings, {"stop": ["x"]}, "not support stop"),
        (ResponsesSettings, {"extra_body": {"input": []}}, "input"),
        (AnthropicSettings, {"max_tokens": None}, "max_tokens"),
        (AnthropicSettings, {"temperature": 1.5}, "temperature"),
        (AnthropicSettings, {"thinking_display": "omitted"}, "thinking"),
        (AnthropicSettings, {"effort": "low", "extra_body": {"output_config": {}}}, "effort"),
        (AnthropicSettings, {"base_url": "https://host/v1/messages"}, "without /messages"),
        (GeminiSettings, {"extra_body": {"contents": []}}, "contents"),
        (GeminiSettings, {"thinking_budget": -2}, "thinking_budget"),
        (GeminiSettings, {"price_per_million_cached": 1.0}, "cached"),
    ],
)
def test_a_wrong_value_is_refused_by_name(
    settings: Any, fields: dict[str, Any], named: str
) -> None:
    with pytest.raises(ValidationError, match=named):
        settings(model="m", **fields)


def test_keys_have_their_usual_variables_which_a_key_given_otherwise_overrides() -> None:
    names = [
        s(model="m").api_key_env for s in (ResponsesSettings, AnthropicSettings, GeminiSettings)
    ]
    assert names == ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"]
    assert AnthropicSettings(model="m", api_key="k" * 20).key().get_secret_value() == "k" * 20


def test_every_field_is_documented() -> None:
    for settings in (ResponsesSettings, AnthropicSettings, GeminiSettings):
        assert all(describe_fields(settings).values())
