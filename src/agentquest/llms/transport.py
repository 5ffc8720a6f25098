"""One POST over aiohttp: bounded in time and size, with failures as our own errors.

One session serves all calls. Redirects are not followed, so that a key is never sent to a
host that the user did not name. The environment's proxy is looked up once.
"""

import asyncio
import base64
import urllib.request
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import aiohttp
from yarl import URL

from agentquest.llms.failures import ModelFailure, ModelUnavailable, Transient
from agentquest.llms.redaction import Redactor

_CONNECT_S = 30.0


class HttpAnswer(NamedTuple):
    """What a server sent back, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Request(aiohttp.ClientRequest):
    """Does not use a connection on which a second answer came: it would be taken for its own."""

    async def send(self, conn: aiohttp.connector.Connection) -> aiohttp.ClientResponse:
        if conn.protocol is not None and conn.protocol.should_close:
            raise aiohttp.ServerDisconnectedError("an answer came that nobody had asked for")
        return await super().send(conn)


class Transport:
    """Sends JSON to one address."""

    def __init__(
        self,
        url: str,
        key: str,
        headers: Mapping[str, str],
        *,
        timeout_s: float,
        max_bytes: int,
    ) -> None:
        self._url = URL(url)
        self._headers = {"Content-Type": "application/json", **headers}
        self._timeout_s = timeout_s
        self._timeout = _timeout(timeout_s)
        self._max_bytes = max_bytes
        self._proxy = proxy_for(url)
        self.redact = Redactor(key, *_secrets_of(self._proxy or ""))
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: bytes, time_left: float) -> HttpAnswer:
        """Send `body`; raises `Transient`, or `ModelUnavailable` for what cannot pass."""
        seconds, timeout = self._timeout_s, self._timeout
        if time_left < seconds:
            seconds = max(time_left, 0.001)
            timeout = _timeout(seconds)
        failure: Transient | ModelFailure
        try:
            return await self._exchange(body, timeout)
        except asyncio.TimeoutError:
            failure = Transient(f"no answer within {round(seconds, 2) or seconds:g} s")
        except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientSSLError) as error:
            failure = ModelUnavailable(self._describe("no secure connection", error))
        except (aiohttp.ClientError, OSError) as error:
            unreachable = isinstance(error, aiohttp.ClientConnectorError)
            failure = Transient(self._describe("connection failed", error), unreachable=unreachable)
        except Transient as known:
            failure = known
        except Exception as error:
            # Whatever else the client library raises over an answer is the server's fault too.
            failure = Transient(self._describe("not an answer", error))
        # Raised outside the handler: aiohttp's errors can carry the request with its headers.
        raise failure

    async def close(self) -> None:
        """Close the session; the next call would open another."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _exchange(self, body: bytes, timeout: aiohttp.ClientTimeout) -> HttpAnswer:
        session = self._session or self._open()
        async with session.post(
            self._url, data=body, timeout=timeout, proxy=self._proxy, allow_redirects=False
        ) as response:
            chunks: list[bytes] = []
            size = 0
            async for chunk in response.content.iter_any():
                size += len(chunk)
                if size > self._max_bytes:
                    response.close()
                    raise Transient(
                        f"the response is larger than {self._max_bytes} bytes",
                        status=response.status,
                    )
                chunks.append(chunk)
            content = chunks[0] if len(chunks) == 1 else b"".join(chunks)
            return HttpAnswer(response.status, response.headers, content)

    def _open(self) -> aiohttp.ClientSession:
        # The caller's limits bound the number of connections.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            request_class=_Request,
        )
        return self._session

    def _describe(self, what: str, error: BaseException) -> str:
        return self.redact.error(f"{what}: {type(error).__name__}: {error}")


def _timeout(seconds: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=seconds, sock_connect=min(seconds, _CONNECT_S))


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for `url`."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    # No proxy can reach a server that listens on this machine only.
    if host in ("localhost", "::1") or host.startswith("127."):
        return None
    if urllib.request.proxy_bypass(host):
        return None
    return urllib.request.getproxies().get(parts.scheme)


def _secrets_of(proxy: str) -> tuple[str, ...]:
    """A proxy's password, and the form in which it is sent."""
    parts = urlsplit(proxy)
    if not parts.password:
        return ()
    user, password = unquote(parts.username or ""), unquote(parts.password)
    sent = base64.b64encode(f"{user}:{password}".encode()).decode()
    return (parts.password, password, sent)
