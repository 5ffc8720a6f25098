"""What passes between the green agent and the agent under test: texts, and usage as metadata.

The texts are a contract: agents of other people find the actions by `N. command`
lines and the observation by its heading, so a golden test holds every byte.
`read_message` is the other direction, for the white agents served here.

Agents under test pay for their own models. Those that report what they paid have
it in the records and reports, marked as their own statement; it changes no score.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentquest.a2a import limits
from agentquest.lib import Briefing
from agentquest.records.episode import Call, read_call

USAGE = "urn:agentquest:usage"
# Where Google's ADK puts the usage of a model call, one to an event.
ADK_USAGE, ADK_EVENT = "adk_usage_metadata", "adk_event_id"

NOTHING_HAPPENS = "Nothing happens."
# The observation after a reply that was not an available action.
REFUSAL = (
    f"{NOTHING_HAPPENS}\n"
    "Your reply was not one of the available actions, so nothing was done. "
    "Reply with exactly one of the actions listed."
)

_ANY_ROLE = (
    "You are an agent in a text environment. Your goal is to complete tasks by taking actions."
)
_OBSERVATION = "ENVIRONMENT OBSERVATION:\n"
_ACTIONS = "\n\nAvailable actions (choose one):\n"
_NO_ACTIONS = "No admissible commands available."
_INSTRUCTIONS = "\n\nINSTRUCTIONS:\n"


def first_message(briefing: Briefing, observation: str, admissible: Sequence[str]) -> str:
    """The first message of a game; the briefing has the benchmark's own words for it."""
    example = briefing.examples or (f'"{admissible[0]}"' if admissible else '"look"')
    return (
        f"{briefing.role or _ANY_ROLE}\n"
        "\n"
        f"{_OBSERVATION}{observation}"
        f"{_ACTIONS}{_number_options(admissible)}"
        f"{_INSTRUCTIONS}"
        "- Read the observation carefully to understand your current situation and goal.\n"
        "- Choose an action from the available actions list.\n"
        f"- Respond with ONLY the exact action text (e.g., {example}).\n"
        "- Do NOT include any explanation, just the action command.\n"
        "\n"
        "Please provide your next action:"
    )


def next_message(
    action: str | None, observation: str, admissible: Sequence[str], reminder: str = ""
) -> str:
    """The message of every later turn; `action` is what was executed, None if nothing was.

    `reminder` comes first, for agents that forget earlier turns.
    """
    subject = f'your action "{action}"' if action is not None else "your last reply"
    return (
        f"{reminder}OBSERVATION after {subject}:\n"
        "\n"
        f"{_OBSERVATION}{observation}"
        f"{_ACTIONS}{_number_options(admissible)}"
        "\n"
        "\n"
        "Please provide your next action (just the action command, no explanation):"
    )


def reminder(briefing: Briefing, goal: str) -> str:
    """The goal of a game, repeated with every turn."""
    return f"{briefing.role or _ANY_ROLE}\n\nYOUR TASK:\n{goal}\n\n"


@dataclass(frozen=True)
class ParsedMessage:
    """A message as the agent under test understands it."""

    first: bool
    observation: str
    admissible: tuple[str, ...]


def read_message(text: str) -> ParsedMessage:
    """Parse a message; any other text is an observation without actions."""
    before, heading, after = text.rpartition(_ACTIONS)
    if not heading:
        return ParsedMessage(True, text, ())
    _, found, observation = before.partition(_OBSERVATION)
    options, instructions, _ = after.partition(_INSTRUCTIONS)
    return ParsedMessage(
        first=bool(instructions),
        observation=observation if found else before,
        admissible=tuple(filter(None, map(_option, options.split("\n")))),
    )


def _option(line: str) -> str:
    """The command of a line `N. command`; empty for other lines."""
    number, dot, command = line.strip().partition(".")
    return command.strip() if dot and number.isdecimal() else ""


def _number_options(admissible: Sequence[str]) -> str:
    if not admissible:
        return _NO_ACTIONS
    return "\n".join(f"  {number}. {command}" for number, command in enumerate(admissible, 1))


def write_usage(calls: Sequence[Call]) -> dict[str, Any]:
    """The metadata of a reply that took these model calls."""
    return {USAGE: [_write_call(call) for call in calls]} if calls else {}


def read_usage(metadata: dict[str, Any]) -> tuple[Call, ...]:
    """The model calls that a reply reports; entries that make no sense are skipped."""
    entries = next((metadata[name] for name in (USAGE, ADK_USAGE) if name in metadata), None)
    if not isinstance(entries, list):
        return ()
    calls = (read_call(entry) for entry in entries[: limits.MAX_REPORTED_CALLS])
    return tuple(call for call in calls if call is not None)


def _write_call(call: Call) -> dict[str, Any]:
    usage = call.usage.model_dump() if call.usage is not None else {}
    cost = {"cost": call.cost} if call.cost is not None else {}
    latency = {"latency_s": call.latency_s} if call.latency_s is not None else {}
    return {"model": call.model, **usage, **cost, **latency}
