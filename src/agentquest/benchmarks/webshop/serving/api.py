"""The documented routes, for agents.

A client that knows nothing of sessions is answered as the original answers it; a
request that crashes the original gets an error that says what was wrong.
"""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agentquest.benchmarks.webshop.client import SESSION_HEADER
from agentquest.benchmarks.webshop.driver import WebshopUtils
from agentquest.benchmarks.webshop.serving.clients import COOKIE, Clients
from agentquest.benchmarks.webshop.serving.requests import (
    MAX_NAME,
    ROUTES_OF_THE_ORIGINAL,
    SessionLimits,
    make_app,
    read_action,
    read_json,
    read_session_name,
    run_step,
)
from agentquest.benchmarks.webshop.shop.shop import LONGEST_ACTION, Shop, ShoppingSession, parse
from agentquest.http.access import Access
from agentquest.http.guard import Names, Rules, guard_app, json_refusal, write_json
from agentquest.http.serving import Served
from agentquest.http.sockets import Socket
from agentquest.version import __version__


def for_agents(shop: Shop, limits: SessionLimits, access: Access, sock: Socket) -> Served:
    """The server for agents; the token is asked of all but `/` and `/healthz`."""
    api = _Api(shop, limits)
    routes = [
        Route("/", api.test, methods=["GET"]),
        Route("/reset", api.reset, methods=["POST"]),
        Route("/step", api.step, methods=["POST"]),
        Route("/healthz", api.health, methods=["GET"]),
        Route("/openapi.json", api.openapi, methods=["GET"]),
        *ROUTES_OF_THE_ORIGINAL,
    ]
    app = make_app(routes, json_refusal, lambda app: api.clients.expire_regularly())
    rules = Rules(
        Names(access.host, access.names),
        json_only=True,
        token=access.token,
        open_paths=("/", "/healthz"),
    )
    return Served(guard_app(app, rules), sock)


class _Api:
    def __init__(self, shop: Shop, limits: SessionLimits) -> None:
        self.shop = shop
        self.clients = Clients(shop, limits)

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
        session, cookie = await self.clients.start(request, name)
        answer = write_json(WebshopUtils.reset_answer(session))
        if cookie is not None:
            answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict")
        return answer

    async def step(self, request: Request) -> Response:
        fields = await read_json(request, ("action", "session"))
        action = read_action(fields)
        client = self.clients.find(request, read_session_name(fields.get("session")))
        self._refuse_crashes(action)
        async with client.lock:
            answer = await run_step(len(self.shop.catalogue), lambda: _step(client.session, action))
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


def _step(session: ShoppingSession, action: str) -> Response:
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
