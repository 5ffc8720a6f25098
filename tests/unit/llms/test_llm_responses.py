"""Whatever a server sends, it is a reply, a fault that can pass, or a failure: nothing else."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.llms.failures import ContextTooLong, ModelFailure, Transient
from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings
from agentquest.llms.transport import HttpAnswer, proxy_for
from agentquest.llms.types import Reply, ReplyKind

NAMES = [
    *("choices", "message", "content", "finish_reason", "error", "code", "model", "usage"),
    *("prompt_tokens", "completion_tokens", "completion_tokens_details"),
    *("reasoning", "reasoning_content", "text", "thinking", "type"),
]

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from(["stop"])
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=30,
)
nearly_right = st.fixed_dictionaries(
    {
        "choices": st.lists(
            st.fixed_dictionaries(
                {"message": st.fixed_dictionaries({"content": anything, "reasoning": anything})},
                optional={"finish_reason": anything, "error": anything},
            ),
            min_size=1,
            max_size=2,
        )
    },
    optional={"usage": anything, "model": anything, "error": anything},
)

CLIENT = OpenAIChat(OpenAISettings(model="m"))


def read(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> object:
    try:
        return CLIENT._read(HttpAnswer(status, headers or {}, body))
    except (Transient, ModelFailure) as failure:
        return failure


def completion(message: object, finish: object = "stop", **fields: object) -> bytes:
    return json.dumps(
        {"choices": [{"message": message, "finish_reason": finish}], **fields}
    ).encode()


@settings(deadline=None, max_examples=300)
@given(st.one_of(anything, nearly_right))
def test_any_json_is_read_or_refused(data: Any) -> None:
    read(json.dumps(data).encode())


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(200, 599))
def test_any_bytes_with_any_status_are_read_or_refused(body: bytes, status: int) -> None:
    read(body, status)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": null}]}',
        b"[" * 100_000,
        b"\xff\xff",
        completion({"content": 3}),
        completion({"content": ""}),
        completion({"content": None}, usage={"prompt_tokens": 3, "completion_tokens": 0}),
        completion({"content": ""}, "error"),
    ],
)
def test_what_holds_no_answer_can_pass(body: bytes) -> None:
    assert isinstance(read(body), Transient)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (completion({"content": ""}, "length"), ReplyKind.TRUNCATED),
        (completion({"content": ""}, "content_filter"), ReplyKind.REFUSED),
        (completion({"content": "", "reasoning": "hm"}), ReplyKind.EMPTY),
        (completion({"content": "<think>hm"}), ReplyKind.EMPTY),
        (
            completion({"content": ""}, usage={"prompt_tokens": 3, "completion_tokens": 1}),
            ReplyKind.EMPTY,
        ),
    ],
)
def test_a_model_s_own_silence_is_its_reply(body: bytes, kind: ReplyKind) -> None:
    """Asking again until it speaks would score another model than the one under test."""
    reply = read(body)
    assert isinstance(reply, Reply)
    assert reply.kind is kind


def test_failures_told_inside_a_good_response_count_as_what_they_are() -> None:
    passing = read(json.dumps({"error": {"code": 429, "message": "busy"}}).encode())
    assert isinstance(passing, Transient)
    assert passing.status == 429
    long = read(json.dumps({"error": {"code": 400, "message": "prompt is too long"}}).encode())
    assert isinstance(long, ContextTooLong)
    broken = json.dumps({"choices": [{"error": {"message": "gone"}, "message": {}}]}).encode()
    assert isinstance(read(broken), Transient)


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("https://host.example/v1", "http://proxy.example:3128"),
        ("https://inside.example/v1", None),
        ("http://127.0.0.1:8000/v1", None),
        ("http://localhost:8000/v1", None),
        ("http://host.example/v1", None),
    ],
)
def test_the_proxy_of_the_environment_is_used_where_it_applies(
    monkeypatch: pytest.MonkeyPatch, url: str, proxy: str | None
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert proxy_for(url) == proxy
