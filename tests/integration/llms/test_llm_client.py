"""The client against a real server that misbehaves in every way it knows."""

import asyncio
import contextlib
import json
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentquest.llms.failures import (
    AuthenticationFailed,
    BadRequest,
    ContextTooLong,
    ModelFailure,
    ModelUnavailable,
    QuotaExhausted,
)
from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings
from agentquest.llms.types import ReplyKind
from agentquest.records.messages import Message, Usage
from chat_faults import PASSING, Fault
from chat_server import ChatServer
from fake_clock import FakeClock
from llm_servers.faulty_proxy import http

HELLO = [
    Message(role="system", content="You repeat."),
    Message(role="user", content="ACTION: look around"),
]


@asynccontextmanager
async def talking(
    script: Sequence[Fault | None] = (), clock: FakeClock | None = None, **fields: Any
) -> AsyncIterator[tuple[OpenAIChat, ChatServer]]:
    """A client and the server it talks to; waits are skipped unless a clock is given."""
    async with ChatServer(script=script) as server:
        settings = {"model": "m", "wait_interval": 0.0, "base_url": server.url, **fields}
        client = OpenAIChat(
            OpenAISettings(**settings), clock=clock.clock if clock else None, rng=random.Random(1)
        )
        try:
            yield client, server
        finally:
            await client.close()


async def test_a_reply_with_everything_in_it() -> None:
    async with talking() as (client, server):
        reply = await client.complete(HELLO)
    assert reply.text == "ACTION: look around"
    assert reply.kind is ReplyKind.COMPLETE
    assert reply.usage == Usage(prompt_tokens=5, completion_tokens=3)
    assert (reply.finish_reason, reply.attempts, reply.model) == ("stop", 1, "m")
    assert reply.latency_s > 0
    assert not reply.cached
    assert server.requests == [
        {
            "messages": [
                {"role": "system", "content": "You repeat."},
                {"role": "user", "content": "ACTION: look around"},
            ],
            "model": "m",
            "temperature": 0.3,
            "max_tokens": 8192,
        }
    ]


async def test_the_seed_of_a_call_goes_before_the_configured_one() -> None:
    async with talking(seed=7) as (client, server):
        await client.complete(HELLO)
        await client.complete(HELLO, seed=8)
    assert [request["seed"] for request in server.requests] == [7, 8]


@pytest.mark.parametrize("text", ["你好 – “ü”", "\ud800", '"\\\n\x00', "x" * 300_000])
async def test_any_text_survives_the_way_there_and_back(text: str) -> None:
    async with talking() as (client, server):
        message = Message(role="user", content=text)
        reply = await client.complete([message])
    assert server.requests[0]["messages"][0]["content"] == message.content
    assert reply.text == message.content


@pytest.mark.parametrize("fault", PASSING)
async def test_what_can_pass_is_tried_again(fault: Fault) -> None:
    limits: dict[str, Any] = {"timeout_s": 0.3} if fault is Fault.HANG else {}
    async with talking([fault], max_response_bytes=100_000, **limits) as (client, server):
        reply = await client.complete(HELLO)
    assert reply.text == "ACTION: look around"
    assert reply.attempts == server.count == 2


@pytest.mark.parametrize("fault", [fault for fault in PASSING if not fault.value.startswith("429")])
async def test_what_never_passes_ends_after_the_last_retry(fault: Fault) -> None:
    limits: dict[str, Any] = {"timeout_s": 0.1} if fault is Fault.HANG else {}
    clock = FakeClock()
    script = [fault] * 9
    async with talking(script, clock, max_retries=2, max_response_bytes=100_000, **limits) as (
        client,
        server,
    ):
        with pytest.raises(ModelUnavailable, match="tried 3 times"):
            await client.complete(HELLO)
        assert client.limits.concurrency.in_flight == 0
    assert server.count == 3


@pytest.mark.parametrize(
    ("fault", "kind", "status"),
    [
        (Fault.UNAUTHORIZED, AuthenticationFailed, 401),
        (Fault.ECHO_KEY, AuthenticationFailed, 401),
        (Fault.BAD_REQUEST, BadRequest, 400),
        (Fault.NOT_FOUND, BadRequest, 404),
        (Fault.REDIRECT, BadRequest, 307),
        (Fault.CONTEXT, ContextTooLong, 400),
        (Fault.NO_CREDIT, QuotaExhausted, 429),
    ],
)
async def test_what_cannot_pass_is_asked_once(
    fault: Fault, kind: type[ModelFailure], status: int
) -> None:
    async with talking([fault]) as (client, server):
        with pytest.raises(kind) as caught:
            await client.complete(HELLO)
    assert type(caught.value) is kind
    assert caught.value.status == status
    assert server.count == 1


async def test_a_server_that_is_not_there_is_waited_for_and_then_given_up() -> None:
    async with ChatServer() as server:
        url = server.url
    clock = FakeClock()
    client = OpenAIChat(OpenAISettings(model="m", base_url=url, max_retries=3), clock=clock.clock)
    with pytest.raises(ModelUnavailable, match="connection failed"):
        await client.complete(HELLO)
    await client.close()
    assert len(clock.sleeps) == 3


async def test_a_connection_that_cannot_be_secured_is_not_tried_again() -> None:
    clock = FakeClock()
    async with ChatServer() as server:
        config = OpenAISettings(model="m", base_url=server.url.replace("http://", "https://"))
        client = OpenAIChat(config, clock=clock.clock)
        with pytest.raises(ModelUnavailable, match="no secure connection"):
            await client.complete(HELLO)
        await client.close()
        await client.close()
    assert clock.sleeps == []


async def test_waits_are_what_the_server_asked_for() -> None:
    clock = FakeClock()
    script = [Fault.RATE_LIMIT_SECONDS, Fault.RATE_LIMIT_MS, Fault.RATE_LIMIT]
    async with talking(script, clock) as (client, _):
        await client.complete(HELLO)
    assert clock.sleeps == [1.0, 1.0, 0.0]


async def test_a_date_to_come_back_at_is_understood() -> None:
    clock = FakeClock(wall=time.time())
    async with ChatServer(script=[Fault.RATE_LIMIT_DATE], retry_after=600.0) as server:
        config = OpenAISettings(model="m", base_url=server.url, wait_interval=0.0)
        client = OpenAIChat(config, clock=clock.clock)
        await client.complete(HELLO)
        await client.close()
    # Dates have whole seconds, and the server reads its clock a little later than the test.
    assert len(clock.sleeps) == 1
    assert 598 < clock.sleeps[0] < 660


async def test_the_deadline_ends_a_call_that_is_told_to_wait_again_and_again() -> None:
    clock = FakeClock()
    script = [Fault.RATE_LIMIT_SECONDS] * 99
    async with talking(script, clock, max_retries=0, timeout_s=0.5, deadline_s=4.5) as (
        client,
        server,
    ):
        with pytest.raises(ModelUnavailable, match="deadline"):
            await client.complete(HELLO)
    assert server.count == 5


async def test_a_hanging_request_is_ended_by_the_deadline_too() -> None:
    async with talking([Fault.HANG], max_retries=0, deadline_s=0.2) as (client, _):
        with pytest.raises(ModelUnavailable, match="no answer within"):
            await client.complete(HELLO)


async def test_a_huge_reply_is_read_where_it_is_allowed() -> None:
    async with talking([Fault.HUGE]) as (client, _):
        reply = await client.complete(HELLO)
    assert len(reply.text) == 4_000_000


async def test_a_wrong_content_type_does_not_matter() -> None:
    async with talking([Fault.WRONG_TYPE]) as (client, _):
        reply = await client.complete(HELLO)
    assert (reply.text, reply.attempts) == ("ACTION: look around", 1)


@pytest.mark.parametrize(
    ("fault", "text", "reasoning", "kind"),
    [
        (Fault.REASONING, "ACTION: look around", "Hm.", ReplyKind.COMPLETE),
        (Fault.THINK_TAGS, "ACTION: look around", "Hm.", ReplyKind.COMPLETE),
        (Fault.THINK_CUT, "", "ACTION: ACTION: look around", ReplyKind.TRUNCATED),
        (Fault.LENGTH, "ACTION: l", "", ReplyKind.TRUNCATED),
    ],
)
async def test_thoughts_and_cut_off_replies_are_told_apart(
    fault: Fault, text: str, reasoning: str, kind: ReplyKind
) -> None:
    async with talking([fault]) as (client, server):
        reply = await client.complete(HELLO)
    assert (reply.text, reply.reasoning, reply.kind) == (text, reasoning, kind)
    assert server.count == 1


async def test_a_server_that_does_not_count_is_no_fault() -> None:
    async with talking([Fault.NO_USAGE]) as (client, _):
        reply = await client.complete(HELLO)
    assert (reply.text, reply.usage) == ("ACTION: look around", None)


async def test_what_the_server_says_it_cost_is_kept() -> None:
    async with talking([Fault.COST]) as (client, _):
        reply = await client.complete(HELLO)
    assert reply.cost == reply.cost_at(None) == 0.25


async def test_a_refusal_is_a_reply_of_its_own_kind_with_its_words() -> None:
    async with talking([Fault.REFUSED]) as (client, server):
        reply = await client.complete(HELLO)
    assert (reply.kind, reply.refusal) == (ReplyKind.REFUSED, "I cannot help with that.")
    assert server.count == 1


async def test_a_cancelled_call_leaves_nothing_behind() -> None:
    async with talking([Fault.HANG, None], max_concurrency=1) as (client, server):
        call = asyncio.ensure_future(client.complete(HELLO))
        for _ in range(1000):
            if server.in_flight:
                break
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await client.complete(HELLO)).text == "ACTION: look around"


async def test_no_more_requests_are_in_flight_than_allowed() -> None:
    async with talking(max_concurrency=5) as (client, server):
        await asyncio.gather(*(client.complete(HELLO) for _ in range(60)))
    assert server.count == 60
    assert server.most_in_flight <= 5


async def test_a_second_run_is_answered_from_the_cache(tmp_path: Path) -> None:
    runs = []
    async with ChatServer(script=[Fault.LENGTH]) as server:
        for temperature in (0.0, 0.0, 0.5):
            settings: dict[str, Any] = {"base_url": server.url, "cache_dir": tmp_path}
            client = OpenAIChat(OpenAISettings(model="m", temperature=temperature, **settings))
            told = [[Message(role="user", content=f"number {i}")] for i in range(5)]
            runs.append([await client.complete(messages) for messages in told])
            await client.close()
    first, second, third = runs
    assert [reply.cached for reply in first] == [False] * 5
    assert [reply.cached for reply in second] == [False, True, True, True, True]
    assert [reply.text for reply in second] == [f"number {i}" for i in range(5)]
    assert [reply.usage for reply in first[1:]] == [reply.usage for reply in second[1:]]
    assert not any(reply.cached for reply in third)
    assert server.count == 5 + 1 + 5


async def test_a_reply_that_cannot_be_kept_is_still_given(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    await asyncio.to_thread(blocked.write_text, "not a folder")
    async with talking(cache_dir=blocked) as (client, _):
        reply = await client.complete(HELLO)
    assert reply.text == "ACTION: look around"
    assert "could not be cached" in caplog.text


async def test_calls_with_different_seeds_do_not_share_a_reply(tmp_path: Path) -> None:
    async with talking(cache_dir=tmp_path) as (client, server):
        for seed in (1, 2, 1):
            await client.complete(HELLO, seed=seed)
    assert server.count == 2


async def test_an_answer_that_nobody_asked_for_is_no_reply_to_the_next_question() -> None:
    has_reply, has_sent = asyncio.Event(), asyncio.Event()

    def answer(text: str) -> bytes:
        choice = {"message": {"content": text}, "finish_reason": "stop"}
        return http(200, json.dumps({"choices": [choice]}).encode()).replace(
            b"close", b"keep-alive"
        )

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                await reader.readexactly(int(head.partition("content-length:")[2].split()[0]))
                writer.write(answer("asked for"))
                if not has_sent.is_set():
                    await has_reply.wait()
                    writer.write(answer("not asked for"))
                    has_sent.set()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        client = OpenAIChat(OpenAISettings(model="m", base_url=url, wait_interval=0.0))
        first = await client.complete(HELLO)
        has_reply.set()
        await has_sent.wait()
        for _ in range(50):  # until it is here
            await asyncio.sleep(0.001)
        second = await client.complete(HELLO)
        await client.close()
    assert [first.text, second.text] == ["asked for", "asked for"]
    assert second.attempts == 2
