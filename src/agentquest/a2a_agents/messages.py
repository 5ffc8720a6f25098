"""The texts that pass between the green agent and the agent under test.

They are a contract: agents of other people find the actions by `N. command`
lines and the observation by its heading, so every byte is held by a golden
test. `read_message` is the other direction, for the white agents served here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

NOTHING_HAPPENS = "Nothing happens."
NOT_AVAILABLE = (
    "Your reply was not one of the available actions, so nothing was done. "
    "Reply with exactly one of the actions listed."
)

_SETTINGS = {
    "alfworld": "You are an agent in a household environment. "
    "Your goal is to complete tasks by taking actions.",
    "webshop": "You are an agent in an online shop. "
    "Your goal is to buy what the instruction asks for by taking actions.",
}
_ANY_SETTING = (
    "You are an agent in a text environment. Your goal is to complete tasks by taking actions."
)
_EXAMPLES = {
    "alfworld": '"go to desk 1" or "take book 1 from desk 1"',
    "webshop": '"search[red shoes]" or "click[Buy Now]"',
}
_OBSERVATION = "ENVIRONMENT OBSERVATION:\n"
_ACTIONS = "\n\nAvailable actions (choose one):\n"
_NO_ACTIONS = "No admissible commands available."
_INSTRUCTIONS = "\n\nINSTRUCTIONS:\n"
_OPTION = re.compile(r"^\s*\d+\.\s*(.+)$", re.MULTILINE)
_AFTER = re.compile(r'^OBSERVATION after your action "(.*)":$', re.MULTILINE)


def first_message(benchmark: str, observation: str, admissible: Sequence[str]) -> str:
    """What a game begins with."""
    example = _EXAMPLES.get(benchmark, f'"{admissible[0]}"' if admissible else '"look"')
    return (
        f"{_SETTINGS.get(benchmark, _ANY_SETTING)}\n"
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


def next_message(action: str | None, observation: str, admissible: Sequence[str]) -> str:
    """Every later turn; `action` is what was executed, None when nothing was."""
    done = f'your action "{action}"' if action is not None else "your last reply"
    return (
        f"OBSERVATION after {done}:\n"
        "\n"
        f"{_OBSERVATION}{observation}"
        f"{_ACTIONS}{_numbered(admissible)}"
        "\n"
        "\n"
        "Please provide your next action (just the action command, no explanation):"
    )


def refusal() -> str:
    """The observation after a reply that was no available action."""
    return f"{NOTHING_HAPPENS}\n{NOT_AVAILABLE}"


@dataclass(frozen=True)
class Heard:
    """A message as the agent under test understands it."""

    first: bool
    observation: str
    admissible: tuple[str, ...]
    action: str | None = None


def read_message(text: str) -> Heard:
    """Take a message apart; text of any other kind is an observation without actions."""
    before, heading, after = text.rpartition(_ACTIONS)
    if not heading:
        return Heard(True, text, ())
    head, found, observation = before.partition(_OBSERVATION)
    options, instructions, _ = after.partition(_INSTRUCTIONS)
    done = _AFTER.search(head)
    return Heard(
        first=bool(instructions),
        observation=observation if found else before,
        admissible=tuple(_OPTION.findall(options)),
        action=done.group(1) if done else None,
    )


def _numbered(admissible: Sequence[str]) -> str:
    if not admissible:
        return _NO_ACTIONS
    return "\n".join(f"  {number}. {command}" for number, command in enumerate(admissible, 1))
