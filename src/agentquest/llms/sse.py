"""Replies that come in pieces: server-sent events, each with a JSON object."""

import json
from typing import Any

_DONE = b"[DONE]"


def events(body: bytes) -> list[dict[str, Any]]:
    """The objects of a stream, in order; a `ValueError` where one is not an object."""
    found = []
    for block in body.replace(b"\r\n", b"\n").split(b"\n\n"):
        lines = [line[5:].lstrip(b" ") for line in block.split(b"\n") if line.startswith(b"data:")]
        data = b"\n".join(lines)
        if not data or data == _DONE:
            continue
        event = json.loads(data)
        if not isinstance(event, dict):
            raise ValueError("an event of the stream is not an object")
        found.append(event)
    return found


def is_stream(body: bytes) -> bool:
    """Whether a response came in pieces; not all that is asked to does."""
    start = body[:64].lstrip()
    return start.startswith((b"data:", b"event:", b":", b"id:", b"retry:"))
