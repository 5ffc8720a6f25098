"""Named ways to read a reply, for settings that say how theirs is to be read.

Nothing is repaired. A reader that a published setting needs and that plays what is no
answer (the end of a reply without tags) says so in `how`, step by step.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from agentquest.agents.reading.parsing import Parsed, parse_react
from agentquest.errors import ParseError
from agentquest.lib.commands import command_of
from agentquest.llms.types import Reply
from agentquest.records.messages import ToolSpec

_FENCE = re.compile(r"```[a-z]*\n(.*?)\n?```", re.DOTALL)
_THOUGHTS = ("thought", "think", "thinking", "reasoning")


class Manner(NamedTuple):
    """How a reply is to be read: what a setting may say of any reader."""

    commands: Sequence[str] = ()
    tools: Sequence[ToolSpec] = ()
    lower_case: bool = False
    tail: int = 0


Reader = Callable[[Reply, Manner], Parsed]


def read_react(reply: Reply, manner: Manner) -> Parsed:
    """`THINK: … ACTION: …`, as a person would read it."""
    return parse_react(reply.text, manner.commands)


def read_tags(reply: Reply, manner: Manner) -> Parsed:
    """What stands between the first `<action>` and the first `</action>` after it.

    With `tail`, the last so many characters of a reply without them.
    """
    text = _cased(reply.text, manner)
    before, _, rest = text.partition("<action>")
    action, closed, _ = rest.partition("</action>")
    if closed:
        action = action.strip()
        return Parsed(action or None, before.strip(), "tag" if action else "missing")
    if manner.tail:
        whole = reply.text or reply.reasoning
        action = whole[-manner.tail :]
        return Parsed(_cased(action, manner) or None, whole, "tail" if action else "missing")
    return Parsed(None, reply.text, "missing")


def read_line(reply: Reply, manner: Manner) -> Parsed:
    """A line that is the command; of several, the first."""
    lines = [line.strip() for line in reply.text.splitlines() if line.strip()]
    if not lines:
        return Parsed(None, "", "missing")
    return Parsed(_cased(lines[0], manner), "", "line" if len(lines) == 1 else "first_line")


def read_json(reply: Reply, manner: Manner) -> Parsed:
    """An object with an `action`, by itself or in a block of code."""
    text = reply.text.strip()
    fenced = _FENCE.fullmatch(text)
    try:
        said = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return Parsed(None, reply.text, "not_json")
    if not isinstance(said, dict) or not isinstance(said.get("action"), str):
        return Parsed(None, reply.text, "no_action")
    thought = next((said[name] for name in _THOUGHTS if isinstance(said.get(name), str)), "")
    return Parsed(_cased(said["action"].strip(), manner), thought, "json")


def read_call(reply: Reply, manner: Manner) -> Parsed:
    """The first call of a tool."""
    if not reply.tool_calls:
        return Parsed(None, reply.text, "no_tool_call")
    try:
        action = command_of(reply.tool_calls[0], manner.tools)
    except ParseError:
        return Parsed(None, reply.text, "malformed_call")
    several = len(reply.tool_calls) > 1
    return Parsed(_cased(action, manner), reply.text, "first_call" if several else "tool_call")


def _cased(action: str, manner: Manner) -> str:
    return action.lower() if manner.lower_case else action


READERS: Mapping[str, Reader] = {
    "react": read_react,
    "tags": read_tags,
    "line": read_line,
    "json": read_json,
    "tool_call": read_call,
}
