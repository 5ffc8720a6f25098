"""Many calls at once through many faults: every caller gets its own right answer."""

import asyncio
import random
from typing import Any

from agentquest.llms.accounting import Ledger, Price
from agentquest.llms.messages import ChatMessage, Reply, ReplyKind
from agentquest.llms.model import ModelConfig
from agentquest.llms.openai_chat import OpenAIChat
from chat_faults import PASSING, Fault
from chat_server import ChatServer, server_process


def backwards(messages: list[dict[str, Any]]) -> str:
    return str(messages[-1]["content"])[::-1]


def told(number: int) -> list[ChatMessage]:
    return [ChatMessage("system", "x" * (number % 7)), ChatMessage("user", f"question {number}")]


async def ask_all(client: OpenAIChat, calls: int) -> list[Reply]:
    try:
        return await asyncio.gather(*(client.complete(told(n)) for n in range(calls)))
    finally:
        await client.close()


def patient(url: str, **fields: Any) -> OpenAIChat:
    settings = {"wait_interval": 0.01, "max_retries": 30, "timeout_s": 2.0, **fields}
    config = ModelConfig(model="m", base_url=url, max_response_bytes=500_000, **settings)
    return OpenAIChat(config, rng=random.Random(3))


async def test_200_calls_at_once_with_30_percent_faults_all_come_out_right() -> None:
    rates = {fault: 0.3 / len(PASSING) for fault in PASSING}
    async with ChatServer(backwards, rates=rates, seed=11, retry_after=0.05) as server:
        client = patient(server.url)
        replies = await ask_all(client, 200)
        faults = sum(count for fault, count in server.served.items() if fault is not None)
        # On a slow machine an ordinary answer may come too late and be asked for again.
        assert client.traffic.requests == server.count >= 200 + faults
        assert client.traffic.faults == faults
    assert faults > 40
    assert [reply.text for reply in replies] == [f"question {n}"[::-1] for n in range(200)]
    assert all(reply.kind is ReplyKind.COMPLETE for reply in replies)
    assert sum(reply.attempts for reply in replies) == 200 + faults


async def test_the_account_is_that_of_a_run_without_faults() -> None:
    totals = []
    for rates in ({}, {Fault.SERVER_ERROR: 0.2, Fault.EMPTY: 0.1}):
        async with ChatServer(backwards, rates=rates) as server:
            ledger = Ledger(Price(1.0, 2.0))
            for reply in await ask_all(patient(server.url), 100):
                ledger.for_episode().add(reply)
            totals.append(ledger.totals)
    clean, faulty = totals
    assert clean.cost == faulty.cost
    assert clean.completion_tokens == faulty.completion_tokens == 200
    assert clean.attempts == 100 < faulty.attempts


async def test_it_holds_against_a_server_in_another_process() -> None:
    with server_process("--faults", "0.3", "--retry-after", "0.05", "--seed", "4") as url:
        replies = await ask_all(patient(url, max_concurrency=32, timeout_s=0.5), 200)
    assert [reply.text for reply in replies] == [f"question {n}" for n in range(200)]
    assert sum(reply.attempts for reply in replies) > 240
