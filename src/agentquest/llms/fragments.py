"""Messages as JSON, each written once: a conversation repeats all that was said before."""

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from agentquest.records.messages import Message

_MOST_CHARACTERS = 32_000_000

# What a message is on the wire, none, one or several things; and the conversation it stands in.
Write = Callable[[Message, Sequence[Message]], list[Any]]


@lru_cache(maxsize=256)
def text_json(text: str) -> str:
    """A text as JSON, for those that come again and again, such as a system message."""
    return json.dumps(text)


class Fragments:
    """Keeps what was written for as long as the message may be asked for again."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._known: dict[int, tuple[Message, str]] = {}
        self._size = 0

    def of(self, messages: Sequence[Message]) -> list[str]:
        """For each message the JSON of what it is, separated by commas; empty for nothing.

        The last one is not kept: where every request is a prompt of its own, it never comes
        again, and otherwise it is not the last the next time.
        """
        if not messages:
            return []
        found, known = [], self._known
        for message in messages[:-1]:
            entry = known.get(id(message))
            if entry is not None and entry[0] is message:
                found.append(entry[1])
            else:
                found.append(self._keep(message, messages))
        found.append(self._written(messages[-1], messages))
        return found

    def _keep(self, message: Message, messages: Sequence[Message]) -> str:
        text = self._written(message, messages)
        self._size += len(text)
        if self._size > _MOST_CHARACTERS:
            self._known.clear()
            self._size = len(text)
        self._known[id(message)] = (message, text)
        return text

    def _written(self, message: Message, messages: Sequence[Message]) -> str:
        return _json(self._write(message, messages))[1:-1]


def _json(value: Any) -> str:
    """In a quarter of the time that `json` takes: prompts are long."""
    try:
        return to_json(value).decode()
    except (PydanticSerializationError, UnicodeEncodeError):
        # Half a surrogate pair, in what a provider wants back unread: JSON can escape it.
        return json.dumps(value)


def in_turns(roles: Sequence[str], fragments: Sequence[str]) -> list[tuple[str, str]]:
    """What follows on one another by the same side as one turn; nothing is left out."""
    turns: list[tuple[str, str]] = []
    last = None
    for role, fragment in zip(roles, fragments, strict=True):
        if not fragment:
            continue
        if role == last:
            turns[-1] = (role, f"{turns[-1][1]}, {fragment}")
        else:
            turns.append((role, fragment))
            last = role
    return turns
