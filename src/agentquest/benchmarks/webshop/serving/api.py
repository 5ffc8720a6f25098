"""The documented routes, for agents, and which client plays which session.

A client that knows nothing of sessions is answered as the original answers it; a
request that crashes the original gets an error that says what was wrong.

A client is recognised by the X-Session header, by a text it sends as `session`, by the
cookie that a reset gives it, or by its connection. A number says what is played and not
by whom, so two clients with the same number have a session each. A client that sends
only numbers, over a new connection each time, is served as long as no other plays that
number; then the two cannot be distinguished, and are asked to identify themselves. All
clients that name nothing are one client, as on the original server.

A client has one session at a time. A number plays the goal of that number, a name
keeps the goal that was drawn for it, nothing draws the next of the server's sequence.
"""

import asyncio
import secrets
from collections import defaultdict
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agentquest.benchmarks.webshop.client import SESSION_HEADER
from agentquest.benchmarks.webshop.driver import WebshopUtils
from agentquest.benchmarks.webshop.serving.requests import (
    MAX_NAME,
    SessionLimits,
    add_session,
    connection_of,
    make_app,
    read_action,
    read_json,
    read_session_name,
    run_step,
)
from agentquest.benchmarks.webshop.shop.sessions import Sessions
from agentquest.benchmarks.webshop.shop.shop import LONGEST_ACTION, Session, Shop, parse
from agentquest.http.guard import json_refusal, write_json
from agentquest.http.sessions import SessionStore, Stage
from agentquest.version import __version__

SessionName = int | str | None
Key = tuple[str, str]

COOKIE = "webshop_client"
_UNNAMED: Key = ("unnamed", "")


def api_app(shop: Shop, limits: SessionLimits) -> Starlette:
    """The server for agents, as an ASGI application."""
    api = _Api(shop, limits)
    routes = [
        Route("/", api.test, methods=["GET"]),
        Route("/reset", api.reset, methods=["POST"]),
        Route("/step", api.step, methods=["POST"]),
        Route("/healthz", api.health, methods=["GET"]),
        Route("/openapi.json", api.openapi, methods=["GET"]),
    ]
    return make_app(routes, json_refusal, lambda app: api.expire_regularly())


def _step(session: Session, action: str) -> Response:
    step = session.step(action)
    return write_json(WebshopUtils.step_answer(session, step.reward, step.done))


class _Sender:
    """What a request says about who sent it."""

    def __init__(self, request: Request) -> None:
        header = request.headers.get(SESSION_HEADER)
        self.name = read_session_name(header, f"the header {SESSION_HEADER}")
        self.cookie = request.cookies.get(COOKIE, "")
        self.connection = connection_of(request)


@dataclass
class ClientSession:
    """One client's session; `lock` keeps its steps in order."""

    key: Key
    session: Session
    name: SessionName
    connection: str
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class _Api:
    """The routes, and all clients of one server with their sessions."""

    def __init__(self, shop: Shop, limits: SessionLimits) -> None:
        self.shop = shop
        self._drawn = Sessions(shop, limits.max_sessions)  # the sequence of goals
        self._store = SessionStore[Key, ClientSession](limits.max_sessions, limits.session_ttl_s)
        # Clients that sent a number and nothing else, by the number and by their connection.
        self._by_number: dict[int, set[Key]] = defaultdict(set)
        self._by_connection: dict[str, Key] = {}

    async def test(self, request: Request) -> Response:
        return write_json({"test": "okay"})

    async def health(self, request: Request) -> Response:
        return write_json(
            {
                "data_hash": self.shop.catalogue.digest,
                "goals": len(self.shop.goals),
                "goals_kind": self.shop.goals.kind,
                "products": len(self.shop.catalogue),
                "seed": self.shop.seed,
                "sessions": len(self._store),
                "status": "ok",
                "strict": self.shop.strict,
                "tagger": self.shop.nouns.name,
            }
        )

    async def openapi(self, request: Request) -> Response:
        return write_json(openapi_document())

    async def reset(self, request: Request) -> Response:
        fields = await read_json(request, ("session",))
        name = read_session_name(fields.get("session"))
        session, cookie = await self._start(request, name)
        answer = write_json(WebshopUtils.reset_answer(session))
        if cookie is not None:
            answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict")
        return answer

    async def step(self, request: Request) -> Response:
        fields = await read_json(request, ("action", "session"))
        action = read_action(fields)
        client = self._find(request, read_session_name(fields.get("session")))
        self._refuse_crashes(action)
        async with client.lock:
            answer = await run_step(len(self.shop.catalogue), lambda: _step(client.session, action))
        # Sessions in use outlast those that were only started.
        finished = client.session.bought is not None
        self._store.mark(client.key, Stage.FINISHED if finished else Stage.IN_USE)
        return answer

    def _refuse_crashes(self, action: str) -> None:
        """The original crashes on some searches; a strict shop says so, others ignore them."""
        if not self.shop.strict:
            return
        name, argument = parse(action)
        if name == "search" and argument:
            keywords = argument.split(" ")
            if not Shop.understands(keywords):
                message = f"the special search {keywords[0]} fails in the original too"
                raise HTTPException(422, f"{message}: nothing was done")

    async def _start(self, request: Request, name: SessionName) -> tuple[Session, str | None]:
        """The client's session, (re)started at the search page; and a cookie, if it needs one."""
        sender = _Sender(request)
        key = self._key(sender, name) or self._by_connection.get(sender.connection)
        key = key or ("cookie", secrets.token_urlsafe(16))
        known = self._store.get(key)
        if known is not None and known.name == name and isinstance(name, str):
            async with known.lock:
                known.session.restart()
            return known.session, None
        client = ClientSession(key, self._session(name), name, sender.connection)
        if known is not None:
            self._forget(known)
        await self._forget_all(add_session(self._store, key, client, request))
        if key[0] != "cookie":
            return client.session, None
        if isinstance(name, int):
            self._by_number[name].add(key)
        self._set_connection(client, sender.connection)
        return client.session, key[1]

    def _find(self, request: Request, name: SessionName) -> ClientSession:
        """The session that a step is for."""
        sender = _Sender(request)
        key = self._key(sender, name) or self._find_anonymous(sender, name)
        client = None if key is None else self._store.get(key)
        if client is None:
            raise _no_session(sender, name)
        if name is not None and name not in (client.key[1], client.name):
            who = f"client {sender.name!r}" if sender.name else "this client"
            raise HTTPException(
                409,
                f"{who} plays session {client.name!r}, not {name!r};"
                " POST /reset with this session starts it",
            )
        self._set_connection(client, sender.connection)
        return client

    def _key(self, sender: _Sender, name: SessionName) -> Key | None:
        """The client that a request itself identifies; None if it does not."""
        if sender.name is not None:
            return "named", str(sender.name)
        cookie = ("cookie", sender.cookie)
        if cookie in self._store:
            return cookie
        if isinstance(name, str):
            return "named", name
        return _UNNAMED if name is None else None

    def _find_anonymous(self, sender: _Sender, name: SessionName) -> Key | None:
        """The anonymous client that plays this number: by its connection, or the only one."""
        if not isinstance(name, int):
            return None
        keys = self._by_number.get(name, set())
        here = self._by_connection.get(sender.connection)
        if here in keys:
            return here
        clients = [client for key in keys if (client := self._store.peek(key)) is not None]
        unfinished = [client for client in clients if client.session.bought is None]
        if len(unfinished) > 1:
            raise HTTPException(
                409,
                f"{len(unfinished)} clients play session {name}, and this request does not say"
                " which it is: send an X-Session header, or keep the cookie of /reset",
            )
        return next((client.key for client in unfinished or clients), None)

    def _set_connection(self, client: ClientSession, connection: str) -> None:
        """Remember over which connection an anonymous client asks now."""
        if client.key[0] == "cookie" and connection:
            if self._by_connection.get(client.connection) == client.key:
                del self._by_connection[client.connection]
            client.connection = connection
            self._by_connection[connection] = client.key

    def expire_regularly(self) -> AbstractAsyncContextManager[None]:
        """While this is open, idle sessions are dropped without a request."""
        return self._store.expire_regularly(self._forget_all)

    async def _forget_all(self, clients: Iterable[ClientSession]) -> None:
        for client in clients:
            self._forget(client)

    def _forget(self, client: ClientSession) -> None:
        if self._by_connection.get(client.connection) == client.key:
            del self._by_connection[client.connection]
        if isinstance(client.name, int):
            self._by_number[client.name].discard(client.key)

    def _session(self, name: SessionName) -> Session:
        if not isinstance(name, int):
            session = self._drawn.reset(name)
            if name is None:
                self._drawn.forget(session.id)
            return session
        count = len(self.shop.goals)  # a number is not the text of that number: no `_drawn` here
        if not 0 <= name < count:
            raise HTTPException(422, f"session {name}: goals are numbered 0 to {count - 1}")
        rng = self._drawn.rng if self.shop.strict else f"{self.shop.seed}/{name}"
        return Session(self.shop, str(name), self.shop.goals[name], rng)


def _no_session(sender: _Sender, name: SessionName) -> HTTPException:
    if sender.name is None and name is None:
        return HTTPException(409, "there is no session yet: POST /reset starts one")
    named = sender.name if sender.name is not None else name
    return HTTPException(
        404,
        f"no session {named!r}: it was never started here, was idle for too long, or"
        " the server was restarted; POST /reset with the same session starts it",
    )


Schema = dict[str, Any]

# The description of the routes (OpenAPI 3.1) is small enough to be written by hand.
_SESSION: Schema = {
    "description": "A name for this client, which keeps its goal; or the number of the goal to"
    " play, by whoever the header, the cookie of /reset or the connection says.",
    "oneOf": [
        {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
        {"type": "integer", "minimum": 0},
    ],
}
_HEADER: Schema = {
    "name": SESSION_HEADER,
    "in": "header",
    "required": False,
    "description": "Names the client, as `session` in the body does. With both, this names the"
    " client and `session` what it plays.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
}
_RESET_ANSWER: dict[str, Schema] = {
    "available_actions": {
        "type": "object",
        "required": ["clickables", "has_search_bar"],
        "properties": {
            "clickables": {"type": "array", "items": {"type": "string"}},
            "has_search_bar": {"type": "boolean"},
        },
    },
    "info": {"type": "null"},
    "obs": {"type": "string", "description": "The page as text."},
}
_STEP_ANSWER: dict[str, Schema] = _RESET_ANSWER | {
    "done": {"type": "boolean", "description": "Whether this step bought something."},
    "reward": {"type": "number", "minimum": 0, "maximum": 1},
}
_REFUSALS = {
    "400": "The body cannot be read.",
    "401": "A token is required.",
    "403": "The request comes from another web site, or uses an unknown host name.",
    "413": "The body or the action is too long.",
    "415": "The body does not say that it is JSON.",
    "422": "A field is missing, unknown or not something the shop can do.",
}
_NO_SESSION = {
    "404": "No such session: POST /reset starts it.",
    "409": "No session was started, the client plays another one, or several clients play this"
    " number and the request does not say which it is.",
}


_HEALTH_ANSWER: dict[str, Schema] = {
    **{name: {"type": "integer"} for name in ("goals", "products", "seed", "sessions")},
    **{name: {"type": "string"} for name in ("data_hash", "tagger")},
    "goals_kind": {"enum": ["synthetic", "human"]},
    "status": {"const": "ok"},
    "strict": {"type": "boolean"},
}
_ACTION: Schema = {
    "type": "string",
    "maxLength": LONGEST_ACTION,
    "description": "search[<query>] or click[<clickable>]; anything else changes nothing.",
}


def openapi_document() -> dict[str, Any]:
    """The document that `/openapi.json` serves."""
    too_many = {"503": "Too many sessions were started and not used."}
    reset = _operation("Start a problem.", _RESET_ANSWER, _REFUSALS | too_many)
    step = _operation("Carry out an action.", _STEP_ANSWER, _REFUSALS | _NO_SESSION)
    reset |= _takes({"session": _SESSION}, [])
    step |= _takes({"action": _ACTION, "session": _SESSION}, ["action"])
    health = _operation("What is served, and the number of sessions.", _HEALTH_ANSWER, {})
    test = _operation("Check that the server is up.", {"test": {"const": "okay"}}, {})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "WebShop",
            "version": __version__,
            "description": "A simulated shop for agents. Requests that name no session share one.",
        },
        "paths": {
            "/": {"get": test},
            "/reset": {"post": reset},
            "/step": {"post": step},
            "/healthz": {"get": health},
        },
        "components": {"schemas": {"Error": _object({"error": {"type": "string"}})}},
    }


def _operation(summary: str, answer: dict[str, Schema], refusals: dict[str, str]) -> dict[str, Any]:
    responses = {"200": _response("As asked.", _object(answer))}
    error = {"$ref": "#/components/schemas/Error"}
    responses |= {status: _response(text, error) for status, text in refusals.items()}
    return {"summary": summary, "responses": responses}


def _response(description: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _takes(properties: dict[str, Schema], required: list[str]) -> dict[str, Any]:
    """The part of an operation that says what may be sent."""
    schema = _object(properties) | {"required": required, "additionalProperties": False}
    content = {"application/json": {"schema": schema}}
    return {
        "parameters": [_HEADER],
        "requestBody": {"required": bool(required), "content": content},
    }


def _object(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "required": sorted(properties), "properties": properties}
