"""Reading the JSON bodies of requests, and refusing what is wrong with them, field by field."""

import json
from collections.abc import Awaitable, Callable, Mapping
from math import isfinite
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agentquest.errors import UserError
from agentquest.http.guard import Refused
from agentquest.words import parse_whole_number

T = TypeVar("T")
_LONGEST_NUMBER = 40  # digits; longer ones are no seed, and no float holds them

Handler = Callable[[Request], Awaitable[Any]]


class AsciiJson(JSONResponse):
    """JSON in ASCII, so that whatever text a client sent can be sent back to it."""

    def render(self, content: Any) -> bytes:
        """The content as bytes; characters beyond ASCII are escaped."""
        return json.dumps(content).encode("ascii")


class Body:
    """The fields of a JSON object; what is wrong with them is refused with `status`."""

    def __init__(self, content: Any, status: int = 422) -> None:
        if not isinstance(content, dict):
            raise Refused(status, "send a JSON object")
        self._content = content
        self._status = status

    @classmethod
    async def of(cls, request: Request, status: int = 422) -> "Body":
        """The body of a request; an empty one has no fields."""
        return cls(await read_json(request, status), status)

    def number(self, name: str) -> int:
        """A field that must be a whole number; true and false are none."""
        return self._get(name, int, "a whole number")

    def number_or_none(self, name: str) -> int | None:
        """A whole number, or None where the field is absent or null."""
        return None if self._content.get(name) is None else self.number(name)

    def text(self, name: str) -> str:
        """A field that must be text."""
        return self._get(name, str, "text")

    def items(self, name: str) -> list[Any]:
        """A field that must be a list; what is in it is not checked."""
        return self._get(name, list, "a list")

    def _get(self, name: str, kind: type[T], noun: str) -> T:
        value = self._content.get(name)
        if isinstance(value, bool) or not isinstance(value, kind):
            raise Refused(self._status, f"{name} must be {noun}")
        return value


async def read_json(request: Request, status: int = 422) -> Any:
    """What the body of a request says; an empty one is an empty object."""
    try:
        return parse_json(await request.body() or b"{}")
    except ValueError as error:
        raise Refused(status, f"the body is not JSON: {error}") from None


def parse_json(text: str | bytes) -> Any:
    """What a client sent. ValueError for anything that is not JSON, nested too deeply to be read
    or has numbers that cannot be sent back: NaN, infinity, hundreds of digits."""
    try:
        return json.loads(
            text, parse_int=_parse_int, parse_float=_parse_float, parse_constant=_parse_float
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _parse_int(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError(f"a number has more than {_LONGEST_NUMBER} digits")
    return int(digits)


def _parse_float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:_LONGEST_NUMBER]} is no finite number")
    return number


def query_number(request: Request, name: str) -> int:
    """A whole number from the address's query, not negative; refuses anything else."""
    number = parse_whole_number(request.query_params.get(name, ""), digits=15)
    if number is None:
        raise Refused(422, f"{name} must be a whole number")
    return number


def always(content: Any) -> Handler:
    """A handler that answers every request with the same content."""

    async def answer(request: Request) -> Any:
        return content

    return answer


def make_routes(gets: Mapping[str, Handler], posts: Mapping[str, Handler]) -> list[Route]:
    """The routes for paths and their handlers."""
    return [
        *(Route(path, answer_with(run)) for path, run in gets.items()),
        *(Route(path, answer_with(run), methods=["POST"]) for path, run in posts.items()),
    ]


def answer_with(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """A route that answers with the handler's result as JSON, or with its reason to refuse."""

    async def route(request: Request) -> Response:
        try:
            answer = await handler(request)
        except Refused as refused:
            return AsciiJson({"detail": str(refused)}, refused.status)
        except UserError as error:
            return AsciiJson({"detail": str(error)}, 400)
        return answer if isinstance(answer, Response) else AsciiJson(answer)

    return route
