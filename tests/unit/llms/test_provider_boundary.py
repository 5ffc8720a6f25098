"""Between bytes and `Reply`: what is wrong there is the server's fault, and what passes can be
written and read again."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentquest.llms.anthropic import AnthropicMessages, AnthropicSettings
from agentquest.llms.client import HttpModel
from agentquest.llms.failures import (
    AuthenticationFailed,
    BadRequest,
    ContextTooLong,
    ModelFailure,
    QuotaExhausted,
    Transient,
)
from agentquest.llms.gemini import GeminiModel, GeminiSettings
from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings
from agentquest.llms.openai_responses import OpenAIResponses, ResponsesSettings
from agentquest.llms.transport import HttpAnswer
from agentquest.llms.types import Reply, ReplyKind
from agentquest.records.episode import Call, EpisodeRecord, MessagePool
from growth import MOST, growth, repeated
from report_runs import record


def clients(stream: bool) -> dict[str, HttpModel]:
    common: dict[str, Any] = {"model": "m", "api_key_env": None, "stream": stream}
    return {
        "openai": OpenAIChat(OpenAISettings(**common)),
        "responses": OpenAIResponses(ResponsesSettings(**common)),
        "anthropic": AnthropicMessages(AnthropicSettings(**common)),
        "gemini": GeminiModel(GeminiSettings(**common)),
    }


WHOLE, STREAMED = clients(False), clients(True)
EVERY = [*WHOLE, *(f"{name}, streamed" for name in STREAMED)]


def client_called(name: str) -> HttpModel:
    return STREAMED[name.partition(",")[0]] if "streamed" in name else WHOLE[name]


def sse(*events: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def read(client: HttpModel, body: Any, status: int = 200) -> Reply | Transient | ModelFailure:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        return client._read(HttpAnswer(status, {}, raw))
    except (Transient, ModelFailure) as failure:
        return failure


# A body of an error in each provider's own format.
def _openai(kind: str, code: str | None, message: str) -> Any:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _anthropic(kind: str, message: str) -> Any:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def _google(code: int, status: str, message: str) -> Any:
    return {"error": {"code": code, "message": message, "status": status}}


TOO_LONG = {
    "openai": _openai(
        "invalid_request_error",
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens.",
    ),
    "responses": _openai(
        "invalid_request_error",
        "context_length_exceeded",
        "Your input exceeds the context window of this model.",
    ),
    "anthropic": _anthropic(
        "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"
    ),
    "gemini": _google(
        400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number"
    ),
}
OVERLOADED = {
    "openai": _openai("server_error", None, "The server is overloaded."),
    "responses": _openai("server_error", "server_error", "The server is overloaded."),
    "anthropic": _anthropic("overloaded_error", "Overloaded"),
    "gemini": _google(503, "UNAVAILABLE", "The model is overloaded."),
}
PAGE = b"<html><head><title>413 Request Entity Too Large</title></head></html>"
NO_KEY = {
    "openai": (401, _openai("invalid_request_error", "invalid_api_key", "Incorrect key")),
    "responses": (401, _openai("invalid_request_error", "invalid_api_key", "Incorrect key")),
    "anthropic": (401, _anthropic("authentication_error", "invalid x-api-key")),
    "gemini": (400, _google(400, "INVALID_ARGUMENT", "API key not valid. Please pass one.")),
}
NO_CREDIT = {
    "openai": (429, _openai("insufficient_quota", "insufficient_quota", "You exceeded it.")),
    "responses": (429, _openai("insufficient_quota", "insufficient_quota", "You exceeded it.")),
    "anthropic": (400, _anthropic("invalid_request_error", "Your credit balance is too low")),
    "gemini": (
        429,
        {"error": {"code": 429, "details": [{"violations": [{"quotaId": "RequestsPerDay"}]}]}},
    ),
}


def _table() -> list[Any]:
    rows: list[tuple[str, int, Any, type]] = []
    for name in WHOLE:
        rows += [
            (name, 400, TOO_LONG[name], ContextTooLong),
            (name, 413, TOO_LONG[name], ContextTooLong),
            *((name, status, TOO_LONG[name], Transient) for status in (429, 500, 502, 503, 529)),
            (name, 404, TOO_LONG[name], BadRequest),
            (name, 413, PAGE, BadRequest),
            (name, 413, {"error": {"message": "too big"}}, BadRequest),
            (name, 400, PAGE, BadRequest),
            (name, 400, b"maximum context length", BadRequest),
            *((name, status, b"", Transient) for status in (101, 200, 204, 206, 301, 304, 307)),
            *((name, status, b"null", Transient) for status in (200, 204, 500, 503)),
            *((name, status, OVERLOADED[name], Transient) for status in (200, 500, 503, 529)),
            (name, 200, PAGE, Transient),
            (name, *NO_KEY[name], AuthenticationFailed),
            (name, *NO_CREDIT[name], QuotaExhausted),
            (name, 402, b"", QuotaExhausted),
            (name, 403, PAGE, AuthenticationFailed),
            (name, 422, {"error": {"message": "wrong field"}}, BadRequest),
        ]
    return [pytest.param(*row, id=f"{row[0]}-{row[1]}-{place}") for place, row in enumerate(rows)]


@pytest.mark.parametrize(("name", "status", "body", "kind"), _table())
def test_the_kind_of_failure_of_a_status_and_a_body(
    name: str, status: int, body: Any, kind: type
) -> None:
    for client in (WHOLE[name], STREAMED[name]):
        assert type(read(client, body, status)) is kind


# A stream whose model says what an error would, and that then breaks off.
WORDS = "This exceeds the maximum context length, prompt is too long, insufficient_quota."
BROKEN = {
    "openai": sse(
        {"choices": [{"index": 0, "delta": {"content": WORDS}}]},
        {"error": {"code": 503, "message": "Overloaded"}},
    ),
    "responses": sse(
        {"type": "response.output_text.delta", "delta": WORDS},
        {"type": "error", "code": "server_error", "message": "Overloaded"},
    ),
    "anthropic": sse(
        {"type": "message_start", "message": {"content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": WORDS},
        },
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ),
    "gemini": sse(
        {"candidates": [{"content": {"parts": [{"text": WORDS}]}}]},
        {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}},
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_error_in_a_stream_is_judged_by_itself(name: str) -> None:
    failure = read(STREAMED[name], BROKEN[name])
    assert isinstance(failure, Transient)
    assert str(failure).endswith(": Overloaded")


def chunk(delta: Any = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta or {}, **more}]}


def block(kind: str, index: int = 0, **more: Any) -> dict[str, Any]:
    return {"type": f"content_block_{kind}", "index": index, **more}


TEXT = {"type": "text", "text": ""}
SAID = {"type": "text_delta", "text": "look"}
START = {"type": "message_start", "message": {"content": [], "stop_reason": None}}
ENDED = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
STOP = {"type": "message_stop"}
MESSAGE = {"type": "message", "content": [{"type": "output_text", "text": "look"}]}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        *(
            ("openai", {"choices": [{"message": {"content": "half"}, "finish_reason": finish}]})
            for finish in ("error", "abort")
        ),
        (
            "openai",
            {"choices": [{"message": {"content": "half"}, "error": {"code": 502, "message": "x"}}]},
        ),
        ("openai, streamed", sse(chunk({"content": "half"}), chunk(finish_reason="error"))),
        (
            "openai, streamed",
            sse(chunk({"content": "half"}), chunk(finish_reason="stop", error={"code": 502})),
        ),
        ("openai, streamed", sse(chunk({"content": 5}), chunk(finish_reason="stop"))),
        *(
            ("responses", {"status": status, "error": None, "output": [MESSAGE]})
            for status in ("failed", "cancelled", "in_progress", "queued")
        ),
        (
            "responses, streamed",
            sse(
                {
                    "type": "response.failed",
                    "response": {"status": "failed", "error": None, "output": [MESSAGE]},
                }
            ),
        ),
        (
            "anthropic, streamed",
            sse(START, block("delta", delta=SAID), block("start", content_block=TEXT), ENDED, STOP),
        ),
        (
            "anthropic, streamed",
            sse(START, block("start", content_block=TEXT), block("delta", 1, delta=SAID), STOP),
        ),
        ("anthropic, streamed", sse(START, block("start", content_block=TEXT), STOP)),
        ("anthropic, streamed", sse(block("start", content_block=TEXT), ENDED, START, STOP)),
        ("anthropic, streamed", sse(START, block("start", content_block=TEXT), ENDED)),
        (
            "anthropic, streamed",
            sse(
                START,
                block("start", content_block=TEXT),
                block("delta", delta={"type": "text_delta", "text": ["look"]}),
                ENDED,
                STOP,
            ),
        ),
    ],
)
def test_half_a_reply_is_not_a_reply(name: str, body: Any) -> None:
    assert isinstance(read(client_called(name), body), Transient)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("anthropic, streamed", sse({"type": "message_start", "message": 5}, STOP)),
        ("anthropic, streamed", sse(START, block("start", index=[], content_block=TEXT), STOP)),
        (
            "gemini, streamed",
            sse({"candidates": [{"content": {"parts": [{"text": None}, {"text": "look"}]}}]})
            + sse({"candidates": [{"finishReason": "STOP"}]}),
        ),
        ("openai, streamed", sse(chunk({"tool_calls": 5}), chunk(finish_reason="stop"))),
    ],
)
def test_a_field_of_the_wrong_type_is_the_server_s_fault(name: str, body: bytes) -> None:
    assert isinstance(read(client_called(name), body), Transient)


_PIECES: dict[str, tuple[list[Any], Any, list[Any]]] = {
    "openai": ([], chunk({"content": "look "}), [chunk(finish_reason="stop")]),
    "openai, thoughts": (
        [chunk({"content": "look"})],
        chunk({"reasoning_details": [1]}),
        [chunk(finish_reason="stop")],
    ),
    "openai, calls": (
        [],
        chunk({"tool_calls": [{"function": {"name": "act"}}]}),
        [chunk(finish_reason="tool_calls")],
    ),
    "anthropic": (
        [START, block("start", content_block=TEXT)],
        block("delta", delta=SAID),
        [block("stop"), ENDED, STOP],
    ),
    "gemini": (
        [],
        {"candidates": [{"content": {"parts": [{"text": "look "}]}}]},
        [{"candidates": [{"finishReason": "STOP"}]}],
    ),
}


@pytest.mark.parametrize("name", _PIECES)
def test_a_stream_of_any_length_costs_what_its_length_does(name: str) -> None:
    before, piece, after = _PIECES[name]
    body = repeated(sse(piece).decode(), sse(*before).decode(), sse(*after).decode())
    client = client_called(f"{name.partition(',')[0]}, streamed")
    assert isinstance(read(client, body(2000).encode()), Reply)
    assert growth(lambda text: read(client, text.encode()), body, 100_000) < MOST


def _sound(name: str) -> Any:
    """A response with words and a call of a tool; a stream as the list of its events."""
    call = {"name": "act", "arguments": '{"command": "look"}'}
    return {
        "openai": {
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "content": [{"type": "text", "text": "I look."}],
                        "refusal": None,
                        "tool_calls": [{"index": 0, "function": call}],
                    },
                    "finish_reason": "tool_calls",
                }
            ]
        },
        "openai, streamed": [
            chunk({"content": "I look.", "tool_calls": [{"index": 0, "function": call}]}),
            chunk(finish_reason="tool_calls"),
        ],
        "responses": {
            "status": "completed",
            "output": [
                {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
                {"type": "function_call", **call},
            ],
        },
        "anthropic": {
            "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "act"}],
            "stop_reason": "tool_use",
        },
        "anthropic, streamed": [
            START,
            block("start", content_block=TEXT),
            block("delta", delta=SAID),
            block("stop"),
            block("start", 1, content_block={"type": "tool_use", "name": "act", "input": {}}),
            block("delta", 1, delta={"type": "input_json_delta", "partial_json": "{}"}),
            block("stop", 1),
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            STOP,
        ],
        "gemini": {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"text": "Hm.", "thought": True},
                            {"text": "I look.", "thought": False},
                            {"functionCall": {"name": "act", "args": {}}},
                        ]
                    },
                    "finishReason": "STOP",
                }
            ]
        },
    }[name]


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if not isinstance(value, dict | list):
        return [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(place for key, one in inner for place in _places(one, (*path, key)))]


def _replace(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copied: Any = value.copy()
    copied[path[0]] = _replace(value[path[0]], path[1:], new)
    return copied


_NO_TEXT_NOR_OBJECT = (False, True, 0, -1, 1.5, 10**400, float("nan"), [1], [[]], [None])


@pytest.mark.parametrize("name", EVERY)
def test_a_field_of_any_wrong_type_never_looks_like_another_reply(name: str) -> None:
    events: Any = [_sound(name.removesuffix(", streamed"))]
    if name == "responses, streamed":
        events = [{"type": "response.completed", "response": events[0]}]
    elif name in ("openai, streamed", "anthropic, streamed"):
        events = _sound(name)

    def reply_to(events: list[Any]) -> Reply | Transient | ModelFailure:
        return read(client_called(name), sse(*events) if "streamed" in name else events[0])

    sound = reply_to(events)
    assert isinstance(sound, Reply)
    assert (sound.text.strip("."), len(sound.tool_calls)) in (("I look", 1), ("look", 1))
    for path in _places(events)[1:]:
        if path[-1] == "args":  # what a call is given is the model's own
            continue
        old: Any = events
        for key in path:
            old = old[key]
        for wrong in _NO_TEXT_NOR_OBJECT:
            if type(wrong) is type(old) and not isinstance(old, list):
                continue
            found = reply_to(_replace(events, path, wrong))
            same = isinstance(found, Reply) and (found.text, found.kind, found.tool_calls) == (
                sound.text,
                sound.kind,
                sound.tool_calls,
            )
            assert same or isinstance(found, Transient), (path, wrong, found)


@pytest.mark.parametrize("name", WHOLE)
def test_a_number_of_ten_thousand_digits_is_unknown(name: str) -> None:
    field = "usageMetadata" if name == "gemini" else "usage"
    digits = "9" * 10_000
    counts = ("prompt_tokens", "input_tokens", "promptTokenCount")
    body = {**_sound(name), field: dict.fromkeys(counts, "DIGITS")}
    reply = read(WHOLE[name], json.dumps(body).replace('"DIGITS"', digits).encode())
    assert isinstance(reply, Reply)
    assert (reply.usage, reply.kind) == (None, ReplyKind.COMPLETE)


@pytest.mark.parametrize("name", ["openai", "responses", "anthropic", "gemini"])
def test_what_is_nested_too_deeply_to_be_sent_back_is_asked_for_again(name: str) -> None:
    deep: Any = []
    for _ in range(300):
        deep = [deep]
    failure = read(WHOLE[name], _responses_of(name, {"more": deep}, None))
    assert isinstance(failure, Transient)
    assert "nested more than 64 levels" in str(failure)


def test_what_follows_the_end_of_a_stream_changes_nothing() -> None:
    message = sse(START, block("start", content_block=TEXT), block("delta", delta=SAID), ENDED)
    reply = read(STREAMED["anthropic"], message + sse(STOP, {"type": "ping"}))
    assert isinstance(reply, Reply)
    completed = {"type": "response.completed", "response": {"output": [MESSAGE]}}
    other = read(STREAMED["responses"], sse(completed, {"type": "response.rate_limits"}))
    assert isinstance(other, Reply)
    assert (reply.text, other.text) == ("look", "look")


def test_a_stream_with_old_line_ends_another_choice_and_calls_without_numbers() -> None:
    def call(**function: str) -> dict[str, Any]:
        return {"tool_calls": [{"function": function}]}

    body = sse(
        {"choices": [{"index": 1, "delta": {"content": "other"}}]},
        chunk({"content": "mine"}),
        chunk(call(name="act", arguments='{"a"')),
        chunk(call(arguments=": 1}")),
        chunk(call(name="act", arguments="{}")),
        chunk(finish_reason="tool_calls"),
    )
    reply = read(STREAMED["openai"], body.replace(b"\n", b"\r"))
    assert isinstance(reply, Reply)
    assert reply.text == "mine"
    assert [call.arguments for call in reply.tool_calls] == ['{"a": 1}', "{}"]


def test_calls_that_share_a_number_are_told_apart_by_their_ids() -> None:
    def call(id_: str, **function: str) -> dict[str, Any]:
        return chunk({"tool_calls": [{"index": 0, "id": id_, "function": function}]})

    google = [call("a", name="act", arguments="{}"), call("b", name="act", arguments="[]")]
    vllm = [call("c", name="act"), call("d", arguments='{"a": '), call("e", arguments="1}")]
    ends = chunk(finish_reason="tool_calls")
    for events, arguments in ((google, ["{}", "[]"]), (vllm, ['{"a": 1}'])):
        reply = read(STREAMED["openai"], sse(*events, ends))
        assert isinstance(reply, Reply)
        assert [call.arguments for call in reply.tool_calls] == arguments


def test_no_credit_inside_a_response_is_no_reason_to_wait() -> None:
    failed = {"status": "failed", "error": {"code": "insufficient_quota", "message": "Pay."}}
    assert isinstance(read(WHOLE["responses"], {**failed, "output": []}), QuotaExhausted)


# Whatever JSON can hold, with the numbers and texts that cause trouble, among likely names.
_NAMES = st.sampled_from(
    [
        *("content", "output", "candidates", "parts", "text", "type", "index", "delta", "message"),
        *("usage", "usageMetadata", "input_tokens", "output_tokens", "prompt_tokens", "cost"),
        *("completion_tokens", "promptTokenCount", "candidatesTokenCount", "total_tokens"),
        *("stop_reason", "functionCall", "name", "args", "thoughtSignature", "thinking", "id"),
        *("error", "response", "choices", "summary", "tool_calls", "function", "finishReason"),
        *("reasoning_details", "arguments", "finish_reason", "status", "input", "code"),
    ]
)
_TROUBLE = st.sampled_from(
    [10**400, -1, 1.7e308, float("nan"), float("inf"), "\ud800", "\udfff x", "", True, None, 1e19]
)
_KINDS = st.sampled_from(
    [
        *("text", "tool_use", "thinking", "message", "reasoning", "function_call", "stop"),
        *("end_turn", "completed", "STOP", "act", "look"),
    ]
)
_anything = st.recursive(
    st.one_of(_TROUBLE, _KINDS, st.integers(), st.text(max_size=5)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=5),
    max_leaves=20,
)


def _nest(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = [value]
    return value


_deep = st.builds(_nest, _anything, st.sampled_from([0, 0, 1, 40, 150, 250]))
_objects = st.dictionaries(_NAMES, _deep, max_size=4)


def _responses_of(name: str, any_object: dict[str, Any], usage: Any) -> Any:
    """A sound response with an arbitrary object in all the places that are kept."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "s", **any_object}
    return {
        "openai": {
            "choices": [
                {
                    "message": {"content": "look", "reasoning_details": [any_object]},
                    "finish_reason": "stop",
                }
            ],
            "usage": usage,
        },
        "responses": {
            "status": "completed",
            "output": [{"type": "reasoning", "summary": [], "more": any_object}, MESSAGE],
            "usage": usage,
        },
        "anthropic": {
            "content": [thought, {"type": "tool_use", "name": "act", "input": any_object}],
            "stop_reason": "end_turn",
            "usage": usage,
        },
        "gemini": {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"functionCall": {"name": "act", "args": any_object}},
                            {"text": "look", "thoughtSignature": "s", **any_object},
                        ]
                    },
                    "finishReason": "STOP",
                }
            ],
            "usageMetadata": usage,
        },
    }[name]


def _written_and_read(client: HttpModel, reply: Reply) -> EpisodeRecord:
    """The reply in an episode's record, as agents put it there and as readers find it."""
    pool = MessagePool()
    places = pool.places([reply.message])
    call = Call(
        model=reply.model,
        kind=reply.kind.value,
        usage=reply.usage,
        cost=reply.cost_at(client.price),
        latency_s=reply.latency_s,
    )
    episode = record("t")
    step = episode.steps[0].model_copy(update={"prompt": places, "calls": [call]})
    kept = episode.model_copy(update={"steps": [step], "messages": pool.messages})
    return EpisodeRecord.model_validate_json(kept.model_dump_json())


@pytest.mark.parametrize("name", WHOLE)
@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(any_object=_objects, usage=_deep)
def test_what_is_accepted_can_be_written_read_and_sent_again(
    name: str, any_object: dict[str, Any], usage: Any
) -> None:
    client = WHOLE[name]
    reply = read(client, _responses_of(name, any_object, usage))
    if isinstance(reply, Reply):
        (message,) = _written_and_read(client, reply).messages
        client._body([reply.message], (), None)
        client._body([message], (), None)
    else:
        assert isinstance(reply, Transient)


@pytest.mark.parametrize("name", EVERY)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_anything, max_size=4), _anything)
def test_any_answer_is_a_reply_or_the_server_s_fault(
    name: str, events: list[Any], data: Any
) -> None:
    client = client_called(name)
    for body in (sse(*events), data):
        found = read(client, body)
        if isinstance(found, Reply):
            _written_and_read(client, found)


def test_cached_replies_can_be_read_again(tmp_path: Path) -> None:
    from agentquest.llms.cache import ResponseCache

    cache = ResponseCache(tmp_path)
    cache.put("ab12", Reply(text="\ud800", opaque={"a": "\ud800"}, model="m"))
    found = cache.get("ab12")
    assert found is not None
    assert found.cached
