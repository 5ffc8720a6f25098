"""A kept reply comes back unchanged or not at all."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentquest.llms.cache import ResponseCache, request_key
from agentquest.llms.types import Reply
from agentquest.records.messages import ToolCall, Usage

KEY = request_key("http://host/v1/chat/completions", b"{}")
REPLY = Reply(
    text="ACTION: look",
    reasoning="hm",
    tool_calls=(ToolCall(id="c1", name="act", arguments="{}"),),
    usage=Usage(prompt_tokens=3, completion_tokens=2, reasoning_tokens=1),
    latency_s=0.25,
    attempts=2,
    model="m",
    opaque={"signature": ["s"]},
)


def changed(reply: Reply, **fields: Any) -> Reply:
    return Reply.model_validate({**dict(reply), **fields})


COUNT = st.integers(0, 10**9)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    text=st.text(min_size=1).filter(str.strip),
    reasoning=st.text(),
    usage=st.one_of(st.none(), st.builds(Usage, prompt_tokens=COUNT, completion_tokens=COUNT)),
)
def test_what_was_kept_comes_back(
    tmp_path: Path, text: str, reasoning: str, usage: Usage | None
) -> None:
    cache = ResponseCache(tmp_path)
    reply = changed(REPLY, text=text, reasoning=reasoning, usage=usage)
    cache.put(KEY, reply)
    assert cache.get(KEY) == changed(reply, cached=True)


@pytest.mark.parametrize(
    "reply",
    [
        changed(REPLY, finish_reason="length"),
        changed(REPLY, text="", tool_calls=()),
        changed(REPLY, text=" \n", tool_calls=()),
        changed(REPLY, cached=True),
    ],
)
def test_only_fresh_complete_replies_are_kept(tmp_path: Path, reply: Reply) -> None:
    cache = ResponseCache(tmp_path)
    cache.put(KEY, reply)
    assert cache.get(KEY) is None
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe\x00",
        b'{"version": 1}',
        b'{"version": 1, "reply": 3, "checksum": "x"}',
        b'{"version": 99, "reply": {}, "checksum": "x"}',
        b"[" * 100_000,
    ],
)
def test_a_broken_entry_is_absent_and_written_anew(tmp_path: Path, content: bytes) -> None:
    cache = ResponseCache(tmp_path)
    cache.put(KEY, REPLY)
    cache.path(KEY).write_bytes(content)
    assert cache.get(KEY) is None
    cache.put(KEY, REPLY)
    assert cache.get(KEY) == changed(REPLY, cached=True)


def test_no_damaged_byte_changes_a_reply(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    cache.put(KEY, REPLY)
    whole = cache.path(KEY).read_bytes()
    rng = random.Random(5)
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << rng.randrange(8)
        cache.path(KEY).write_bytes(bytes(damaged))
        assert cache.get(KEY) in (None, changed(REPLY, cached=True))
        cache.path(KEY).write_bytes(whole[:position])
        assert cache.get(KEY) is None


def test_nothing_half_written_stays_behind(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    cache.put(KEY, REPLY)
    assert [path.name for path in cache.path(KEY).parent.iterdir()] == [f"{KEY}.json"]


def test_requests_that_differ_have_different_names() -> None:
    requests = [("http://a", b"x"), ("http://a", b"y"), ("http://b", b"x"), ("http://ax", b"")]
    assert len({request_key(url, body) for url, body in requests}) == len(requests)
