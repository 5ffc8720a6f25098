"""A kept reply comes back unchanged or not at all."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentquest.llms.cache import ResponseCache, request_key
from agentquest.llms.messages import Reply, Usage

KEY = request_key("http://host/v1/chat/completions", b"{}")
REPLY = Reply("ACTION: look", "hm", "stop", Usage(3, 2, 1), 0.25, 2, "m")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    text=st.text(min_size=1).filter(str.strip),
    reasoning=st.text(),
    usage=st.one_of(st.none(), st.builds(Usage, st.integers(0), st.integers(0), st.integers(0))),
)
def test_what_was_kept_comes_back(
    tmp_path: Path, text: str, reasoning: str, usage: Usage | None
) -> None:
    cache = ResponseCache(tmp_path)
    reply = replace(REPLY, text=text, reasoning=reasoning, usage=usage)
    cache.put(KEY, reply)
    assert cache.get(KEY) == replace(reply, cached=True)


@pytest.mark.parametrize(
    "reply",
    [
        replace(REPLY, finish_reason="length"),
        replace(REPLY, text=""),
        replace(REPLY, text=" \n"),
        replace(REPLY, cached=True),
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
    assert cache.get(KEY) == replace(REPLY, cached=True)


def test_no_damaged_byte_changes_a_reply(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    cache.put(KEY, REPLY)
    whole = cache.path(KEY).read_bytes()
    rng = random.Random(5)
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << rng.randrange(8)
        cache.path(KEY).write_bytes(bytes(damaged))
        assert cache.get(KEY) in (None, replace(REPLY, cached=True))
        cache.path(KEY).write_bytes(whole[:position])
        assert cache.get(KEY) is None


def test_nothing_half_written_stays_behind(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    cache.put(KEY, REPLY)
    assert [path.name for path in cache.path(KEY).parent.iterdir()] == [f"{KEY}.json"]


def test_requests_that_differ_have_different_names() -> None:
    requests = [("http://a", b"x"), ("http://a", b"y"), ("http://b", b"x"), ("http://ax", b"")]
    assert len({request_key(url, body) for url, body in requests}) == len(requests)
