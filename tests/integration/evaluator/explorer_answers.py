"""A model made of rules for the chat server: every answer is worked out from the prompt alone.

The prompt's whole history is played to a fresh explorer, so equal prompts get
equal answers in any process and after any number of faults. It needs a history
as long as the game (`agent.history_length`).
"""

import re
from typing import Any

from agentquest.benchmarks.alfworld.explorer import AlfWorldExplorer
from agentquest.llms.preflight import question

_HISTORY = re.compile(r"RECENT HISTORY\n=+\n(.*?)\n\n=+\nOUTPUT FORMAT", re.DOTALL)
_ENTRY = re.compile(r"^(?:Observation|Action): ", re.MULTILINE)


def answer(messages: list[dict[str, Any]]) -> str:
    if messages[-1]["content"] == question(()).content:
        return "ready"  # what is asked before a run begins
    history = _HISTORY.search(messages[-1]["content"])
    assert history is not None, "not the built-in prompt"
    assert "left out" not in history[1], "the history must be whole"
    explorer = AlfWorldExplorer()
    action = ""
    for observation in _ENTRY.split(history[1])[1::2]:
        action = explorer.next_action(observation.removesuffix("\n"))
    return f"THINK: {explorer.thought}\nACTION: {action}"


def echo_of_the_goal(messages: list[dict[str, Any]]) -> str:
    """Never an action: the goal, talked about."""
    goal = str(messages[-1]["content"]).partition("Goal: ")[2].partition("\n")[0]
    return f"I wonder how to {goal}, really?"
