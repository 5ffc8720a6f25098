"""What the servers of the shop share: reading requests, limits, and steps in threads.

Every refusal says what was wrong. 400: unreadable; 404, 409: no such session; 413: too
long; 422: readable, but not something the shop can do. The size of a body and who may
send it have been checked before (agentquest.http.guard).
"""

import asyncio
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from agentquest.benchmarks.webshop.shop.sessions import check_name
from agentquest.benchmarks.webshop.shop.shop import LONGEST_ACTION
from agentquest.errors import UserError
from agentquest.http.connections import CONNECTION

MAX_ACTION = LONGEST_ACTION
MAX_NAME = 200
MAX_NUMBER = 10**15
_MAX_FIELDS = 20


@dataclass(frozen=True)
class SessionLimits:
    """How many sessions a server keeps, and for how long when they are idle."""

    max_sessions: int = 10_000
    session_ttl_s: float = 6 * 3600.0


async def read_json(request: Request, known: tuple[str, ...]) -> dict[str, Any]:
    """The JSON object that was sent; an empty body is an empty object."""
    body = await request.body()
    if not body.strip():
        return {}
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the body is not JSON: {_reason(error)}") from error
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
            max_num_fields=_MAX_FIELDS,
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
    if len(action) > MAX_ACTION:
        raise HTTPException(413, f"action is longer than {MAX_ACTION} characters")
    return action


def address_of(request: Request) -> str:
    """The machine that asks."""
    client = request.scope["client"]
    return client[0] if client else ""


def connection_of(request: Request) -> str:
    """The connection that a request came over; empty where the server does not say."""
    return str(request.scope.get("state", {}).get(CONNECTION, ""))


def _reason(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    if value is None:
        return "null"
    return names.get(type(value), "a number")


T = TypeVar("T")

INLINE_PRODUCTS = 20_000  # up to this many, a step costs less than handing it to a thread


class Work:
    """Runs the shop's steps: at once on a small catalogue, in a few threads on a large one."""

    def __init__(self, products: int) -> None:
        self._pool: ThreadPoolExecutor | None = None
        if products > INLINE_PRODUCTS:
            self._pool = ThreadPoolExecutor(os.cpu_count() or 1, "webshop")

    async def run(self, task: Callable[[], T]) -> T:
        """What `task` returns, computed here or in a thread."""
        if self._pool is None:
            return task()
        return await asyncio.get_running_loop().run_in_executor(self._pool, task)

    def close(self) -> None:
        """Wait for what is being computed, and drop what has not begun."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
