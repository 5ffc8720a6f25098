"""Servers on loopback that speak a provider's wire format, and can be told to misbehave.

Answers are computed from what was said, so equal conversations get equal
answers. Faults come from a script, one entry a request, in order.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from aiohttp import web

from chat_faults import Fault, choices
from said import Answer, Messages, Said, echo, said

# The status of each fault, and the text that goes with it.
STATUS: dict[Fault, tuple[int, str]] = {
    Fault.RATE_LIMIT: (429, "Too many requests."),
    Fault.SERVER_ERROR: (500, "Something broke."),
    Fault.OVERLOADED: (503, "Overloaded."),
    Fault.UNAUTHORIZED: (401, "Wrong key."),
    Fault.BAD_REQUEST: (400, "Bad value for temperature."),
    Fault.NOT_FOUND: (404, "There is no such model."),
    Fault.CONTEXT: (400, ""),
    Fault.NO_CREDIT: (429, ""),
    Fault.ECHO_KEY: (401, ""),
    Fault.ECHO_KEY_500: (500, ""),
}


class WireServer(ABC):
    """`async with SomeServer(...) as server:` and talk to `server.url`."""

    route: ClassVar[str]
    prefix: ClassVar[str]
    other_prefixes: ClassVar[tuple[str, ...]] = ()
    key_header: ClassVar[str]
    too_long: ClassVar[str]

    def __init__(
        self,
        answer: Answer = echo,
        *,
        script: Sequence[Fault | None] = (),
        api_key: str | None = None,
    ) -> None:
        self._answer = answer
        self._faults = choices(script, {}, 0)
        self._api_key = api_key
        self._runner: web.AppRunner | None = None
        self.url = ""
        self.count = 0
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    async def __aenter__(self) -> "WireServer":
        app = web.Application(client_max_size=64 * 1024 * 1024)
        for prefix in (self.prefix, *self.other_prefixes):
            app.router.add_post(prefix + self.route, self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.url = self.origin + self.prefix
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.count += 1
        body = json.loads(await request.read())
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        key = request.headers.get(self.key_header) or request.headers.get("Authorization", "")
        fault = next(self._faults)
        if self._api_key is not None and self._api_key not in key:
            fault = Fault.UNAUTHORIZED
        if fault in STATUS:
            status, text = STATUS[fault]
            if fault is Fault.CONTEXT:
                text = self.too_long
            if fault in (Fault.ECHO_KEY, Fault.ECHO_KEY_500):
                text = f"Refused: {key}"
            return web.json_response(self.error(status, text), status=status)
        reply = self._odd(fault, said(self._answer(self.heard(body))), key)
        data = self.response(body, request, reply)
        if fault is Fault.NO_USAGE:
            self.forget_usage(data)
        if not self.is_streamed(body, request):
            return web.json_response(data)
        return await self._stream(request, self.events(data), cut=fault is Fault.CUT_BODY)

    @staticmethod
    def _odd(fault: Fault | None, reply: Said, key: str) -> Said:
        odd = {
            Fault.EMPTY: Said(),
            Fault.LENGTH: Said(reply.text[: len(reply.text) // 2], cut_off=True),
            Fault.REFUSED: Said(refusal="I cannot help with that."),
            Fault.REASONING: Said(reply.text, thoughts="Hm.", calls=reply.calls),
            Fault.ECHO_KEY_IN_REPLY: Said(f"{key} {reply.text}", thoughts=key),
        }
        return odd.get(fault, reply) if fault is not None else reply

    async def _stream(
        self, request: web.Request, events: list[dict[str, Any]], cut: bool
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in events[: len(events) // 2] if cut else events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            await response.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        return response

    @abstractmethod
    def heard(self, body: dict[str, Any]) -> Messages:
        """The conversation of a request as messages with role and content."""

    @abstractmethod
    def response(self, body: dict[str, Any], request: web.Request, reply: Said) -> dict[str, Any]:
        """A reply in the provider's format."""

    @abstractmethod
    def events(self, data: dict[str, Any]) -> list[dict[str, Any]]:
        """The same reply in pieces."""

    @abstractmethod
    def error(self, status: int, text: str) -> dict[str, Any]:
        """An error in the provider's format."""

    @abstractmethod
    def forget_usage(self, data: dict[str, Any]) -> None:
        """Leave out how many tokens there were."""

    def is_streamed(self, body: dict[str, Any], request: web.Request) -> bool:
        return bool(body.get("stream"))


def halves(text: str) -> list[str]:
    """A text in two pieces."""
    middle = len(text) // 2
    return [text[:middle], text[middle:]]
