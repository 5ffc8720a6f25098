"""The texts that pass between the green agent and the agent under test.

They are a contract: agents of other people find the actions by `N. command`
lines and the observation by its heading, so every byte is held by a golden
test. `read_message` is the other direction, for the white agents served here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agentquest.lib import Briefing

NOTHING_HAPPENS = "Nothing happens."
NOT_AVAILABLE = (
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
_AFTER = 'OBSERVATION after your action "'


def first_message(briefing: Briefing, observation: str, admissible: Sequence[str]) -> str:
    """What a game begins with; the benchmark's own words for it are in the briefing."""
    example = briefing.examples or (f'"{admissible[0]}"' if admissible else '"look"')
    return (
        f"{briefing.role or _ANY_ROLE}\n"
        "\n"
        f"{_OBSERVATION}{observation}"
        f"{_ACTIONS}{_numbered(admissible)}"
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
    """Every later turn; `action` is what was executed, None when nothing was.

    `reminder` goes before it, for agents that forget what was said before.
    """
    done = f'your action "{action}"' if action is not None else "your last reply"
    return (
        f"{reminder}OBSERVATION after {done}:\n"
        "\n"
        f"{_OBSERVATION}{observation}"
        f"{_ACTIONS}{_numbered(admissible)}"
        "\n"
        "\n"
        "Please provide your next action (just the action command, no explanation):"
    )


def reminder(briefing: Briefing, goal: str) -> str:
    """What a game is about, to be said again with every turn."""
    return f"{briefing.role or _ANY_ROLE}\n\nYOUR TASK:\n{goal}\n\n"


def refusal() -> str:
    """The observation after a reply that was not an available action."""
    return f"{NOTHING_HAPPENS}\n{NOT_AVAILABLE}"


@dataclass(frozen=True)
class ParsedMessage:
    """A message as the agent under test understands it."""

    first: bool
    observation: str
    admissible: tuple[str, ...]
    action: str | None = None


def read_message(text: str) -> ParsedMessage:
    """Parse a message; any other text is an observation without actions."""
    before, heading, after = text.rpartition(_ACTIONS)
    if not heading:
        return ParsedMessage(True, text, ())
    head, found, observation = before.partition(_OBSERVATION)
    options, instructions, _ = after.partition(_INSTRUCTIONS)
    return ParsedMessage(
        first=bool(instructions),
        observation=observation if found else before,
        admissible=tuple(filter(None, map(_option, options.split("\n")))),
        action=_done(head),
    )


def _option(line: str) -> str:
    """The command of a line `N. command`; empty for other lines."""
    number, dot, command = line.strip().partition(".")
    return command.strip() if dot and number.isdecimal() else ""


def _done(head: str) -> str | None:
    """The action that a message says was executed."""
    for line in head.split("\n"):
        if line.startswith(_AFTER) and line.endswith('":'):
            return line[len(_AFTER) : -2]
    return None


def _numbered(admissible: Sequence[str]) -> str:
    if not admissible:
        return _NO_ACTIONS
    return "\n".join(f"  {number}. {command}" for number, command in enumerate(admissible, 1))
