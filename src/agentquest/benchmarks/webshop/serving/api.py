"""The documented routes, for agents.

A client that knows nothing of sessions is answered as the original answers it; a
request that crashes the original gets an error that says what was wrong.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agentquest.benchmarks.webshop.client import SESSION_HEADER
from agentquest.benchmarks.webshop.driver import WebshopUtils
from agentquest.benchmarks.webshop.serving.clients import Clients, Sender
from agentquest.benchmarks.webshop.serving.requests import (
    MAX_ACTION,
    MAX_NAME,
    SessionLimits,
    Work,
    address_of,
    connection_of,
    read_action,
    read_json,
    read_session_name,
)
from agentquest.benchmarks.webshop.shop.shop import Session, Shop, parse
from agentquest.http.guard import write_json
from agentquest.version import __version__

COOKIE = "webshop_client"


def api_app(shop: Shop, limits: SessionLimits | None = None) -> Starlette:
    """The server for agents, as an ASGI application."""
    routes = _Api(shop, limits or SessionLimits())
    return Starlette(
        routes=[
            Route("/", routes.test, methods=["GET"]),
            Route("/reset", routes.reset, methods=["POST"]),
            Route("/step", routes.step, methods=["POST"]),
            Route("/healthz", routes.health, methods=["GET"]),
            Route("/openapi.json", routes.openapi, methods=["GET"]),
        ],
        exception_handlers={HTTPException: _explain_refusal},
        lifespan=routes.lifespan,
    )


async def _explain_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = write_json({"error": error.detail}, error.status_code)
    response.headers.update(error.headers or {})
    return response


class _Api:
    def __init__(self, shop: Shop, limits: SessionLimits) -> None:
        self.shop = shop
        self.clients = Clients(shop, limits)
        self.work = Work(len(shop.catalogue))

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        async with self.clients.expire_regularly():
            yield
        self.work.close()

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
                "sessions": len(self.clients),
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
        session, cookie = await self.clients.start(_sender(request), name)
        answer = write_json(WebshopUtils.reset_answer(session))
        if cookie is not None:
            answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict")
        return answer

    async def step(self, request: Request) -> Response:
        fields = await read_json(request, ("action", "session"))
        action = read_action(fields)
        client = self.clients.find(_sender(request), read_session_name(fields.get("session")))
        self._refuse_crashes(action)
        async with client.lock:
            answer = await self.work.run(lambda: _step(client.session, action))
        self.clients.mark_used(client)
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


def _sender(request: Request) -> Sender:
    name = read_session_name(request.headers.get(SESSION_HEADER), f"the header {SESSION_HEADER}")
    assert not isinstance(name, int)
    return Sender(name, request.cookies.get(COOKIE), address_of(request), connection_of(request))


def _step(session: Session, action: str) -> Response:
    step = session.step(action)
    return write_json(WebshopUtils.step_answer(session, step.reward, step.done))


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


def openapi_document() -> dict[str, Any]:
    """The document that `/openapi.json` serves."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "WebShop",
            "version": __version__,
            "description": "A simulated shop for agents. Requests that name no session share one.",
        },
        "paths": {
            "/": {"get": _operation("Check that the server is up.", {"test": {"const": "okay"}})},
            "/reset": {"post": _reset_operation()},
            "/step": {"post": _step_operation()},
            "/healthz": {
                "get": _operation("What is served, and the number of sessions.", _health_schema())
            },
        },
        "components": {
            "schemas": {
                "Error": _object({"error": {"type": "string"}}),
            }
        },
    }


def _reset_operation() -> dict[str, Any]:
    refusals = _REFUSALS | {"503": "Too many sessions were started and not used."}
    operation = _operation("Start a problem.", _RESET_ANSWER, refusals)
    return operation | {"parameters": [_HEADER], "requestBody": _body({"session": _SESSION}, [])}


def _step_operation() -> dict[str, Any]:
    action = {
        "type": "string",
        "maxLength": MAX_ACTION,
        "description": "search[<query>] or click[<clickable>]; anything else changes nothing.",
    }
    operation = _operation("Carry out an action.", _STEP_ANSWER, _REFUSALS | _NO_SESSION)
    body = _body({"action": action, "session": _SESSION}, ["action"])
    return operation | {"parameters": [_HEADER], "requestBody": body}


def _health_schema() -> dict[str, Schema]:
    return {
        "data_hash": {"type": "string"},
        "goals": {"type": "integer"},
        "goals_kind": {"enum": ["synthetic", "human"]},
        "products": {"type": "integer"},
        "seed": {"type": "integer"},
        "sessions": {"type": "integer"},
        "status": {"const": "ok"},
        "strict": {"type": "boolean"},
        "tagger": {"type": "string"},
    }


def _operation(
    summary: str, answer: dict[str, Schema], refusals: dict[str, str] | None = None
) -> dict[str, Any]:
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    responses: dict[str, Any] = {
        "200": {
            "description": "As asked.",
            "content": {"application/json": {"schema": _object(answer)}},
        }
    }
    for status, description in (refusals or {}).items():
        responses[status] = {"description": description, "content": error}
    return {"summary": summary, "responses": responses}


def _body(properties: dict[str, Schema], required: list[str]) -> dict[str, Any]:
    schema = _object(properties) | {"required": required, "additionalProperties": False}
    return {"required": bool(required), "content": {"application/json": {"schema": schema}}}


def _object(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "required": sorted(properties), "properties": properties}
