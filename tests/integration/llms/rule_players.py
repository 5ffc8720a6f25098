"""Models made of rules: every answer is worked out from what one request says."""

import re
from collections.abc import Callable
from functools import lru_cache

from agentquest.lib import Explorer
from agentquest.lib.commands import call_for
from agentquest.records.messages import ToolSpec
from said import Answer, Messages, Said

_HISTORY = re.compile(r"RECENT HISTORY\n=+\n(.*?)\n\n=+\nOUTPUT FORMAT", re.DOTALL)
_ENTRY = re.compile(r"^(?:Observation|Action): ", re.MULTILINE)


class Move:
    """What a player does after all that it has seen, and why."""

    def __init__(self, explorer: Callable[[], Explorer]) -> None:
        self.after = lru_cache(maxsize=None)(self._after)
        self._explorer = explorer

    def _after(self, observations: tuple[str, ...]) -> tuple[str, str]:
        explorer = self._explorer()
        actions = [explorer.next_action(observation) for observation in observations]
        return actions[-1], explorer.thought


def by_words(explorer: Callable[[], Explorer]) -> Answer:
    """A player that reads the history in the `react` agent's prompt."""
    move = Move(explorer)

    def answer(messages: Messages) -> Said:
        history = _HISTORY.search(messages[-1]["content"])
        assert history is not None
        seen = [entry.removesuffix("\n") for entry in _ENTRY.split(history[1])[1::2]]
        action, thought = move.after(tuple(seen))
        return Said(f"THINK: {thought}\nACTION: {action}")

    return answer


def by_tools(explorer: Callable[[], Explorer], tool: ToolSpec) -> Answer:
    """A player that calls the tool of the `tools` agent, with thoughts that are sent back."""
    move = Move(explorer)

    def answer(messages: Messages) -> Said:
        first = next(message for message in messages if message["role"] == "user")
        seen = [first["content"].partition("Observation: ")[2]]
        seen += [message["content"] for message in messages if message["role"] == "tool"]
        action, thought = move.after(tuple(seen))
        call = call_for(action, [tool], "")
        assert call is not None
        return Said(thoughts=thought, calls=((call.name, call.arguments),))

    return answer
