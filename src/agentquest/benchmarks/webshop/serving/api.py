"""The documented routes, for agents.

A client that knows nothing of sessions is answered as the original answers it;
what the original answers with a crash gets an error that says what was wrong.
"""

import json
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
from agentquest.benchmarks.webshop.serving.openapi import openapi_document
from agentquest.benchmarks.webshop.serving.requests import (
    Limits,
    action_in,
    address_of,
    connection_of,
    json_fields,
    session_named,
)
from agentquest.benchmarks.webshop.serving.shoppers import Client, Shoppers
from agentquest.benchmarks.webshop.serving.work import Work
from agentquest.benchmarks.webshop.shop.shop import Session, Shop, parse

COOKIE = "webshop_client"


def api_app(shop: Shop, limits: Limits | None = None) -> Starlette:
    """The server for agents, as an ASGI application."""
    routes = _Api(shop, limits or Limits())
    return Starlette(
        routes=[
            Route("/", routes.test, methods=["GET"]),
            Route("/reset", routes.reset, methods=["POST"]),
            Route("/step", routes.step, methods=["POST"]),
            Route("/healthz", routes.health, methods=["GET"]),
            Route("/openapi.json", routes.openapi, methods=["GET"]),
        ],
        exception_handlers={HTTPException: _refused},
        lifespan=routes.lifespan,
    )


def as_json(content: Any, status: int = 200) -> Response:
    """JSON as the original writes it: keys sorted, ASCII, a line end."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n"
    return Response(text.encode("ascii"), status, media_type="application/json")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = as_json({"error": error.detail}, error.status_code)
    response.headers.update(error.headers or {})
    return response


class _Api:
    def __init__(self, shop: Shop, limits: Limits) -> None:
        self.shop = shop
        self.shoppers = Shoppers(shop, limits)
        self.work = Work(len(shop.catalogue))

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        async with self.shoppers.kept.swept():
            yield
        self.work.close()

    async def test(self, request: Request) -> Response:
        return as_json({"test": "okay"})

    async def health(self, request: Request) -> Response:
        return as_json(
            {
                "data_hash": self.shop.catalogue.digest,
                "goals": len(self.shop.goals),
                "goals_kind": self.shop.goals.kind,
                "products": len(self.shop.catalogue),
                "seed": self.shop.seed,
                "sessions": len(self.shoppers),
                "status": "ok",
                "strict": self.shop.strict,
                "tagger": self.shop.nouns.name,
            }
        )

    async def openapi(self, request: Request) -> Response:
        return as_json(openapi_document())

    async def reset(self, request: Request) -> Response:
        fields = await json_fields(request, ("session",))
        wanted = session_named(fields.get("session"))
        session, cookie = await self.shoppers.start(_client(request), wanted)
        answer = as_json(WebshopUtils.reset_answer(session))
        if cookie is not None:
            answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict")
        return answer

    async def step(self, request: Request) -> Response:
        fields = await json_fields(request, ("action", "session"))
        action = action_in(fields)
        shopper = self.shoppers.find(_client(request), session_named(fields.get("session")))
        self._refuse_crashes(action)
        async with shopper.lock:
            answer = await self.work.run(lambda: _step(shopper.session, action))
        self.shoppers.stepped(shopper)
        return answer

    def _refuse_crashes(self, action: str) -> None:
        """The original crashes on some searches; a strict shop says so, others ignore them."""
        name, argument = parse(action)
        if self.shop.strict and name == "search" and argument:
            keywords = argument.split(" ")
            if not Shop.understands(keywords):
                message = f"the special search {keywords[0]} fails in the original too"
                raise HTTPException(422, f"{message}: nothing was done")


def _client(request: Request) -> Client:
    name = session_named(request.headers.get(SESSION_HEADER), f"the header {SESSION_HEADER}")
    assert not isinstance(name, int)
    return Client(name, request.cookies.get(COOKIE), address_of(request), connection_of(request))


def _step(session: Session, action: str) -> Response:
    step = session.step(action)
    return as_json(WebshopUtils.step_answer(session, step.reward, step.done))
