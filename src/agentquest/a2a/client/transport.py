"""HTTP to the agent under test: bounded, patient with busy servers, and limited to one origin.

A redirect is followed only within the same origin: scheme, host and port. Headers, which may
be credentials, go to the origin that was given and nowhere else. Size limits apply after
decompression. The error contains what a failing server said.
"""

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from agentquest.a2a import limits
from agentquest.a2a.addresses import find_fault, is_here, origin_of
from agentquest.a2a.client.wire import HttpRequest
from agentquest.errors import AgentQuestError
from agentquest.llms.retry import retry_after
from agentquest.records.usage import read_json
from agentquest.safe_text import one_line

_BUSY = (429, 503)
_SHOWN_OF_BODY = 500
_EVENT_STREAM = "text/event-stream"
# What a piece of can become a thousand times as much, and no more.
_ENCODINGS = ("identity", "gzip", "deflate")


class AgentUnreachable(AgentQuestError):
    """There is no connection to the agent."""


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
        silence_s: float | None = None,
    ) -> None:
        self._silence_s = silence_s
        self._headers = dict(headers)
        self._origin = origin_of(url)
        self._client = httpx.AsyncClient(
            verify=tls,
            timeout=httpx.Timeout(silence_s, connect=limits.CONNECT_TIMEOUT_S),
            # A proxy from the environment cannot reach this machine.
            trust_env=not is_here(urlsplit(url)),
        )

    async def close(self) -> None:
        """Close the connection; it cannot be used again."""
        await self._client.aclose()

    def check_silence(self, seconds: float) -> None:
        """Raise if the agent has worked for longer than it may stay silent."""
        if self._silence_s is not None and seconds > self._silence_s:
            raise AgentBroken(f"no answer within {self._silence_s:g} s")

    async def json(self, request: HttpRequest) -> Any:
        """The JSON of the response; of a stream, the last event."""
        content = None
        async for event in self.events(request):
            content = event
        return content

    async def events(self, request: HttpRequest) -> AsyncGenerator[Any, None]:
        """The events of the response as they arrive; a response that is no stream is one event,
        or a list of them."""
        async with self._open_response(request) as response:
            if response.headers.get("content-type", "").startswith(_EVENT_STREAM):
                async for event in _read_events(response):
                    yield event
            else:
                content = _parse_json(await _read_body(response))
                for event in content if isinstance(content, list) else [content]:
                    yield event

    @asynccontextmanager
    async def _open_response(self, request: HttpRequest) -> AsyncIterator[httpx.Response]:
        """A successful response; a busy server is asked again after a while."""
        waits = iter(limits.BUSY_WAITS_S)
        while True:
            response = await self._send(request)
            try:
                if response.is_success:
                    yield response
                    return
                failure = await _read_failure(response)
            finally:
                await response.aclose()
            wait = next(waits, None)
            if failure.status not in _BUSY or wait is None:
                raise failure
            asked = retry_after(response.headers, time.time()) or 0.0
            await asyncio.sleep(max(wait, min(asked, limits.MAX_RETRY_AFTER_S)))

    async def _send(self, request: HttpRequest) -> httpx.Response:
        """The response, after redirects within the server."""
        url = request.url
        for _ in range(limits.MAX_REDIRECTS + 1):
            response = await self._send_once(request, url)
            if not response.has_redirect_location:
                return response
            await response.aclose()
            target = response.headers["location"]
            with suppress(ValueError):  # what cannot be joined is no address either
                target = urljoin(url, target)
            shown = one_line(target[:200])
            if request.method != "GET" and response.status_code not in (307, 308):
                raise AgentBroken(f"it redirects to {shown}; give that address")
            if find_fault(target) or origin_of(target) != origin_of(url):
                raise AgentBroken(f"it redirects to another server ({shown}); give that address")
            url = target
        raise AgentBroken("it redirects too many times")

    async def _send_once(self, request: HttpRequest, url: str) -> httpx.Response:
        """Retries only while no connection was made: a turn must never be played twice."""
        ours = self._headers if origin_of(url) == self._origin else {}
        headers = {**ours, **request.headers, "Accept-Encoding": "identity"}
        for wait in (*limits.CONNECT_WAITS_S, None):
            try:
                built = self._client.build_request(
                    request.method, url, headers=headers, json=request.body
                )
                return await self._client.send(built, stream=True, follow_redirects=False)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if wait is None:
                    raise AgentUnreachable(_describe(error)) from None
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                raise AgentBroken(_describe(error)) from None
            await asyncio.sleep(wait)
        raise AssertionError("unreachable")


async def _read_failure(response: httpx.Response) -> AgentBroken:
    try:
        body = (await _read_body(response))[:_SHOWN_OF_BODY].decode("utf-8", "replace").strip()
    except AgentBroken as error:
        body = str(error)
    status = response.status_code
    text = f"HTTP {status}: {one_line(body) if body else 'no reason given'}"
    return (AccessDenied if status in (401, 403) else AgentBroken)(text, status)


async def _chunks(response: httpx.Response) -> AsyncIterator[bytes]:
    """The body as it arrives, unpacked and limited."""
    encoding = response.headers.get("content-encoding", "identity")
    if encoding not in _ENCODINGS:
        raise AgentBroken(f"the answer cannot be read: it is packed as {one_line(encoding[:50])}")
    size = 0
    try:
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > limits.MAX_RESPONSE_BYTES:
                raise AgentBroken(f"the answer is larger than {limits.MAX_RESPONSE_BYTES:,} bytes")
            yield chunk
    except httpx.HTTPError as error:
        raise AgentBroken(_describe(error)) from None


async def _read_body(response: httpx.Response) -> bytes:
    return b"".join([chunk async for chunk in _chunks(response)])


async def _read_events(response: httpx.Response) -> AsyncIterator[Any]:
    """The data of server-sent events; all of them together are limited like one response."""
    unread, data = b"", list[bytes]()
    async for chunk in _chunks(response):
        *lines, unread = (unread + chunk).split(b"\n")
        for line in lines:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif not line and data:
                yield _parse_json(b"\n".join(data))
                data = []
    if data:
        yield _parse_json(b"\n".join(data))


def _parse_json(body: bytes) -> Any:
    try:
        return read_json(body)
    except (ValueError, RecursionError):
        shown = one_line(body[:200].decode("utf-8", "replace"))
        raise AgentBroken(f"the answer is not JSON: {shown}") from None


def _describe(error: Exception) -> str:
    return one_line(f"{type(error).__name__}: {error}"[:1000])
