"""How a request that is refused is answered."""

import json
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

Refusal = Callable[[int, str], Response]
"""Writes a refusal: its status and what is to be said."""


def json_refusal(status: int, text: str) -> Response:
    """The reason as `{"error": …}`, for programs."""
    content = json.dumps({"error": text}, sort_keys=True, separators=(",", ":")) + "\n"
    return Response(content.encode("ascii"), status, media_type="application/json")


class Refused(Exception):
    """A request that no application gets to see."""

    def __init__(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = headers or {}

    async def answer(self, how: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the refusal instead of the application's answer; `how` decides its looks."""
        response = how(self.status, self.text)
        response.headers.update(self.headers)
        await response(scope, receive, send)
