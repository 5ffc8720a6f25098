"""What a model call costs a processor, in each wire format, and what a rate limit costs.

    .venv/bin/python benchmarks/run.py providers [--quick] [--rate-limit]

Prompts are of the size that a game's are. The server is a process of its own;
formats take turns, so that a busy machine is busy for all of them, and the best
of several rounds counts.
"""

import argparse
import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from measuring import Row, chat_server, duration, machine, table

from agentquest import registry
from agentquest.llms.client import HttpModel
from agentquest.records.messages import Message, ToolCall, ToolSpec
from agentquest.running.play import rare_collections

HERE = Path(__file__).resolve().parent
PROVIDERS = ("openai", "responses", "anthropic", "gemini")
AT_ONCE = 64
SYSTEM = Message(role="system", content="You are in a room. " * 260)
ROOM = "You are in the middle of a room. Looking quickly around you, you see a desk 1, a bed 1.\n"
ACT = ToolSpec(
    name="act",
    description="Do something.",
    parameters={
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
)
TOOLS = (ACT,)


def in_words() -> Callable[[], list[Message]]:
    """As ReAct asks: all that has happened in one message, a new one each time."""
    return lambda: [SYSTEM, Message(role="user", content=ROOM * 20)]


def with_tools() -> Callable[[], list[Message]]:
    """The same in turns, as a tool-calling agent asks: what was said before, and one turn more."""
    earlier = [SYSTEM, Message(role="user", content=ROOM)]
    for turn in range(18):
        earlier += a_turn(turn)
    return lambda: [*earlier, *a_turn(18)]


def a_turn(number: int) -> list[Message]:
    call = ToolCall(id=f"call_{number}", name="act", arguments='{"command": "go to desk 1"}')
    return [
        Message(role="assistant", content="I go on.", tool_calls=(call,)),
        Message(role="tool", tool_call_id=call.id, content=ROOM),
    ]


class Measured(NamedTuple):
    words: float
    tools: float


def model(provider: str, url: str) -> HttpModel:
    found = registry.load("model", provider)
    made: HttpModel = found(found.Settings(model="walker", base_url=url, api_key_env=None))
    return made


async def cost_of(
    client: HttpModel, ask: Callable[[], list[Message]], tools: Sequence[ToolSpec], calls: int
) -> float:
    """Processor time of a call, with as many under way as a run has."""

    async def one(count: int) -> None:
        for _ in range(count):
            await client.complete(ask(), tools=tools)

    start = time.process_time()
    await asyncio.gather(*(one(calls // AT_ONCE) for _ in range(AT_ONCE)))
    return (time.process_time() - start) / (calls // AT_ONCE * AT_ONCE)


async def measure(url: str, calls: int, rounds: int) -> dict[str, Measured]:
    clients = {provider: model(provider, url) for provider in PROVIDERS}
    best = {provider: Measured(1e9, 1e9) for provider in PROVIDERS}
    for number in range(rounds + 1):
        for provider, client in clients.items():
            words = await cost_of(client, in_words(), (), calls)
            tools = await cost_of(client, with_tools(), TOOLS, calls)
            if number:  # the first round only opens connections
                before = best[provider]
                best[provider] = Measured(min(before.words, words), min(before.tools, tools))
    for client in clients.values():
        await client.close()
    return best


async def under_limit(url: str, episodes: int, steps: int) -> tuple[float, float]:
    """Requests per call, and seconds, of a run against a server that limits requests."""
    client = model("openai", url)

    async def episode() -> None:
        for _ in range(steps):
            await client.complete(in_words()())

    start = time.perf_counter()
    await asyncio.gather(*(episode() for _ in range(episodes)))
    await client.close()
    taken = time.perf_counter() - start
    return client.status().requests / (episodes * steps), taken


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="much smaller; figures are rougher")
    parser.add_argument("--rate-limit", action="store_true", help="takes two to three minutes more")
    options = parser.parse_args(arguments)
    print(machine(), flush=True)
    with chat_server(0) as url, rare_collections():  # as in a run
        best = asyncio.run(measure(url, 640 if options.quick else 3200, 2 if options.quick else 5))
    chat = best["openai"].words
    rows = [
        Row(
            provider,
            duration(taken.words),
            duration(taken.tools),
            f"{taken.words / chat:.2f} / {taken.tools / chat:.2f}",
        )
        for provider, taken in best.items()
    ]
    heads = Row("processor time of a call", "in words", "with tools", "of chat completions'")
    print(table(heads, rows))
    if options.rate_limit:
        with chat_server(0.2, 120) as url:
            ratio, seconds = asyncio.run(under_limit(url, 32, 10))
        print(
            f"120 requests a minute, 32 episodes of 10 calls: all answered in {seconds:.0f} s, "
            f"{ratio:.3f} requests per call"
        )
    return 0
