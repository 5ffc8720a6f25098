"""What is said to a model and what it says back: one family of types, in memory and on disk.

Providers translate these to their own wire format and back; agents build them;
records store them as they are. Nothing is copied from one shape to another.
"""

from enum import Enum
from typing import Annotated

from pydantic import Field

from agentquest.records.base import STOP_AT_FIRST, Anything, Opaque, Record, Text
from agentquest.records.usage import Usage as Usage


class ToolCall(Record):
    """A tool call by a model. `arguments` is the text it wrote, JSON or not."""

    id: Text
    name: Text
    arguments: Text


class ToolSpec(Record):
    """A tool as a model sees it; `parameters` is a JSON schema of an object.

    `command` is what a call means in an environment that takes commands as text, with
    `<name>` where the argument of that name goes; models are not told it.
    """

    name: Text
    description: Text
    parameters: Anything = Field(default_factory=dict)
    command: Text = ""


class Message(Record):
    """One message of a conversation.

    `tool_call_id` names the call that a `tool` message answers. `reasoning` and
    `opaque` (what a provider wants back unread, such as signatures) belong to
    `assistant` messages.
    """

    role: Text  # system, user, assistant or tool
    content: Text = ""
    tool_calls: Annotated[tuple[ToolCall, ...], STOP_AT_FIRST] = ()
    tool_call_id: Text | None = None
    reasoning: Text = ""
    opaque: Opaque | None = None


class ReplyKind(str, Enum):
    """What a reply is worth. The value is what records store."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    REFUSED = "refused"
