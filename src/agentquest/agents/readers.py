"""Named ways to read a reply, for settings that choose one.

Nothing is repaired. Some published settings play text that is not an answer (the end of a
reply without tags); `how` then says so in each step.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from agentquest.agents.published_readers import (
    read_as_agentbench,
    read_as_agentbench_tools,
    read_as_agentboard,
    read_as_agentgym,
    read_as_eto,
    read_as_eto_blank,
    read_as_gigpo,
    read_as_react,
)
from agentquest.errors import ParseError
from agentquest.lib.commands import command_of
from agentquest.lib.parsing import Parsed, parse_react
from agentquest.llms.types import Reply
from agentquest.records.how import How
from agentquest.records.messages import ToolSpec

_FENCE = re.compile(r"```[a-z]*\n(.*?)\n?```", re.DOTALL)
_THOUGHTS = ("thought", "think", "thinking", "reasoning")


class ReaderOptions(NamedTuple):
    """What a setting may tell any reader."""

    commands: Sequence[str] = ()
    tools: Sequence[ToolSpec] = ()
    lower_case: bool = False
    tail: int = 0
    rewrite: Sequence[tuple[str, str, str]] = ()


Reader = Callable[[Reply, ReaderOptions], Parsed]


def read_tags(reply: Reply, options: ReaderOptions) -> Parsed:
    """The text between the first `<action>` and the first `</action>` after it.

    With `tail`, the last so many characters of a reply without them.
    """
    text = _apply_case(reply.text, options)
    before, _, rest = text.partition("<action>")
    action, closed, _ = rest.partition("</action>")
    if closed:
        action = action.strip()
        return Parsed(action or None, before.strip(), How.TAG if action else How.MISSING)
    whole = reply.text or reply.reasoning
    if options.tail and whole:
        return Parsed(_apply_case(whole[-options.tail :], options), whole, How.TAIL)
    return Parsed(None, reply.text, How.MISSING)


def read_line(reply: Reply, options: ReaderOptions) -> Parsed:
    """A line that is the command; of several, the first."""
    lines = [line.strip() for line in reply.text.splitlines() if line.strip()]
    if not lines:
        return Parsed(None, "", How.MISSING)
    return Parsed(
        _apply_case(lines[0], options), "", How.LINE if len(lines) == 1 else How.FIRST_LINE
    )


def read_json(reply: Reply, options: ReaderOptions) -> Parsed:
    """An object with an `action`, by itself or in a block of code."""
    text = reply.text.strip()
    fenced = _FENCE.fullmatch(text)
    try:
        said = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return Parsed(None, reply.text, How.NOT_JSON)
    if not isinstance(said, dict) or not isinstance(said.get("action"), str):
        return Parsed(None, reply.text, How.NO_ACTION)
    thought = next((said[name] for name in _THOUGHTS if isinstance(said.get(name), str)), "")
    return Parsed(_apply_case(said["action"].strip(), options), thought, How.JSON)


def read_call(reply: Reply, options: ReaderOptions) -> Parsed:
    """The first call of a tool."""
    if not reply.tool_calls:
        return Parsed(None, reply.text, How.NO_TOOL_CALL)
    try:
        action = command_of(reply.tool_calls[0], options.tools)
    except ParseError:
        return Parsed(None, reply.text, How.MALFORMED_CALL)
    several = len(reply.tool_calls) > 1
    return Parsed(
        _apply_case(action, options), reply.text, How.FIRST_CALL if several else How.TOOL_CALL
    )


def _apply_case(action: str, options: ReaderOptions) -> str:
    return action.lower() if options.lower_case else action


ReaderName = Literal[
    "tags",
    "tool_call",
    "line",
    "json",
    "react",
    "as_gigpo",
    "as_agentgym",
    "as_react",
    "as_eto",
    "as_eto_blank",
    "as_agentboard",
    "as_agentbench",
    "as_agentbench_tools",
]
READERS: Mapping[ReaderName, Reader] = {
    "tags": read_tags,
    "tool_call": read_call,
    "line": read_line,
    "json": read_json,
    "react": lambda reply, options: parse_react(reply.text, options.commands),
    "as_gigpo": lambda reply, options: read_as_gigpo(reply.raw, options.tail),
    "as_agentgym": lambda reply, options: read_as_agentgym(reply.raw, options.commands),
    "as_react": lambda reply, options: read_as_react(reply.raw),
    "as_eto": lambda reply, options: read_as_eto(reply.raw),
    "as_eto_blank": lambda reply, options: read_as_eto_blank(reply.raw),
    "as_agentboard": lambda reply, options: read_as_agentboard(reply.raw, options.rewrite),
    "as_agentbench": lambda reply, options: read_as_agentbench(reply.tool_calls, reply.text),
    "as_agentbench_tools": lambda reply, options: read_as_agentbench_tools(
        reply.tool_calls, reply.text, options.tools
    ),
}
CALLING: frozenset[ReaderName] = frozenset({"tool_call", "as_agentbench", "as_agentbench_tools"})
