"""A chat-completions server on loopback that can be told to misbehave.

Answers are computed from the messages by a callable, so equal conversations
get equal answers whatever went wrong in between. Faults come from a script
(one entry a request, in order) or from seeded probabilities.

As its own process: `python tests/chat_server.py --latency 0.5 --fault 429=0.1`
prints the address to use as `base_url` and serves until it is ended.
"""

import argparse
import asyncio
import contextlib
import json
import signal
import socket
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from email.utils import formatdate
from importlib import import_module
from pathlib import Path
from time import time
from typing import Any

from aiohttp import web

from chat_faults import ERRORS, PASSING, Fault, choices, error

Messages = list[dict[str, Any]]
Answer = Callable[[Messages], str]


def echo(messages: Messages) -> str:
    """The default answer: the last message."""
    return str(messages[-1]["content"])


def _tokens(text: str) -> int:
    return len(text.split())


class ChatServer:
    """`async with ChatServer(...) as server:` and talk to `server.url`."""

    def __init__(
        self,
        answer: Answer = echo,
        *,
        script: Sequence[Fault | None] = (),
        rates: Mapping[Fault, float] | None = None,
        seed: int = 0,
        latency: float = 0.0,
        hang_s: float = 3600.0,
        retry_after: float = 1.0,
        huge_bytes: int = 4_000_000,
        api_key: str | None = None,
        record: bool = True,
    ) -> None:
        self._answer = answer
        self._faults = choices(script, rates or {}, seed)
        self._latency = latency
        self._hang_s = hang_s
        self._retry_after = retry_after
        self._huge_bytes = huge_bytes
        self._api_key = api_key
        self._record = record
        self._runner: web.AppRunner | None = None
        self.url = ""
        self.count = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.served: Counter[Fault | None] = Counter()
        self.requests: list[dict[str, Any]] = []

    async def start(self, port: int = 0) -> "ChatServer":
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port, backlog=1024)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> "ChatServer":
        return await self.start()

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.count += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._respond(request)
        finally:
            self.in_flight -= 1

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        try:
            body = json.loads(await request.read())
            messages = body["messages"]
            if not (isinstance(body["model"], str) and isinstance(messages, list) and messages):
                raise ValueError("model must be text and messages a list")
        except (ValueError, KeyError, TypeError) as problem:
            return error(Fault.BAD_REQUEST, message=f"Invalid request: {problem!r}")
        if self._record:
            self.requests.append(body)
        authorization = request.headers.get("Authorization", "")
        if self._api_key is not None and authorization != f"Bearer {self._api_key}":
            return error(Fault.UNAUTHORIZED)
        fault = next(self._faults)
        self.served[fault] += 1
        if self._latency:
            await asyncio.sleep(self._latency)
        if fault is None:
            return web.json_response(self._completion(body, self._answer(messages)))
        return await self._misbehave(fault, request, body, authorization)

    async def _misbehave(
        self, fault: Fault, request: web.Request, body: dict[str, Any], authorization: str
    ) -> web.StreamResponse:
        if fault is Fault.HANG:
            await asyncio.sleep(self._hang_s)
            return error(Fault.OVERLOADED)
        if fault is Fault.RESET:
            return _reset(request)
        if fault in (Fault.CUT_BODY, Fault.HUGE):
            return await self._raw(
                fault, request, self._completion(body, self._answer(body["messages"]))
            )
        if fault in ERRORS:
            return error(fault)
        if fault in (Fault.RATE_LIMIT_SECONDS, Fault.RATE_LIMIT_DATE, Fault.RATE_LIMIT_MS):
            return error(Fault.RATE_LIMIT, self._come_back(fault))
        if fault in (Fault.ECHO_KEY, Fault.ECHO_KEY_500):
            kind = Fault.UNAUTHORIZED if fault is Fault.ECHO_KEY else Fault.SERVER_ERROR
            return error(kind, message=f"Refused: {authorization}")
        if fault is Fault.REDIRECT:
            return web.Response(status=307, headers={"Location": "http://127.0.0.1:9/v1"})
        if fault is Fault.GARBAGE:
            return web.Response(
                text="<html><body>Bad gateway</body></html>", content_type="text/html"
            )
        return self._odd_reply(fault, body, authorization)

    def _odd_reply(self, fault: Fault, body: dict[str, Any], authorization: str) -> web.Response:
        """Responses of status 200 that are not quite what was hoped for."""
        text = self._answer(body["messages"])
        if fault is Fault.ERROR_IN_200:
            return web.json_response({"error": {"code": 502, "message": "Provider went away"}})
        if fault is Fault.CUT_JSON:
            whole = json.dumps(self._completion(body, text))
            return web.Response(text=whole[: len(whole) // 2], content_type="application/json")
        if fault is Fault.EMPTY:
            return web.json_response(self._completion(body, ""))
        if fault is Fault.WRONG_TYPE:
            return web.Response(text=json.dumps(self._completion(body, text)))
        if fault is Fault.LENGTH:
            return web.json_response(self._completion(body, text[: len(text) // 2], "length"))
        if fault is Fault.THINK_TAGS:
            return web.json_response(self._completion(body, f"<think>Hm.</think>\n\n{text}"))
        if fault is Fault.THINK_CUT:
            return web.json_response(self._completion(body, f"<think>ACTION: {text}", "length"))
        if fault is Fault.ECHO_KEY_IN_REPLY:
            return web.json_response(self._completion(body, f"{authorization} {text}"))
        data = self._completion(body, text)
        if fault is Fault.REASONING:
            data["choices"][0]["message"]["reasoning_content"] = "Hm."
            data["usage"]["completion_tokens_details"] = {"reasoning_tokens": 1}
        if fault is Fault.NO_USAGE:
            del data["usage"]
        return web.json_response(data)

    async def _raw(
        self, fault: Fault, request: web.Request, data: dict[str, Any]
    ) -> web.StreamResponse:
        """A body that is shorter than announced, or far longer than anyone needs."""
        if fault is Fault.HUGE:
            data["choices"][0]["message"]["content"] = "x" * self._huge_bytes
            return web.json_response(data)
        whole = json.dumps(data).encode()
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.content_length = len(whole)
        await response.prepare(request)
        await response.write(whole[: len(whole) // 2])
        return _reset(request, response)

    def _come_back(self, fault: Fault) -> dict[str, str]:
        if fault is Fault.RATE_LIMIT_MS:
            return {"retry-after-ms": str(self._retry_after * 1000)}
        if fault is Fault.RATE_LIMIT_DATE:
            return {"Retry-After": formatdate(time() + self._retry_after, usegmt=True)}
        return {"Retry-After": str(self._retry_after)}

    def _completion(
        self, body: dict[str, Any], text: str, finish_reason: str = "stop"
    ) -> dict[str, Any]:
        prompt = sum(_tokens(str(message["content"])) for message in body["messages"])
        completion = _tokens(text)
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}
        return {
            "id": f"chatcmpl-{self.count}",
            "object": "chat.completion",
            "created": int(time()),
            "model": body["model"],
            "choices": [choice],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            },
        }


def _reset(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Break the connection the hard way: with linger 0 the kernel sends a reset."""
    transport = request.transport
    if transport is not None:
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return response or web.Response()


@contextlib.contextmanager
def server_process(*arguments: str) -> Iterator[str]:
    """A server in a process of its own, for as long as the block runs; gives its address."""
    command = [sys.executable, str(Path(__file__).resolve()), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(timeout=30)
        assert process.stdout is not None
        process.stdout.close()


def _fault_rate(value: str) -> tuple[Fault, float]:
    name, _, rate = value.partition("=")
    return Fault(name), float(rate)


def _answer_from(value: str) -> Answer:
    """`echo`, `text:WORDS` for a fixed answer, or `module:function`."""
    if value == "echo":
        return echo
    head, _, rest = value.partition(":")
    if head == "text":
        return lambda messages: rest
    function: Answer = getattr(import_module(head), rest)
    return function


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A chat-completions server that can misbehave.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each response")
    parser.add_argument("--seed", type=int, default=0, help="seed of the fault probabilities")
    parser.add_argument("--answer", type=_answer_from, default=echo, help=_answer_from.__doc__)
    parser.add_argument("--fault", type=_fault_rate, action="append", default=[], help="NAME=RATE")
    parser.add_argument("--faults", type=float, default=0.0, help="rate of all passing faults")
    parser.add_argument("--hang", type=float, default=3600.0, help="seconds that a hang lasts")
    parser.add_argument("--retry-after", type=float, default=1.0, help="seconds asked for by 429")
    parser.add_argument("--api-key", default=None, help="refuse every other key")
    return parser.parse_args()


async def _serve(options: argparse.Namespace) -> None:
    rates = {fault: options.faults / len(PASSING) for fault in PASSING} if options.faults else {}
    rates.update(options.fault)
    server = ChatServer(
        options.answer,
        rates=rates,
        seed=options.seed,
        latency=options.latency,
        hang_s=options.hang,
        retry_after=options.retry_after,
        api_key=options.api_key,
        record=False,
    )
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await server.start(options.port)
    print(server.url, flush=True)
    await ended.wait()
    await server.close()


if __name__ == "__main__":
    asyncio.run(_serve(_arguments()))
