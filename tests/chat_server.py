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
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from email.utils import formatdate
from importlib import import_module
from pathlib import Path
from time import time
from typing import Any

from aiohttp import web

from chat_faults import ERRORS, PASSING, Fault, choices, error, reset
from llm_servers.chat_stream import chat_chunks
from said import Answer, Said, echo, said, words
from warm_python import Process


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
        allowed: tuple[int, float] | None = None,
        record: bool = True,
    ) -> None:
        self._answer = answer
        self._faults = choices(script, rates or {}, seed)
        self._latency = latency
        self._hang_s = hang_s
        self._retry_after = retry_after
        self._huge_bytes = huge_bytes
        self._api_key = api_key
        self._allowed = allowed
        self._window: tuple[float, int] = (0.0, 0)
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
        if not self._within_limit():
            self.served[Fault.RATE_LIMIT] += 1
            return error(Fault.RATE_LIMIT)
        fault = next(self._faults)
        self.served[fault] += 1
        if self._latency:
            await asyncio.sleep(self._latency)
        if body.get("stream") and fault in (None, Fault.REASONING, Fault.REFUSED, Fault.CUT_BODY):
            return await self._stream(request, body, fault)
        if fault is None:
            return web.json_response(self._completion(body, said(self._answer(messages))))
        return await self._misbehave(fault, request, body, authorization)

    def _within_limit(self) -> bool:
        """So many requests in each window of so many seconds; it does not say when to come back."""
        if self._allowed is None:
            return True
        most, seconds = self._allowed
        began, count = self._window
        if time() - began >= seconds:
            began, count = time(), 0
        self._window = (began, count + (count < most))
        return count < most

    async def _misbehave(
        self, fault: Fault, request: web.Request, body: dict[str, Any], authorization: str
    ) -> web.StreamResponse:
        if fault is Fault.HANG:
            await asyncio.sleep(self._hang_s)
            return error(Fault.OVERLOADED)
        if fault is Fault.RESET:
            return reset(request)
        if fault in (Fault.CUT_BODY, Fault.HUGE):
            return await self._raw(
                fault, request, self._completion(body, said(self._answer(body["messages"])))
            )
        if fault in ERRORS and (fault is not Fault.NO_TOOLS or "tools" in body):
            return error(fault)
        if fault in (Fault.RATE_LIMIT_SECONDS, Fault.RATE_LIMIT_DATE, Fault.RATE_LIMIT_MS):
            return error(Fault.RATE_LIMIT, self._come_back(fault))
        if fault in (Fault.ECHO_KEY, Fault.ECHO_KEY_500):
            kind = Fault.UNAUTHORIZED if fault is Fault.ECHO_KEY else Fault.SERVER_ERROR
            return error(kind, message=f"Refused: {authorization}")
        if fault is Fault.ABSURD_WAIT:
            return error(Fault.RATE_LIMIT, {"Retry-After": "1e9"})
        if fault is Fault.NO_CONTENT:
            return web.Response(status=204)
        if fault is Fault.REDIRECT:
            return web.Response(status=307, headers={"Location": "http://127.0.0.1:9/v1"})
        if fault is Fault.GARBAGE:
            return web.Response(
                text="<html><body>Bad gateway</body></html>", content_type="text/html"
            )
        return self._odd_reply(fault, body, authorization)

    def _odd_reply(self, fault: Fault, body: dict[str, Any], authorization: str) -> web.Response:
        """Responses of status 200 that are not quite what was hoped for."""
        text = said(self._answer(body["messages"])).text
        if fault is Fault.ERROR_IN_200:
            return web.json_response({"error": {"code": 502, "message": "Provider went away"}})
        if fault is Fault.CUT_JSON:
            whole = json.dumps(self._completion(body, Said(text)))
            return web.Response(text=whole[: len(whole) // 2], content_type="application/json")
        if fault is Fault.WRONG_TYPE:
            return web.Response(text=json.dumps(self._completion(body, Said(text))))
        data = self._completion(body, self._odd(text, authorization).get(fault, Said(text)))
        if fault is Fault.NO_USAGE:
            del data["usage"]
        if fault is Fault.COST:
            data["usage"]["cost"] = 0.25
        if fault is Fault.ABSURD_COST:
            data["usage"]["cost"] = 1.7e308
        if fault is Fault.ABSURD_COUNT:
            data["usage"]["prompt_tokens"] = 10**400
        if fault is Fault.ERROR_FINISH:
            data["choices"][0]["finish_reason"] = "error"
        return web.json_response(data)

    @staticmethod
    def _odd(text: str, authorization: str) -> dict[Fault, Said]:
        return {
            Fault.EMPTY: Said(),
            Fault.LENGTH: Said(text[: len(text) // 2], cut_off=True),
            Fault.THINK_TAGS: Said(f"<think>Hm.</think>\n\n{text}"),
            Fault.THINK_CUT: Said(f"<think>ACTION: {text}", cut_off=True),
            Fault.ECHO_KEY_IN_REPLY: Said(f"{authorization} {text}"),
            Fault.REASONING: Said(text, thoughts="Hm."),
            Fault.REFUSED: Said(refusal="I cannot help with that."),
        }

    async def _stream(
        self, request: web.Request, body: dict[str, Any], fault: Fault | None
    ) -> web.StreamResponse:
        reply = said(self._answer(body["messages"]))
        if fault is not None and fault is not Fault.CUT_BODY:
            reply = self._odd(reply.text, "").get(fault, reply)
        chunks = chat_chunks(self._completion(body, reply))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for chunk in chunks[:2] if fault is Fault.CUT_BODY else chunks:
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
        await response.write(b"" if fault is Fault.CUT_BODY else b"data: [DONE]\n\n")
        return response

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
        return reset(request, response)

    def _come_back(self, fault: Fault) -> dict[str, str]:
        if fault is Fault.RATE_LIMIT_MS:
            return {"retry-after-ms": str(self._retry_after * 1000)}
        if fault is Fault.RATE_LIMIT_DATE:
            return {"Retry-After": formatdate(time() + self._retry_after, usegmt=True)}
        return {"Retry-After": str(self._retry_after)}

    def _completion(self, body: dict[str, Any], reply: Said) -> dict[str, Any]:
        prompt = sum(words(message["content"]) for message in body["messages"])
        message: dict[str, Any] = {
            "role": "assistant",
            "content": reply.text if not (reply.calls or reply.refusal) else reply.text or None,
            "refusal": reply.refusal or None,
        }
        if reply.thoughts:
            message["reasoning_content"] = reply.thoughts
        if reply.calls:
            message["tool_calls"] = [
                {
                    "id": f"call_{self.count}_{number}",
                    "type": "function",
                    "function": {"name": name, "arguments": arguments},
                }
                for number, (name, arguments) in enumerate(reply.calls)
            ]
        finish = "length" if reply.cut_off else "tool_calls" if reply.calls else "stop"
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        return {
            "id": f"chatcmpl-{self.count}",
            "object": "chat.completion",
            "created": int(time()),
            "model": body["model"],
            "choices": [choice],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": reply.tokens,
                "total_tokens": prompt + reply.tokens,
                "completion_tokens_details": {"reasoning_tokens": words(reply.thoughts)},
            },
        }


@contextlib.contextmanager
def server_process(*arguments: str) -> Iterator[str]:
    """A server in a process of its own, for as long as the block runs; gives its address."""
    process = Process([Path(__file__).resolve(), *arguments], stdout=subprocess.PIPE)
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
    parser.add_argument("--per-minute", type=int, help="answer no more requests in a minute")
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
        allowed=(options.per_minute, 60.0) if options.per_minute else None,
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
