"""A model made of rules that plays by calling `act`, whatever framework tells it the game.

Every answer is worked out from the conversation alone: the first observation stands in the
user's message, later ones are results of the tool, or messages of the user's that say so.
"""

import json
from typing import Any

from agentquest.benchmarks.alfworld.explorer import AlfWorldExplorer
from said import Messages, Said

_FIRST, _LATER = "Observation: ", "Observation:\n"


def answer(messages: Messages) -> Said:
    explorer, action = AlfWorldExplorer(), ""
    for observation in observations(messages):
        action = explorer.next_action(observation)
    return Said(explorer.thought, calls=(("act", json.dumps({"command": action})),))


def observations(messages: Messages) -> list[str]:
    seen: list[str] = []
    for message in messages:
        text = _text(message.get("content"))
        if message["role"] == "tool":
            seen.append(text)
        elif message["role"] == "user" and not seen:
            seen.append(text.partition(_FIRST)[2])
        elif message["role"] == "user" and text.startswith(_LATER):
            seen.append(text.removeprefix(_LATER))
    return seen


def _text(content: Any) -> str:
    """Content as text, or the texts of its parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")
