"""What the servers of the shop share: reading requests, refusing them, and steps in threads.

Every refusal says what was wrong. 400: unreadable; 404, 409: no such session; 413: too
long; 422: readable, but not something the shop can do. The size of a body and who may
send it have been checked before (agentquest.http.guard).
"""

import asyncio
import json
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agentquest.benchmarks.webshop.shop.sessions import check_name
from agentquest.benchmarks.webshop.shop.shop import LONGEST_ACTION
from agentquest.errors import UserError
from agentquest.http.connections import CONNECTION
from agentquest.http.guard import Refusal
from agentquest.http.sessions import SessionStore, StoreFull

MAX_NAME = 200
MAX_NUMBER = 10**15
INLINE_PRODUCTS = 20_000  # up to this many, a step costs less than handing it to a thread

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
T = TypeVar("T")


@dataclass(frozen=True)
class SessionLimits:
    """How many sessions a server keeps, and for how long when they are idle."""

    max_sessions: int
    session_ttl_s: float


async def _name_the_original(request: Request) -> Response:
    raise HTTPException(
        501,
        "This is not the original WebShop's site. Its addresses, which programs read, are served"
        " by: agentquest serve webshop --original-pages",
    )


# Where clients of the original's site look, such as ReAct's. They play any page that they get, so
# these addresses must not answer with one of ours.
ROUTES_OF_THE_ORIGINAL = [
    Route(path, _name_the_original, methods=["GET", "POST"])
    for path in ("/fixed_{goal}", "/abc", "/search_results/{rest:path}", "/item_page/{rest:path}",
                 "/item_sub_page/{rest:path}", "/done/{rest:path}")
]  # fmt: skip


def make_app(
    routes: Sequence[Route],
    refusal: Refusal,
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]],
) -> Starlette:
    """An application whose refusals are written by `refusal`."""

    async def explain(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        response = refusal(error.status_code, error.detail)
        response.headers.update(error.headers or {})
        return response

    return Starlette(routes=routes, exception_handlers={HTTPException: explain}, lifespan=lifespan)


async def read_json(request: Request, known: tuple[str, ...]) -> dict[str, Any]:
    """The JSON object that was sent; an empty body is an empty object."""
    body = await request.body()
    if not body.strip():
        return {}
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        deep = isinstance(error, RecursionError)
        reason = "nested too deeply" if deep else str(error)[:200]
        raise HTTPException(400, f"the body is not JSON: {reason}") from error
    if not isinstance(fields, dict):
        raise HTTPException(400, f"the body must be a JSON object, not {_kind(fields)}")
    for name in fields:
        if name not in known:
            route = request.url.path
            takes = ", ".join(known)
            raise HTTPException(422, f"unknown field {name[:MAX_NAME]!r}; {route} takes: {takes}")
    return fields


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form that was sent."""
    body = await request.body()
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=20,
            errors="strict",
        )
    except ValueError as error:
        raise HTTPException(400, "the form cannot be read") from error
    return dict(pairs)


def read_session_name(value: object, where: str = "session") -> int | str | None:
    """The name of a session: a text, the number of a goal, or nothing."""
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) > MAX_NUMBER:
            raise HTTPException(422, f"{where} is too large a number")
        return value
    if not isinstance(value, str):
        raise HTTPException(422, f"{where} must be a text or a whole number, not {_kind(value)}")
    if not 0 < len(value) <= MAX_NAME:
        raise HTTPException(422, f"{where} must have 1 to {MAX_NAME} characters")
    try:
        check_name(value)
    except UserError as error:
        raise HTTPException(400, str(error)) from error
    return value


def read_action(fields: dict[str, Any]) -> str:
    """The action of a request; raises HTTPException if it is missing, no text or too long."""
    if "action" not in fields:
        raise HTTPException(422, 'action is missing: send {"action": "search[...]"}')
    action = fields["action"]
    if not isinstance(action, str):
        raise HTTPException(422, f"action must be a text, not {_kind(action)}")
    if len(action) > LONGEST_ACTION:
        raise HTTPException(413, f"action is longer than {LONGEST_ACTION} characters")
    return action


def connection_of(request: Request) -> str:
    """The connection that a request came over; empty where the server does not say."""
    return str(request.scope.get("state", {}).get(CONNECTION, ""))


def add_session(store: SessionStore[K, V], key: K, value: V, request: Request) -> list[V]:
    """Store a session for who asks; returns those dropped for it."""
    client = request.scope["client"]
    try:
        return store.add(key, value, client[0] if client else "", connection_of(request))
    except StoreFull as error:
        text = f"{error}; try again in a few minutes"
        raise HTTPException(503, text, {"Retry-After": "60"}) from error


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    if value is None:
        return "null"
    return names.get(type(value), "a number")


async def run_step(products: int, step: Callable[[], T]) -> T:
    """What a step in a shop returns: run here if it has few products, else in a thread."""
    return step() if products <= INLINE_PRODUCTS else await asyncio.to_thread(step)
