"""Many shoppers at one server: how many whole purchases a second, and how long a request takes."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import aiohttp

_HEADER = "X-Session"


@dataclass
class Load:
    """What the clients saw."""

    sessions: int
    seconds: float = 0.0
    requests: int = 0
    times: list[float] = field(default_factory=list)


@contextmanager
def server(data: str | None) -> Iterator[str]:
    """`agentquest serve webshop` in a process of its own; gives its address."""
    command = [sys.executable, "-m", "agentquest", "serve", "webshop", "--port", "0"]
    process = subprocess.Popen(
        [*command, *(["--data", data] if data else [])], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "http://" in line:
                yield line[line.index("http://") :].strip()
                return
        raise RuntimeError("the server ended before it said where it is")
    finally:
        process.terminate()
        process.wait()


def load(url: str, clients: int, sessions: int) -> Load:
    return asyncio.run(_load(url, clients, sessions))


async def _load(url: str, clients: int, sessions: int) -> Load:
    seen = Load(sessions)
    waiting = iter(range(sessions))
    connector = aiohttp.TCPConnector(limit=clients)
    async with aiohttp.ClientSession(url, connector=connector) as http:

        async def client(name: str) -> None:
            for number in waiting:
                await _shop(http, f"{name}-{number}", number % 400, seen)

        began = time.perf_counter()
        await asyncio.gather(*(client(f"c{n}") for n in range(clients)))
        seen.seconds = time.perf_counter() - began
    return seen


async def _shop(http: aiohttp.ClientSession, name: str, goal: int, seen: Load) -> None:
    """One purchase: reset, search, the first product, its description and back, buy."""

    async def post(route: str, body: dict[str, object]) -> dict[str, object]:
        began = time.perf_counter()
        async with http.post(route, json=body, headers={_HEADER: name}) as response:
            answer: dict[str, object] = await response.json()
        seen.times.append(time.perf_counter() - began)
        seen.requests += 1
        assert response.status == 200, answer
        return answer

    answer = await post("/reset", {"session": goal})
    wish = str(answer["obs"]).split(" [SEP] ")[2].translate(str.maketrans("[]", "  "))
    answer = await post("/step", {"action": f"search[{wish}]"})
    offered = answer["available_actions"]["clickables"]  # type: ignore[index]
    first = next(text for text in offered if len(text) == 10 and " " not in text)
    for action in (f"click[{first}]", "click[description]", "click[< prev]"):
        await post("/step", {"action": action})
    answer = await post("/step", {"action": "click[buy now]"})
    assert answer["done"]
