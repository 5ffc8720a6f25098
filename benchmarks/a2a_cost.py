"""What a turn costs over A2A: beside the same games in process, and beside bare JSON over HTTP.

    .venv/bin/python benchmarks/run.py a2a [--games 134] [--concurrency 8] [--data-path PATH]

All three play the same games with an agent that answers at once, through the
same runner and with the same logs. CPU is that of the side that plays the
games; the agent's own process is shown beside it.
"""

import argparse
import asyncio
import multiprocessing
import os
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from measuring import Row, duration, machine, table

from agentquest.a2a.assessment import Assessment
from agentquest.a2a.client.cards import Card
from agentquest.a2a.client.connection import A2AEndpoint, find_agent
from agentquest.a2a.client.wire import RemoteReply
from agentquest.a2a.config import AssessmentConfig
from agentquest.a2a.documents import AssessmentResult
from agentquest.a2a.messages import read_message
from agentquest.a2a.requests import AssessmentRequest
from agentquest.http.sockets import listen
from agentquest.records.manifest import AssessedAgent


def answer(text: str) -> str:
    """At once, and worth a game: a look at everything in turn."""
    heard = read_message(text)
    options = heard.admissible
    return options[len(heard.observation) % len(options)] if options else "look"


class InProcess:
    """No network at all: the messages are made, answered and read."""

    async def send(self, text: str) -> RemoteReply:
        return RemoteReply(answer(text))

    async def close(self) -> None:
        return None


class BareJson:
    """The least that two processes can say to each other over HTTP."""

    def __init__(self, url: str) -> None:
        import httpx

        self._url = url
        self._http = httpx.AsyncClient(trust_env=False, verify=False, timeout=60)

    async def send(self, text: str) -> RemoteReply:
        response = await self._http.post(self._url, json={"text": text})
        return RemoteReply(str(response.json()["text"]))

    async def close(self) -> None:
        await self._http.aclose()


@dataclass(frozen=True)
class Reached:
    """An agent that is connected to in some way of ours."""

    connect: Callable[[], InProcess | BareJson]
    card = Card(AssessedAgent(name="at once"), (), streaming=False, launch_id=None)


@dataclass(frozen=True)
class Measured:
    turns: int
    seconds: float
    cpu: float
    agent_cpu: float | None


def serve_bare(sock: socket.socket) -> None:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def turn(request: Request) -> JSONResponse:
        return JSONResponse({"text": answer((await request.json())["text"])})

    app = Starlette(routes=[Route("/", turn, methods=["POST"])])
    config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1)
    asyncio.run(uvicorn.Server(config).serve(sockets=[sock]))


def serve_a2a(sock: socket.socket) -> None:
    from agentquest.a2a.serving import ServerSettings, build_application
    from agentquest.a2a.white import WhiteExecutor, WhiteSource, white_card
    from agentquest.http import serving
    from agentquest.http.access import Access
    from agentquest.http.guard import guard_app
    from agentquest.lib import Agent, Answer, Observation

    class AtOnce(Agent):
        async def act(self, observation: Observation) -> Answer:
            options = observation.admissible
            chosen = options[len(observation.text) % len(options)] if options else "look"
            return Answer(action=chosen)

    url = f"http://localhost:{sock.getsockname()[1]}/"
    source = WhiteSource("at once", AtOnce)
    app = build_application(white_card(source, url), WhiteExecutor(source))
    app = guard_app(app, ServerSettings(Access("localhost")).rules(sock))
    asyncio.run(serving.Serving([serving.Served(app, sock)]).run())


class Served:
    """An agent in a process of its own; tells what CPU it has used."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._sock = listen()
        self.url = f"http://localhost:{self._sock.getsockname()[1]}/"
        ours, theirs = multiprocessing.Pipe()
        self._pipe = ours
        self._process = multiprocessing.Process(
            target=_serve_and_tell, args=(serve, self._sock, theirs), daemon=True
        )
        self._process.start()

    def cpu(self) -> float:
        self._pipe.send("cpu?")
        return float(self._pipe.recv())

    def stop(self) -> None:
        self._process.terminate()
        self._process.join()
        self._sock.close()


def _serve_and_tell(
    serve: Callable[[socket.socket], None], sock: socket.socket, pipe: Connection
) -> None:
    import threading

    def tell() -> None:
        while pipe.recv():
            used = resource.getrusage(resource.RUSAGE_SELF)
            pipe.send(used.ru_utime + used.ru_stime)

    threading.Thread(target=tell, daemon=True).start()
    serve(sock)


async def measure(
    options: argparse.Namespace, endpoint: A2AEndpoint | Reached, agent: Served | None
) -> Measured:
    request = AssessmentRequest(
        agent_url="http://localhost/",
        config=AssessmentConfig(
            num_games=options.games, max_steps=options.max_steps, concurrency=options.concurrency
        ),
    )
    assessment = Assessment(request, options.data_path)

    async def tell(news: str) -> None:
        return None

    before = agent.cpu() if agent else 0.0
    clock, cpu = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as logs:
        result = await assessment.play(endpoint, Path(logs), tell)
    seconds, used = time.perf_counter() - clock, time.process_time() - cpu
    _no_errors(result)
    turns = sum(game.document["steps"] for game in result.games)
    return Measured(turns, seconds, used, agent.cpu() - before if agent else None)


def _no_errors(result: AssessmentResult) -> None:
    for game in result.games:
        if game.document["error"] is not None:
            sys.exit(f"a game ended in an error: {game.document['error']['message']}")


async def over_a2a(options: argparse.Namespace) -> Measured:
    agent = Served(serve_a2a)
    try:
        endpoint = await find_agent(agent.url, 60)
        return await measure(options, endpoint, agent)
    finally:
        agent.stop()


async def over_bare_json(options: argparse.Namespace) -> Measured:
    agent = Served(serve_bare)
    try:
        await BareJson(agent.url).send("hello")
        return await measure(options, Reached(lambda: BareJson(agent.url)), agent)
    finally:
        agent.stop()


async def in_process(options: argparse.Namespace) -> Measured:
    return await measure(options, Reached(InProcess), None)


def row(name: str, measured: Measured) -> Row:
    agent = "" if measured.agent_cpu is None else duration(measured.agent_cpu / measured.turns)
    return Row(
        name,
        f"{measured.turns / measured.seconds:,.0f} turns/s ({measured.seconds:.1f} s)",
        duration(measured.cpu / measured.turns),
        agent,
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="run.py a2a")
    parser.add_argument("--games", type=int, default=134)
    parser.add_argument("--max-steps", type=int, default=50)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--data-path", default=None, help="real data; default as found, or builtin")
    options = parser.parse_args(arguments)
    os.environ.pop("AGENT_URL", None)
    print(machine())
    rows = []
    for name, way in (
        ("in process", in_process),
        ("bare JSON over HTTP", over_bare_json),
        ("A2A", over_a2a),
    ):
        measured = asyncio.run(way(options))
        rows.append(row(name, measured))
        games = f"{options.games} games, {measured.turns} turns"
    print(f"{games}, {options.concurrency} games at once\n")
    print(table(Row("", "speed", "CPU a turn", "CPU of the agent"), rows))
    return 0
