"""Replies in the shapes that the providers document, the odd ones above all."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.llms.anthropic import AnthropicMessages, AnthropicSettings
from agentquest.llms.client import HttpModel
from agentquest.llms.failures import ModelFailure, Transient
from agentquest.llms.gemini import GeminiModel, GeminiSettings
from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings
from agentquest.llms.openai_responses import OpenAIResponses, ResponsesSettings
from agentquest.llms.transport import HttpAnswer
from agentquest.llms.types import Reply, ReplyKind
from agentquest.records.messages import ToolCall, Usage

RESPONSES = OpenAIResponses(ResponsesSettings(model="m", api_key_env=None))
ANTHROPIC = AnthropicMessages(AnthropicSettings(model="m", api_key_env=None))
GEMINI = GeminiModel(GeminiSettings(model="m", api_key_env=None))
STREAMED = [
    OpenAIChat(OpenAISettings(model="m", stream=True)),
    OpenAIResponses(ResponsesSettings(model="m", api_key_env=None, stream=True)),
    AnthropicMessages(AnthropicSettings(model="m", api_key_env=None, stream=True)),
    GeminiModel(GeminiSettings(model="m", api_key_env=None, stream=True)),
]


def read(client: HttpModel, data: Any, status: int = 200) -> Reply | Transient | ModelFailure:
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    try:
        return client._read(HttpAnswer(status, {}, body))
    except (Transient, ModelFailure) as failure:
        return failure


def replied(client: HttpModel, data: Any) -> Reply:
    reply = read(client, data)
    assert isinstance(reply, Reply), reply
    return reply


def test_a_response_with_reasoning_tools_and_cached_tokens() -> None:
    reply = replied(
        RESPONSES,
        {
            "id": "resp_1",
            "object": "response",
            "status": "completed",
            "error": None,
            "model": "gpt-5.5-2026-04-23",
            "output": [
                {
                    "id": "rs_1",
                    "type": "reasoning",
                    "summary": [
                        {"type": "summary_text", "text": "Where is it?"},
                        {"type": "summary_text", "text": "On the desk."},
                    ],
                },
                {
                    "id": "fc_1",
                    "type": "function_call",
                    "status": "completed",
                    "call_id": "call_1",
                    "name": "act",
                    "arguments": '{"command":"go to desk 1"}',
                },
            ],
            "usage": {
                "input_tokens": 12033,
                "input_tokens_details": {"cached_tokens": 11904},
                "output_tokens": 44,
                "output_tokens_details": {"reasoning_tokens": 20},
                "total_tokens": 12077,
            },
        },
    )
    assert reply.reasoning == "Where is it?\nOn the desk."
    assert reply.tool_calls == (
        ToolCall(id="call_1", name="act", arguments='{"command":"go to desk 1"}'),
    )
    assert reply.model == "gpt-5.5-2026-04-23"
    assert reply.usage == Usage(
        prompt_tokens=12033, completion_tokens=44, reasoning_tokens=20, cached_tokens=11904
    )


def test_a_response_cut_off_while_thinking() -> None:
    reply = replied(
        RESPONSES,
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [{"type": "reasoning", "id": "rs_1", "summary": []}],
        },
    )
    assert (reply.kind, reply.text) == (ReplyKind.TRUNCATED, "")


@pytest.mark.parametrize(
    ("code", "status"), [("rate_limit_exceeded", 429), ("server_error", 500), (None, 500)]
)
def test_a_response_that_failed_can_pass(code: str | None, status: int) -> None:
    failed = read(
        RESPONSES,
        {"status": "failed", "error": {"code": code, "message": "Sorry."}, "output": []},
    )
    assert isinstance(failed, Transient)
    assert failed.status == status


@pytest.mark.parametrize(
    ("stop", "kind"),
    [
        ("end_turn", ReplyKind.COMPLETE),
        ("stop_sequence", ReplyKind.COMPLETE),
        ("pause_turn", ReplyKind.COMPLETE),
        ("max_tokens", ReplyKind.TRUNCATED),
        ("model_context_window_exceeded", ReplyKind.TRUNCATED),
        ("refusal", ReplyKind.REFUSED),
    ],
)
def test_how_a_message_ended(stop: str, kind: ReplyKind) -> None:
    content = [{"type": "text", "text": "ACTION: look"}]
    assert replied(ANTHROPIC, {"content": content, "stop_reason": stop}).kind is kind


def test_thoughts_that_cannot_be_read_are_kept_all_the_same() -> None:
    content = [
        {"type": "redacted_thinking", "data": "locked"},
        {"type": "text", "text": "ACTION: look"},
    ]
    reply = replied(ANTHROPIC, {"content": content, "stop_reason": "end_turn"})
    assert (reply.text, reply.reasoning) == ("ACTION: look", "")
    assert reply.opaque == {"anthropic": content}


@pytest.mark.parametrize(
    ("finish", "kind"),
    [
        ("STOP", ReplyKind.COMPLETE),
        ("MAX_TOKENS", ReplyKind.TRUNCATED),
        ("SAFETY", ReplyKind.REFUSED),
        ("RECITATION", ReplyKind.REFUSED),
        ("PROHIBITED_CONTENT", ReplyKind.REFUSED),
    ],
)
def test_how_a_candidate_ended(finish: str, kind: ReplyKind) -> None:
    content = {"parts": [{"text": "ACTION: look"}], "role": "model"}
    safety = [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}]
    candidate = {"content": content, "finishReason": finish, "safetyRatings": safety}
    assert replied(GEMINI, {"candidates": [candidate]}).kind is kind


def test_a_prompt_that_was_blocked_is_a_refusal() -> None:
    reply = replied(GEMINI, {"promptFeedback": {"blockReason": "SAFETY"}})
    assert (reply.kind, reply.refusal) == (ReplyKind.REFUSED, "The prompt was blocked: SAFETY")


def test_a_call_that_the_model_wrote_wrongly_is_its_own_fault() -> None:
    reply = replied(GEMINI, {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]})
    assert (reply.kind, reply.finish_reason) == (ReplyKind.EMPTY, "malformed_function_call")


def test_google_s_thoughts_count_as_part_of_the_completion() -> None:
    reply = replied(
        GEMINI,
        {
            "candidates": [{"content": {"parts": [{"text": "yes"}]}, "finishReason": "STOP"}],
            "usageMetadata": {
                "promptTokenCount": 100,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 40,
                "cachedContentTokenCount": 64,
                "totalTokenCount": 145,
            },
        },
    )
    assert reply.usage == Usage(
        prompt_tokens=100, completion_tokens=45, reasoning_tokens=40, cached_tokens=64
    )


def test_calls_without_a_name_of_their_own_get_one() -> None:
    parts = [{"functionCall": {"name": "act", "args": {"n": n}}} for n in range(2)]
    candidate = {"content": {"parts": parts}, "finishReason": "STOP"}
    reply = replied(GEMINI, {"candidates": [candidate]})
    assert [call.id for call in reply.tool_calls] == ["call-0", "call-1"]


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


@pytest.mark.parametrize(
    ("client", "event", "status"),
    [
        (STREAMED[0], {"error": {"code": 429, "message": "busy"}}, 429),
        (STREAMED[1], {"type": "error", "code": "rate_limit_exceeded", "message": "busy"}, 429),
        (STREAMED[2], {"type": "error", "error": {"type": "overloaded_error"}}, 529),
        (STREAMED[3], {"error": {"code": 503, "status": "UNAVAILABLE"}}, 503),
    ],
)
def test_a_failure_in_the_middle_of_a_stream_can_pass(
    client: HttpModel, event: dict[str, Any], status: int
) -> None:
    failure = read(client, sse(event))
    assert isinstance(failure, Transient)
    assert failure.status == status


def test_a_call_cut_off_in_the_middle_of_its_arguments_stays_as_it_was_written() -> None:
    use = {"type": "tool_use", "id": "c", "name": "act", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"command": "go t'}
    reply = read(
        STREAMED[2],
        sse(
            {"type": "message_start", "message": {"model": "m", "content": []}},
            {"type": "content_block_start", "index": 0, "content_block": use},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {}},
            {"type": "message_stop"},
        ),
    )
    assert isinstance(reply, Reply)
    assert (reply.kind, reply.tool_calls[0].arguments) == (ReplyKind.TRUNCATED, '{"command": "go t')


_NAMES = st.sampled_from(
    [
        *("content", "output", "candidates", "parts", "text", "type", "index", "delta", "message"),
        *("usage", "usageMetadata", "input_tokens", "stop_reason", "functionCall", "name", "args"),
        *("error", "response", "choices", "summary", "tool_calls", "function", "finishReason"),
    ]
)
_KINDS = st.sampled_from(
    [
        *("text", "tool_use", "thinking", "message", "reasoning", "function_call", "message_stop"),
        *("response.completed", "content_block_delta", "message_start", "input_json_delta"),
    ]
)
_anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), _KINDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=5),
    max_leaves=25,
)


@settings(deadline=None, max_examples=200)
@given(_anything)
def test_any_json_is_read_or_refused(data: Any) -> None:
    for client in (RESPONSES, ANTHROPIC, GEMINI):
        read(client, data)


@settings(deadline=None, max_examples=200)
@given(st.lists(_anything, max_size=4))
def test_any_stream_is_read_or_refused(events: list[Any]) -> None:
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    for client in STREAMED:
        read(client, body)
