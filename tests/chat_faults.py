"""What the chat server can be told to do wrong, and which of it passes."""

import random
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from aiohttp import web


class Fault(str, Enum):
    """What can go wrong; the value is its name on the command line."""

    RATE_LIMIT = "429"
    RATE_LIMIT_SECONDS = "429-seconds"
    RATE_LIMIT_DATE = "429-date"
    RATE_LIMIT_MS = "429-ms"
    NO_CREDIT = "429-quota"
    SERVER_ERROR = "500"
    OVERLOADED = "503"
    HANG = "hang"
    RESET = "reset"
    CUT_BODY = "cut-body"
    CUT_JSON = "cut-json"
    GARBAGE = "garbage"
    EMPTY = "empty"
    HUGE = "huge"
    ERROR_IN_200 = "error-in-200"
    UNAUTHORIZED = "401"
    ECHO_KEY = "echo-key"
    ECHO_KEY_500 = "echo-key-500"
    ECHO_KEY_IN_REPLY = "echo-key-in-reply"
    BAD_REQUEST = "400"
    NOT_FOUND = "404"
    CONTEXT = "context"
    REDIRECT = "redirect"
    WRONG_TYPE = "wrong-type"
    LENGTH = "length"
    REASONING = "reasoning"
    THINK_TAGS = "think-tags"
    THINK_CUT = "think-cut"
    NO_USAGE = "no-usage"
    REFUSED = "refused"
    COST = "cost"
    ABSURD_COST = "absurd-cost"
    ABSURD_COUNT = "absurd-count"
    ABSURD_WAIT = "absurd-wait"
    NO_CONTENT = "204"
    ERROR_FINISH = "error-finish"
    NO_TOOLS = "no-tools"


# Faults after which the same request, sent again, is answered properly.
PASSING = (
    Fault.RATE_LIMIT,
    Fault.RATE_LIMIT_SECONDS,
    Fault.RATE_LIMIT_MS,
    Fault.SERVER_ERROR,
    Fault.OVERLOADED,
    Fault.HANG,
    Fault.RESET,
    Fault.CUT_BODY,
    Fault.CUT_JSON,
    Fault.GARBAGE,
    Fault.EMPTY,
    Fault.HUGE,
    Fault.ERROR_IN_200,
    Fault.ABSURD_WAIT,
    Fault.NO_CONTENT,
    Fault.ERROR_FINISH,
)

ERRORS: dict[Fault, tuple[int, str, str | None, str]] = {
    Fault.RATE_LIMIT: (429, "rate_limit_error", "rate_limit_exceeded", "Too many requests."),
    Fault.NO_CREDIT: (429, "insufficient_quota", "insufficient_quota", "No credit left."),
    Fault.SERVER_ERROR: (500, "server_error", None, "Something broke."),
    Fault.OVERLOADED: (503, "server_error", None, "Overloaded."),
    Fault.UNAUTHORIZED: (401, "invalid_request_error", "invalid_api_key", "Wrong key."),
    Fault.BAD_REQUEST: (400, "invalid_request_error", None, "Bad value for temperature."),
    Fault.NOT_FOUND: (404, "invalid_request_error", "model_not_found", "No such model."),
    Fault.CONTEXT: (
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "This model's maximum context length is 100 tokens.",
    ),
    Fault.NO_TOOLS: (
        400,
        "BadRequestError",
        None,
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    ),
}


def error(
    fault: Fault, headers: Mapping[str, str] | None = None, message: str = ""
) -> web.Response:
    """An error in the shape that OpenAI gives it."""
    status, kind, code, text = ERRORS[fault]
    details = {"message": message or text, "type": kind, "param": None, "code": code}
    return web.json_response({"error": details}, status=status, headers=headers)


def choices(
    script: Sequence[Fault | None], rates: Mapping[Fault, float], seed: int
) -> Iterator[Fault | None]:
    """The fault of each request in turn: first the script, then by chance."""
    yield from script
    rng = random.Random(seed)
    names = [*rates, None]
    weights = [*rates.values(), max(0.0, 1.0 - sum(rates.values()))]
    while True:
        yield rng.choices(names, weights)[0] if rates else None


def reset(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Break the connection the hard way: with linger 0 the kernel sends a reset."""
    transport = request.transport
    if transport is not None:
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
    return response or web.Response()
