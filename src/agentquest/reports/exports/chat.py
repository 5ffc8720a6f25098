"""An episode as one chat: prompts as they were sent where they show it, otherwise rebuilt.

An agent that keeps a conversation sends all of it again with every question, so the next
prompt has the newest turn word for word. One that writes a new prompt for every step has no
such chat: its turns are the reply and what was seen then.
"""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import zip_longest
from typing import Any

from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.messages import Message, ToolCall, ToolSpec

ChatTurn = list[tuple[Step, ToolCall | None]]


def task_text(record: EpisodeRecord) -> str:
    """What the agent was asked to do, and what it saw first."""
    return f"Goal: {record.goal}\n\n{record.first_observation}"


def conversation(record: EpisodeRecord) -> Iterator[Message]:
    """Every message of the chat, with every tool call and its result."""
    turns = turns_of(record)
    opening = record.prompt(turns[0][0][0]) if turns else []
    yield from opening or [Message(role="user", content=task_text(record))]
    for turn, following in zip_longest(turns, turns[1:]):
        sent = _as_sent(record, turn, following) if following else None
        yield from sent or _rebuild(turn)


def turns_of(record: EpisodeRecord) -> list[ChatTurn]:
    """The steps by the reply that they carry out, each with its tool call, if it is one."""
    turns: list[ChatTurn] = []
    waiting: dict[str, ToolCall] = {}
    for step in record.steps:
        first = step.tool_calls[0] if step.tool_calls else None
        if first is not None and not step.calls and first.id in waiting:
            turns[-1].append((step, waiting.pop(first.id)))
            continue
        turns.append([(step, first)])
        waiting = {call.id: call for call in step.tool_calls[1:]}
    return turns


def reply_of(step: Step) -> Message:
    """What the agent said, as a message; the bare action of one that says nothing else."""
    silent = "" if step.tool_calls else step.action or ""
    return Message(
        role="assistant",
        content=step.reply or silent,
        tool_calls=tuple(step.tool_calls),
        reasoning=step.reasoning,
    )


def read_arguments(call: ToolCall) -> dict[str, Any] | None:
    """The arguments of a call; None if what the model wrote is not a JSON object, or holds what
    cannot be written again (numbers without end, half a character)."""
    try:
        arguments = json.loads(call.arguments)
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None


def declare_tool(tool: ToolSpec) -> dict[str, Any]:
    """A tool in OpenAI's words, which everybody reads."""
    parameters = tool.parameters or {"type": "object", "properties": {}}
    declared = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": declared}


class EpisodeClock:
    """When the steps of an episode were made, by how long each took."""

    _LATEST = 1e9  # seconds after the start; no clock shows what other records say

    def __init__(self, record: EpisodeRecord) -> None:
        self.passed = 0.0
        try:
            self._start = datetime.fromisoformat(record.started_at)
        except ValueError:
            self._start = datetime.fromtimestamp(0, timezone.utc)

    def now(self) -> str:
        """The moment, as ISO 8601 has it."""
        passed = min(max(self.passed, 0.0), self._LATEST)
        return (self._start + timedelta(seconds=passed)).isoformat()


def _as_sent(record: EpisodeRecord, turn: ChatTurn, following: ChatTurn) -> list[Message] | None:
    """The turn as the next prompt repeats it; None where that prompt is no longer chat."""
    step, prompt = turn[0][0], record.prompt(following[0][0])
    replies = [place for place, message in enumerate(prompt) if message.role == "assistant"]
    place = replies[-1] if replies else None
    said = reply_of(step)
    if place is None or (prompt[place].content, prompt[place].tool_calls) != (
        said.content,
        said.tool_calls,
    ):
        return None
    return [said, *prompt[place + 1 :]]


def _rebuild(turn: ChatTurn) -> Iterator[Message]:
    yield reply_of(turn[0][0])
    for step, call in turn:
        if call is None:
            yield Message(role="user", content=step.observation)
        else:
            yield Message(role="tool", content=step.observation, tool_call_id=call.id)
