"""What a request must be before an application sees it.

`guard_app` puts it around any ASGI application. What is refused is answered with
the reason, in the application's own form, and with the same security headers.

A web page can make a browser on this machine send requests here. Two things
give it away. Its own address, in the Origin header, is not the one that was
asked. Or, where the page's name was made to point to this machine after it was
loaded (DNS rebinding), both agree, but the name is not one of ours.
"""

import json
import secrets
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentquest.http.sockets import parse_address

MAX_BODY = 64 * 1024
ANY = "*"
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_LONGEST_SHOWN = 100
_NO_SNIFFING = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
API_HEADERS: Mapping[str, str] = _NO_SNIFFING | {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"
}
"""For answers that are no pages."""

Refusal = Callable[[int, str], Response]
"""Writes a refusal from its status and message."""

_to_json = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def write_json(content: Any, status: int = 200) -> Response:
    """JSON as Flask writes it: keys sorted, ASCII, a line end."""
    return Response(f"{_to_json(content)}\n", status, media_type="application/json")


def json_refusal(status: int, text: str) -> Response:
    """The reason as `{"error": …}`, for programs."""
    return write_json({"error": text}, status)


class Refused(Exception):
    """A request that no application gets to see."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class Names:
    """The names that a server answers to: the loopback's, that of its address, and those given.

    On all addresses at once (0.0.0.0) it also answers to any address in numbers, which
    no DNS can bend, and to the machine's own name. `*` among those given stands for any name,
    as behind a gateway.
    """

    def __init__(self, bound: str, more: Collection[str] = ()) -> None:
        named = {name.strip("[]").rstrip(".").lower() for name in (bound, *more)}
        self.hosts = _LOOPBACK_NAMES | named
        self.any_name = ANY in more  # never because of `bound`, which some resolvers take as "*"
        address = parse_address(bound)
        self.any_number = not bound or (address is not None and address.is_unspecified)
        if self.any_number:
            self.hosts |= {socket.gethostname().lower()}

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Raise Refused unless the Host header is a name that this server answers to."""
        named = headers.get("host", "")
        host = host_in(named)
        if host is None:
            raise Refused(400, "the request has no valid Host header")
        is_known = host in self.hosts or self.any_name
        if not is_known and not (self.any_number and parse_address(host)):
            shown = named[:_LONGEST_SHOWN]
            text = f"this server does not answer to the name {shown!r}; allow it"
            raise Refused(403, f"{text} with --allow-host")

    def check_origin(self, method: str, headers: Mapping[str, str]) -> None:
        """Raise Refused if a page of another web site sends this; programs name no origin."""
        if method in _READING:
            return
        origin = headers.get("origin", headers.get("referer"))
        if origin is None:
            return
        try:
            asking = urlsplit(origin).netloc.lower()
        except ValueError:
            asking = ""
        if asking != headers.get("host", "").lower():
            raise Refused(403, "requests from pages of other web sites are refused")


@lru_cache(maxsize=64)  # clients send the same name with every request
def host_in(value: str) -> str | None:
    """The host in a Host header, without its port; None when it is malformed."""
    try:
        parts = urlsplit(f"//{value}")
        host = parts.hostname
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return None
    if not host or parts.netloc != value or "@" in value or parts.path:
        return None
    return host.rstrip(".").lower()


def has_body(headers: Mapping[str, str]) -> bool:
    """Whether the headers announce a body, of known length or not."""
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


async def _read_body(headers: Mapping[str, str], receive: Receive, limit: int) -> bytes:
    """The whole body; a compressed one is refused, because a little can become very much."""
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise Refused(415, "compressed bodies are not supported")
    announced = headers.get("content-length", "")
    is_larger = announced.isdigit() and (len(announced) > 15 or int(announced) > limit)
    body = bytearray()
    while not is_larger:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientDisconnect
        body += message.get("body", b"")
        is_larger = len(body) > limit
        if not is_larger and not message.get("more_body", False):
            return bytes(body)
    raise Refused(413, f"the body is larger than {limit} bytes")


def _replay(receive: Receive, body: bytes) -> Receive:
    """Receives a body that was already read, and then whatever comes after it."""
    message: Message | None = {"type": "http.request", "body": body, "more_body": False}

    async def replay() -> Message:
        nonlocal message
        if message is None:
            return await receive()
        first, message = message, None
        return first

    return replay


def page_headers(**sources: str) -> dict[str, str]:
    """For pages: nothing from elsewhere; `sources` adds to the policy, as in img_src="https:"."""
    policy = {
        "default-src": "'none'",
        "style-src": "'self'",
        "img-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    for name, source in sources.items():
        key = name.replace("_", "-")
        policy[key] = f"{policy[key]} {source}" if key in policy else source
    return _NO_SNIFFING | {
        "Content-Security-Policy": "; ".join(f"{key} {value}" for key, value in policy.items()),
        "X-Frame-Options": "DENY",
    }


@dataclass(frozen=True)
class Rules:
    """What requests to one application must be.

    `json_only`: a body must say that it is JSON. `token`: what `Authorization: Bearer` must
    hold, except on `open_paths`. `headers` go out with every answer that has not its own.
    `check_body` raises Refused for bodies that the application cannot handle.
    """

    names: Names
    max_body: int = MAX_BODY
    json_only: bool = False
    token: str | None = field(default=None, repr=False)
    open_paths: Collection[str] = ()
    headers: Mapping[str, str] = field(default_factory=lambda: API_HEADERS)
    refusal: Refusal = json_refusal
    check_body: Callable[[bytes], None] = lambda body: None


def guard_app(app: ASGIApp, rules: Rules) -> ASGIApp:
    """The application, reached only by requests that follow the rules."""
    added = [(name.lower().encode(), value.encode()) for name, value in rules.headers.items()]

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await guard_request(scope, receive, _with_headers(send, added))
        elif scope["type"] == "websocket":
            await guard_websocket(scope, receive, send)
        else:
            await app(scope, receive, send)

    async def guard_request(scope: Scope, receive: Receive, send: Send) -> None:
        headers = _decode_headers(scope)
        try:
            _check_head(scope["method"], scope["path"], headers, rules)
            body = await _read_body(headers, receive, rules.max_body)
            rules.check_body(body)
        except Refused as refused:
            response = rules.refusal(refused.status, refused.text)
            if refused.status == 401:
                response.headers["WWW-Authenticate"] = "Bearer"
            await response(scope, receive, send)
            return
        except ClientDisconnect:  # nobody waits for an answer
            return
        await app(scope, _replay(receive, body), send)

    async def guard_websocket(scope: Scope, receive: Receive, send: Send) -> None:
        """Any page can make a browser open one, so it is checked like a request that writes."""
        try:
            _check_head("POST", scope["path"], _decode_headers(scope), rules)
        except Refused:
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        await app(scope, receive, send)

    return guard


def _decode_headers(scope: Scope) -> dict[str, str]:
    """The request's headers by name; of one that was sent twice, the first counts."""
    pairs = reversed(scope["headers"])
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}


def _with_headers(send: Send, added: Sequence[tuple[bytes, bytes]]) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = message["headers"]
            names = {name for name, _ in own}
            message["headers"] = [*own, *(pair for pair in added if pair[0] not in names)]
        await send(message)

    return send_with_headers


def _check_head(method: str, path: str, headers: Mapping[str, str], rules: Rules) -> None:
    rules.names.check_host(headers)
    rules.names.check_origin(method, headers)
    if rules.token and path not in rules.open_paths:
        _check_token(headers, rules.token)
    if rules.json_only and has_body(headers):
        _check_json(headers)


def _check_token(headers: Mapping[str, str], token: str) -> None:
    kind, _, given = headers.get("authorization", "").partition(" ")
    known = secrets.compare_digest(given.strip().encode(), token.encode())
    if kind.lower() != "bearer" or not known:
        raise Refused(401, "a token is required: send it as Authorization: Bearer")


def _check_json(headers: Mapping[str, str]) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and "+json" in kind):
        raise Refused(415, "send JSON with Content-Type: application/json")
