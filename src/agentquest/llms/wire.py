"""What all wire formats share: fields, streams, and messages written as JSON once."""

import itertools
import json
import operator
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentquest.records.messages import Message, ToolSpec
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


_MOST_CHARACTERS = 32_000_000

# A message and its conversation, as the API's objects for that message.
Write = Callable[[Message, Sequence[Message]], list[Any]]


class Fragments:
    """Caches messages as JSON, because every request repeats the conversation so far."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._known: dict[int, tuple[Message, str]] = {}
        self._size = 0

    def of(self, messages: Sequence[Message]) -> list[str]:
        """For each message the JSON of its objects, separated by commas; empty for none.

        The last one is not cached: if every request has its own prompt, it never comes again,
        and otherwise it will not be the last next time.
        """
        earlier = [self._keep(message, messages) for message in messages[:-1]]
        return earlier + [self._serialize(message, messages) for message in messages[-1:]]

    def _keep(self, message: Message, messages: Sequence[Message]) -> str:
        known = self._known.get(id(message))  # held with its text, so that the id stays its own
        if known is not None:
            return known[1]
        text = self._serialize(message, messages)
        self._size += len(text)
        if self._size > _MOST_CHARACTERS:
            self._known.clear()
            self._size = len(text)
        self._known[id(message)] = (message, text)
        return text

    def _serialize(self, message: Message, messages: Sequence[Message]) -> str:
        return json.dumps(self._write(message, messages))[1:-1]


def in_turns(roles: Sequence[str], fragments: Sequence[str]) -> list[tuple[str, str]]:
    """Join consecutive messages of the same role into one turn, without empty ones."""
    said = [turn for turn in zip(roles, fragments, strict=True) if turn[1]]
    turns = itertools.groupby(said, operator.itemgetter(0))
    return [(role, ", ".join(fragment for _, fragment in turn)) for role, turn in turns]
