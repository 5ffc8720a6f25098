"""A chat model that follows rules: no key, no network, and the very same prompt path.

It reads the prompt's text and nothing else: the first observation when a game
begins, the newest one after that. One instance answers one episode.
"""

from collections.abc import Sequence

from agentquest.lib import Explorer
from agentquest.llms.messages import ChatMessage, Reply

_OBSERVATION = "Observation: "
_AFTER_HISTORY = "\n\n" + "=" * 50


class ScriptedModel:
    name = "scripted"

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer

    async def complete(self, messages: Sequence[ChatMessage], *, seed: int | None = None) -> Reply:
        action = self._explorer.next_action(newest_observation(messages[-1].content))
        thought = self._explorer.thought or "I follow my rules."
        return Reply(text=f"THINK: {thought}\nACTION: {action}", model=self.name)

    async def close(self) -> None:
        return None


def newest_observation(prompt: str) -> str:
    """The last `Observation: …` of a prompt, up to the next section."""
    start = prompt.rfind(_OBSERVATION)
    if start < 0:
        return ""
    return prompt[start + len(_OBSERVATION) :].split(_AFTER_HISTORY, 1)[0]
