"""A chat model that follows rules: no key, no network, and the very same prompt path.

It reads the prompt's text and nothing else: the first observation when a game
begins, the newest one after that. One instance answers one episode. It takes the
settings that other models take, so that a configuration can be tried without a
server; they change nothing.
"""

from collections.abc import Sequence

from agentquest.lib.agent import Explorer
from agentquest.lib.commands import call_for
from agentquest.llms.config import ModelSettings
from agentquest.llms.types import ChatModel, Reply
from agentquest.records.messages import Message, ToolSpec

_OBSERVATION = "Observation: "
_AFTER_HISTORY = "\n\n" + "=" * 50


class ScriptedModelSettings(ModelSettings):
    """The settings of any model, so that it can stand in for one."""

    model: str = "scripted"
    """Always `scripted`."""


class ScriptedModel(ChatModel):
    """Answers as the benchmark's explorer plays: with a tool call, or in THINK and ACTION lines."""

    Settings = ScriptedModelSettings
    name = "scripted"

    def __init__(self, settings: ModelSettings, explorer: Explorer) -> None:
        self._explorer = explorer
        self._replies = 0

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        seed: int | None = None,
    ) -> Reply:
        newest = messages[-1]
        seen = newest.content if newest.role == "tool" else newest_observation(newest.content)
        action = self._explorer.next_action(seen)
        thought = self._explorer.thought or "I follow my rules."
        self._replies += 1
        call = call_for(action, tools, f"call_{self._replies}")
        if call is not None:
            return Reply(text=thought, tool_calls=(call,), model=self.name)
        return Reply(text=f"THINK: {thought}\nACTION: {action}", model=self.name)


def newest_observation(prompt: str) -> str:
    """The last `Observation: …` of a prompt, up to the next section."""
    start = prompt.rfind(_OBSERVATION)
    if start < 0:
        return ""
    return prompt[start + len(_OBSERVATION) :].split(_AFTER_HISTORY, 1)[0]
