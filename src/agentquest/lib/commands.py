"""Commands with blanks: how to fill them, and tool calls as commands (see also matching).

An environment with more commands than can be listed offers them with blanks,
and a blank says what belongs into it, to people, models and programs alike:

    <4 digits>   exactly so many digits
    <0-8>        a whole number, both ends included
    <query>      any other name: free text
"""

import json
import random
import re
from collections.abc import Iterable
from typing import Any

from agentquest.errors import ParseError
from agentquest.records.messages import ToolCall, ToolSpec

BLANK = re.compile(r"<([0-9]{1,3} digits|[0-9]{1,9}-[0-9]{1,9}|[a-z]+(?:_[a-z]+)*)>")
_DIGITS = re.compile(r"([0-9]+) digits")
_RANGE = re.compile(r"([0-9]+)-([0-9]+)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_MOST_WORDS = 4


def has_blank(command: str) -> bool:
    """Whether something must be filled in before the command can be given."""
    return BLANK.search(command) is not None


def fill_at_random(command: str, rng: random.Random, text: str = "") -> str:
    """The command with something random in its blanks; free text takes a few words of `text`."""
    return BLANK.sub(lambda blank: _something(blank.group(1), rng, text), command)


def fill_blanks(command: str, text: str) -> str:
    """The command with a person's words in its blanks."""
    return BLANK.sub(lambda _: text, command)


def make_tool(
    name: str, description: str, command: str, /, **arguments: str | dict[str, Any]
) -> ToolSpec:
    """A tool that takes the blanks of its command.

    `arguments` has a JSON schema for each of them, or what it means if it is any text.
    """
    schemas = {
        blank: {"type": "string", "description": about} if isinstance(about, str) else about
        for blank, about in arguments.items()
    }
    blanks = BLANK.findall(command)
    schema = {
        "type": "object",
        "properties": {blank: schemas[blank] for blank in blanks},
        "required": blanks,
        "additionalProperties": False,
    }
    return ToolSpec(name=name, description=description, parameters=schema, command=command)


def command_of(call: ToolCall, tools: Iterable[ToolSpec]) -> str:
    """The command that a tool call means; nothing in it is repaired."""
    tool = next((tool for tool in tools if tool.name == call.name), None)
    if tool is None:
        raise ParseError(f"There is no tool {call.name!r}.")
    try:
        given = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        raise ParseError(f"The arguments of {call.name} are not JSON.") from None
    wanted = BLANK.findall(tool.command)
    if not isinstance(given, dict) or set(given) != set(wanted):
        raise ParseError(f"{call.name} takes exactly: {', '.join(wanted) or 'no arguments'}.")
    if not all(type(value) in (str, int) for value in given.values()):
        raise ParseError(f"The arguments of {call.name} must be text or whole numbers.")
    return BLANK.sub(lambda blank: str(given[blank.group(1)]), tool.command)


def call_for(command: str, tools: Iterable[ToolSpec], call_id: str) -> ToolCall | None:
    """The tool call for a command; None if no tool has it."""
    for tool in tools:
        names = BLANK.findall(tool.command)
        parts = BLANK.split(tool.command)
        pattern = "".join(
            "(.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts)
        )
        if found := re.fullmatch(pattern, command, re.DOTALL):
            arguments = json.dumps(dict(zip(names, found.groups(), strict=True)))
            return ToolCall(id=call_id, name=tool.name, arguments=arguments)
    return None


def _something(blank: str, rng: random.Random, text: str) -> str:
    if digits := _DIGITS.fullmatch(blank):
        return "".join(rng.choice("0123456789") for _ in range(int(digits[1])))
    if bounds := _RANGE.fullmatch(blank):
        return str(rng.randint(int(bounds[1]), int(bounds[2])))
    words = _WORD.findall(text) or ["anything"]
    return " ".join(rng.sample(words, rng.randint(1, min(_MOST_WORDS, len(words)))))
