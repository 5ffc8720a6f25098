"""Agents of the user's own, as the tests name them in configurations: some good, most bad.

The tests copy this file under another name into a folder of their own.
"""

import asyncio

from agentquest.lib import Agent, Answer, Benchmark, Episode, Explorer, Observation
from agentquest.llms.messages import ChatMessage
from agentquest.llms.model import ChatModel

NOT_A_CLASS = 5


class Polite(Agent):
    """Plays by the benchmark's rules and says a word of the user's choice before it."""

    def __init__(self, explorer: Explorer, word: str = "please") -> None:
        self._explorer = explorer
        self._word = word

    async def act(self, observation: Observation) -> Answer:
        action = self._explorer.next_action(observation.text)
        return Answer(action, how="polite", reply=f"{self._word}: {action}")


class Moody(Polite):
    """Misbehaves in a way that depends on the task's type."""

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        if episode.task.task_type == "look_at_obj_in_light":
            raise RuntimeError("I will not look")

    async def act(self, observation: Observation) -> Answer:
        kind = self.episode.task.task_type
        if kind == "pick_heat_then_place_in_recep":
            raise ValueError("too hot")
        if kind == "pick_cool_then_place_in_recep":
            await asyncio.sleep(3600)
        if kind == "pick_two_obj_and_place":
            return "take both"  # type: ignore[return-value]
        return await super().act(observation)

    async def close(self) -> None:
        if self.episode.task.task_type == "pick_clean_then_place_in_recep":
            raise RuntimeError("I will not tidy up")


class CannotBeMade(Agent):
    def __init__(self, benchmark: Benchmark) -> None:
        raise KeyError("no brain")

    async def act(self, observation: Observation) -> Answer:
        return Answer(None)


class NoAgent:
    """Has the method but not the class."""

    async def act(self, observation: Observation) -> Answer:
        return Answer(None)


class Asks(Agent):
    """Asks the configured model in its own words."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    async def act(self, observation: Observation) -> Answer:
        reply = await self._model.complete([ChatMessage("user", observation.text)])
        return Answer(reply.text.rpartition("ACTION: ")[2], how="asked", reply=reply.text)
