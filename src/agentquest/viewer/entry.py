"""How a browser shows a token: typed in once, then kept in a cookie that no script can read.

The guard asks for `Authorization: Bearer`, which no browser sends by itself. The
cookie is `SameSite=Strict`, so that no other site's page can use it.
"""

from urllib.parse import parse_qs

import htpy as h
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from agentquest.viewer.addresses import SITE
from agentquest.viewer.pages import page

ENTER = "/enter"
OPEN_PATHS = (ENTER, "/static/viewer.css", "/static/viewer.js", "/static/icon.svg")
_COOKIE = "agentquest_token"
_FORM = h.fragment[
    h.h1["This viewer needs a token"],
    h.form(".filters", method="post")[
        h.label[
            "Token",
            h.input(name="token", type="password", autocomplete="current-password", required=True),
        ],
        h.button(".primary")["Enter"],
    ],
]


def with_cookie(app: ASGIApp) -> ASGIApp:
    """`app`, called as if the request had sent the cookie's token in its header."""

    async def with_header(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            token = request.cookies.get(_COOKIE)
            if token and "authorization" not in request.headers:
                header = (b"authorization", b"Bearer " + token.encode("latin-1", "replace"))
                scope = {**scope, "headers": [*scope["headers"], header]}
        await app(scope, receive, send)

    return with_header


async def enter(request: Request) -> HTMLResponse | RedirectResponse:
    """The page that asks for the token, and the answer to it; a wrong one leads back here."""
    if request.method == "POST":
        given = parse_qs((await request.body()).decode("utf-8", "replace")).get("token", [""])[-1]
        if given.isascii() and given.isprintable():
            answer = RedirectResponse("/", status_code=303)
            answer.set_cookie(_COOKIE, given, httponly=True, samesite="strict")
            return answer
    return HTMLResponse(page(SITE, "Token", _FORM))
