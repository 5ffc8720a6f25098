"""HTTP to the agent under test: bounded, patient with busy servers, and limited to one host.

A redirect is followed only within the server that was asked. A response is
counted as it is after unpacking. What a failing server says goes into the error.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from agentquest.a2a.addresses import is_here, same_place
from agentquest.a2a.wire import Call
from agentquest.errors import AgentQuestError
from agentquest.http.guard import Refused, Unpacker
from agentquest.reports.safe_text import one_line

MAX_RESPONSE_BYTES = 8 * 1024 * 1024
_CONNECT_S = 10.0
_CONNECT_WAITS_S = (0.2, 0.8)
_BUSY = (429, 503)
_LONGEST_WAIT_S = 60.0
_MOST_REDIRECTS = 5
_SHOWN_OF_BODY = 500
_EVENTS = "text/event-stream"


class AgentUnreachable(AgentQuestError):
    """No connection to the agent."""


class AgentBroken(AgentQuestError):
    """The agent answered, but not in the protocol, or with a failure."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class AccessDenied(AgentBroken):
    """The agent needs credentials, or different ones: the same in every game."""


class AgentHttp:
    """One connection to one agent."""

    def __init__(
        self,
        url: str,
        tls: ssl.SSLContext,
        headers: Mapping[str, str],
        busy_waits_s: tuple[float, ...] = (),
        silence_s: float | None = None,
    ) -> None:
        self._busy_waits_s = busy_waits_s
        self._silence_s = silence_s
        self._headers = dict(headers)
        self._client = httpx.AsyncClient(
            verify=tls,
            timeout=httpx.Timeout(silence_s, connect=_CONNECT_S),
            # A proxy from the environment cannot reach this machine.
            trust_env=not is_here(urlsplit(url)),
        )

    async def close(self) -> None:
        """Close the connection; it cannot be used again."""
        await self._client.aclose()

    def check_silence(self, seconds: float) -> None:
        """Raise where an agent has been at work for longer than it may say nothing."""
        if self._silence_s is not None and seconds > self._silence_s:
            raise AgentBroken(f"no answer within {self._silence_s:g} s")

    async def json(self, call: Call) -> Any:
        """The response's JSON; of a response that is a stream of events, the list of them."""
        async with self._answered(call) as response:
            if _is_stream(response):
                return [event async for event in _events(response)]
            body = await _whole(response)
        return _parsed(body)

    async def events(self, call: Call) -> AsyncIterator[Any]:
        """The events of a response, as they come; a response that is not a stream is one event."""
        async with self._answered(call) as response:
            if not _is_stream(response):
                yield _parsed(await _whole(response))
                return
            async for event in _events(response):
                yield event

    @asynccontextmanager
    async def _answered(self, call: Call) -> AsyncIterator[httpx.Response]:
        """A response with success; a server that is busy is asked again after a while."""
        waits = iter(self._busy_waits_s)
        while True:
            response = await self._sent(call)
            try:
                if response.is_success:
                    yield response
                    return
                failure = await _failure(response)
            finally:
                await response.aclose()
            wait = next(waits, None)
            if failure.status not in _BUSY or wait is None:
                raise failure
            await asyncio.sleep(max(wait, _asked_wait(response)))

    async def _sent(self, call: Call) -> httpx.Response:
        """Follows redirects within the server. Sent again only while no connection was made,
        because a turn must never be played twice."""
        url = call.url
        for _ in range(_MOST_REDIRECTS + 1):
            response = await self._connected(call, url)
            if not response.has_redirect_location:
                return response
            await response.aclose()
            target = urljoin(url, response.headers["location"])
            if call.method != "GET" and response.status_code not in (307, 308):
                raise AgentBroken(f"it redirects to {one_line(target[:200])}; give that address")
            if not same_place(url, target):
                raise AgentBroken(
                    f"it redirects to another server ({one_line(target[:200])}); give that address"
                )
            url = target
        raise AgentBroken("it redirects too many times")

    async def _connected(self, call: Call, url: str) -> httpx.Response:
        headers = {**self._headers, **call.headers, "Accept-Encoding": "identity"}
        for wait in (*_CONNECT_WAITS_S, None):
            request = self._client.build_request(call.method, url, headers=headers, json=call.body)
            try:
                return await self._client.send(request, stream=True, follow_redirects=False)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if wait is None:
                    raise AgentUnreachable(_short(error)) from None
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                raise AgentBroken(_short(error)) from None
            await asyncio.sleep(wait)
        raise AssertionError("unreachable")


async def _failure(response: httpx.Response) -> AgentBroken:
    try:
        body = (await _whole(response))[:_SHOWN_OF_BODY].decode("utf-8", "replace").strip()
    except AgentBroken as error:
        body = str(error)
    status = response.status_code
    text = f"HTTP {status}: {one_line(body) if body else 'no reason given'}"
    return (AccessDenied if status in (401, 403) else AgentBroken)(text, status)


async def _chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.aiter_raw():
            yield chunk
    except httpx.HTTPError as error:
        raise AgentBroken(_short(error)) from None


async def _whole(response: httpx.Response) -> bytes:
    try:
        unpacker = Unpacker(response.headers.get("content-encoding", ""), MAX_RESPONSE_BYTES)
        async for chunk in _chunks(response):
            unpacker.feed(chunk)
        return unpacker.whole()
    except Refused as error:
        raise AgentBroken(f"the answer cannot be read: {error}") from None


async def _events(response: httpx.Response) -> AsyncIterator[Any]:
    """The data of server-sent events; together no longer than a response may be."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise AgentBroken("a compressed event stream cannot be read")
    size, unread, data = 0, b"", list[bytes]()
    async for chunk in _chunks(response):
        size += len(chunk)
        if size > MAX_RESPONSE_BYTES:
            raise AgentBroken(f"the answer is longer than {MAX_RESPONSE_BYTES:,} bytes")
        *lines, unread = (unread + chunk).split(b"\n")
        for line in lines:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif not line and data:
                yield _parsed(b"\n".join(data))
                data = []
    if data:
        yield _parsed(b"\n".join(data))


def _is_stream(response: httpx.Response) -> bool:
    return str(response.headers.get("content-type", "")).startswith(_EVENTS)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        shown = one_line(body[:200].decode("utf-8", "replace"))
        raise AgentBroken(f"the answer is not JSON: {shown}") from None


def _asked_wait(response: httpx.Response) -> float:
    """The seconds a busy server asks for, up to a limit."""
    text = response.headers.get("retry-after", "")
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), _LONGEST_WAIT_S)
    try:
        left = (parsedate_to_datetime(text) - datetime.now(timezone.utc)).total_seconds()
    except (TypeError, ValueError):
        return 0.0
    return min(max(left, 0.0), _LONGEST_WAIT_S)


def _short(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}"[:1000])
