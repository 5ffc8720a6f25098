"""What all wire formats share: fields, turns and streams."""

import itertools
import json
import operator
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from agentquest.records.messages import ToolSpec
from agentquest.records.usage import read_json


def drop_unset(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that have a value; unset ones are not sent."""
    return {name: value for name, value in fields.items() if value is not None}


def declare_tool(tool: ToolSpec, schema: str = "parameters") -> dict[str, Any]:
    """A tool as models see it; `schema` is what the API calls the JSON schema of its parameters."""
    parameters = tool.parameters or {"type": "object", "properties": {}}
    return {"name": tool.name, "description": tool.description, schema: parameters}


def arguments_object(written: str) -> dict[str, Any]:
    """Arguments for an API that wants an object; invalid ones are passed on as text."""
    try:
        read = json.loads(written)
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, dict) else {"arguments": written}


# The fields of a response. One of another type is a fault of the server, a `ValueError`: if it
# were left out, the model would seem to have said less than it did.


def text_of(part: dict[str, Any], name: str) -> str:
    """A text that must be there."""
    value = part.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is not text")
    return value


def optional_text(part: dict[str, Any], name: str) -> str:
    """A text; empty if there is none."""
    return "" if part.get(name) is None else text_of(part, name)


# The pieces of texts that a stream sends, by name. Joined once, a reply costs what its length does.
Pieces = defaultdict[str, list[str]]


def join_pieces(pieces: Pieces) -> dict[str, Any]:
    """The whole texts."""
    return {name: "".join(texts) for name, texts in pieces.items()}


def place_of(part: dict[str, Any], name: str) -> int | None:
    """A place in a list, from 0; None if there is none."""
    value = part.get(name)
    if value is not None and (type(value) is not int or value < 0):
        raise ValueError(f"{name} is not a place in a list")
    return value


def object_of(part: dict[str, Any], name: str) -> dict[str, Any]:
    """An object; empty if there is none."""
    value = part.get(name)
    if not isinstance(value, dict | None):
        raise ValueError(f"{name} is not an object")
    return value or {}


def objects_of(part: dict[str, Any], name: str, *, required: bool = False) -> list[dict[str, Any]]:
    """A list of objects; empty if there is none, where that is possible."""
    value = part.get(name)
    if value is None and not required:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError(f"{name} is not a list of objects")
    return value


_DONE = b"[DONE]"


def events(body: bytes) -> list[dict[str, Any]]:
    """The objects of server-sent events, in order; a `ValueError` for anything else."""
    found = []
    # Lines may end in any of three ways; JSON has none of them inside a text.
    for block in body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n\n"):
        lines = [line[5:].lstrip(b" ") for line in block.split(b"\n") if line.startswith(b"data:")]
        data = b"\n".join(lines)
        if not data or data == _DONE:
            continue
        event = read_json(data)
        if not isinstance(event, dict):
            raise ValueError("an event of the stream is not an object")
        found.append(event)
    return found


def is_stream(body: bytes) -> bool:
    """Whether a response is a stream; not every server streams when asked to."""
    start = body[:64].lstrip()
    return start.startswith((b"data:", b"event:", b":", b"id:", b"retry:"))


def in_turns(said: Iterable[tuple[str, list[Any]]]) -> list[tuple[str, list[Any]]]:
    """Roles and what they say, with consecutive ones of a role as one turn and no empty ones."""
    turns = itertools.groupby((one for one in said if one[1]), operator.itemgetter(0))
    return [(role, [item for _, items in turn for item in items]) for role, turn in turns]
