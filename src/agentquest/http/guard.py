"""What a request must be before an application sees it.

`guarded` puts it around any ASGI application. What is refused is answered with
the reason, in the application's own form, and with the same security headers.
"""

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentquest.errors import ConfigError
from agentquest.http.answers import Refusal, Refused, json_refusal
from agentquest.http.bodies import MAX_BODY, Disconnected, has_body, read_body, with_body
from agentquest.http.names import Names
from agentquest.http.sockets import is_loopback

_NO_SNIFFING = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
API_HEADERS: Mapping[str, str] = _NO_SNIFFING | {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"
}
"""For answers that are no pages."""


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
    """What is asked of requests to one application.

    `json_only`: a body must say that it is JSON. `token`: what `Authorization: Bearer` must
    hold, except on `open_paths`. `headers` go out with every answer that has not its own.
    """

    names: Names
    max_body: int = MAX_BODY
    json_only: bool = False
    token: str | None = field(default=None, repr=False)
    open_paths: Collection[str] = ()
    headers: Mapping[str, str] = field(default_factory=lambda: API_HEADERS)
    refusal: Refusal = json_refusal


def require_token(host: str, token: str | None, how: str) -> None:
    """Refuse to serve other machines without a token; `how` says how to give one."""
    if not token and not is_loopback(host):
        raise ConfigError(f"{host} can be reached from other machines: {how}")


def guarded(app: ASGIApp, rules: Rules) -> ASGIApp:
    """`app`, reached only by requests that follow the rules."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await _guard_websocket(app, rules, scope, receive, send)
            return
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        send = _with_headers(send, rules.headers)
        headers = Headers(scope=scope)
        try:
            _check_head(scope, headers, rules)
            body = await read_body(headers, receive, rules.max_body)
        except Refused as refused:
            await refused.answer(rules.refusal, scope, receive, send)
            return
        except Disconnected:
            return
        await app(*with_body(scope, receive, body), send)

    return guard


async def _guard_websocket(
    app: ASGIApp, rules: Rules, scope: Scope, receive: Receive, send: Send
) -> None:
    """Browsers let any page open a WebSocket anywhere: it is checked like a request that writes."""
    try:
        _check_head({**scope, "method": "POST"}, Headers(scope=scope), rules)
    except Refused:
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    await app(scope, receive, send)


def _check_head(scope: Scope, headers: Headers, rules: Rules) -> None:
    rules.names.check_host(headers)
    rules.names.check_origin(scope["method"], headers)
    if rules.token and scope["path"] not in rules.open_paths:
        _check_token(headers, rules.token)
    if rules.json_only and has_body(headers):
        _check_json(headers)


def _check_token(headers: Headers, token: str) -> None:
    kind, _, given = headers.get("authorization", "").partition(" ")
    known = secrets.compare_digest(given.strip().encode(), token.encode())
    if kind.lower() != "bearer" or not known:
        text = "a token is required: send it as Authorization: Bearer"
        raise Refused(401, text, headers={"WWW-Authenticate": "Bearer"})


def _check_json(headers: Headers) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and "+json" in kind):
        raise Refused(415, "send JSON with Content-Type: application/json")


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            told = MutableHeaders(scope=message)
            for name, value in headers.items():
                told.setdefault(name, value)
        await send(message)

    return sending
