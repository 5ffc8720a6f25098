"""Many calls at once through many faults: every caller gets its own right answer."""

import asyncio
import random
from typing import Any

from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings
from agentquest.llms.types import Reply, ReplyKind
from agentquest.records.messages import Message
from chat_faults import PASSING, Fault
from chat_server import ChatServer, server_process


def backwards(messages: list[dict[str, Any]]) -> str:
    return str(messages[-1]["content"])[::-1]


def told(number: int) -> list[Message]:
    return [
        Message(role="system", content="x" * (number % 7)),
        Message(role="user", content=f"question {number}"),
    ]


async def ask_all(client: OpenAIChat, calls: int) -> list[Reply]:
    try:
        return await asyncio.gather(*(client.complete(told(n)) for n in range(calls)))
    finally:
        await client.close()


def patient(url: str, **fields: Any) -> OpenAIChat:
    settings = {"wait_interval": 0.01, "max_retries": 30, "timeout_s": 2.0, **fields}
    config = OpenAISettings(model="m", base_url=url, max_response_bytes=500_000, **settings)
    return OpenAIChat(config, rng=random.Random(3))


async def test_200_calls_at_once_with_30_percent_faults_all_come_out_right() -> None:
    rates = {fault: 0.3 / len(PASSING) for fault in PASSING}
    async with ChatServer(backwards, rates=rates, seed=11, retry_after=0.05) as server:
        client = patient(server.url)
        replies = await ask_all(client, 200)
        faults = sum(count for fault, count in server.served.items() if fault is not None)
        # On a slow machine an ordinary answer may come too late and be asked for again.
        assert client.status().requests == server.count >= 200 + faults
    assert faults > 40
    assert [reply.text for reply in replies] == [f"question {n}"[::-1] for n in range(200)]
    assert all(reply.kind is ReplyKind.COMPLETE for reply in replies)
    assert sum(reply.attempts for reply in replies) == 200 + faults


async def test_tokens_are_those_of_a_run_without_faults() -> None:
    runs = []
    for rates in ({}, {Fault.SERVER_ERROR: 0.2, Fault.EMPTY: 0.1}):
        async with ChatServer(backwards, rates=rates) as server:
            runs.append(await ask_all(patient(server.url), 100))
    clean, faulty = runs
    assert [reply.usage for reply in clean] == [reply.usage for reply in faulty]
    assert sum(reply.attempts for reply in clean) == 100
    assert sum(reply.attempts for reply in faulty) > 100


async def test_it_holds_against_a_server_in_another_process() -> None:
    with server_process("--faults", "0.3", "--retry-after", "0.05", "--seed", "4") as url:
        replies = await ask_all(patient(url, max_concurrency=32, timeout_s=0.5), 200)
    assert [reply.text for reply in replies] == [f"question {n}" for n in range(200)]
    assert sum(reply.attempts for reply in replies) > 240


async def test_a_rate_limit_loses_no_call_and_costs_few_requests() -> None:
    """120 requests in a window, as servers allow in a minute, with windows of two seconds."""
    async with ChatServer(backwards, latency=0.02, allowed=(120, 2.0)) as server:
        client = patient(server.url, max_retries=1, wait_interval=0.05)

        async def episode(number: int) -> list[str]:
            return [(await client.complete(told(number))).text for _ in range(10)]

        answers = await asyncio.gather(*(episode(number) for number in range(32)))
        await client.close()
    assert answers == [[f"question {number}"[::-1]] * 10 for number in range(32)]
    assert server.served[Fault.RATE_LIMIT] > 0
    assert server.count <= 1.2 * 320


async def test_a_server_that_is_restarted_in_the_middle_costs_no_call() -> None:
    server = await ChatServer(backwards).start()
    port = int(server.url.split(":")[2].split("/")[0])
    client = patient(server.url, max_retries=1, wait_interval=0.05)
    answered = asyncio.Event()

    async def episode(number: int) -> list[str]:
        texts = []
        for _ in range(10):
            texts.append((await client.complete(told(number))).text)
            answered.set()
        return texts

    playing = [asyncio.ensure_future(episode(number)) for number in range(8)]
    await answered.wait()
    await server.close()
    for _ in range(1000):
        if client.status().away:
            break
        await asyncio.sleep(0.01)
    assert "server down" in client.status().line
    await asyncio.sleep(0.5)
    again = await ChatServer(backwards).start(port)
    answers = await asyncio.gather(*playing)
    await client.close()
    await again.close()
    assert answers == [[f"question {number}"[::-1]] * 10 for number in range(8)]
    assert client.status().line == ""
