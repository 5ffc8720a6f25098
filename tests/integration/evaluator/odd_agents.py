"""Agents of the user's own, as the tests name them in configurations: some good, most bad.

The tests copy this file under another name into a folder of their own.
"""

import asyncio
import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Any

from agentquest.lib import Agent, Answer, Episode, Explorer, Observation, Settings
from agentquest.llms.config import ModelSettings
from agentquest.llms.types import ChatModel
from agentquest.records.messages import Message

NOT_A_CLASS = 5


class PoliteSettings(Settings):
    word: str = "please"
    """What is said before each action."""


class Polite(Agent):
    """Plays by the benchmark's rules and says a word of the user's choice before it."""

    Settings = PoliteSettings

    def __init__(self, settings: PoliteSettings, explorer: Explorer) -> None:
        self._explorer = explorer
        self._word = settings.word

    async def act(self, observation: Observation) -> Answer:
        action = self._explorer.next_action(observation.text)
        return Answer(action, how="polite", reply=f"{self._word}: {action}")


class Moody(Polite):
    """Misbehaves in a way that depends on the task's type."""

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        if episode.task_type == "look_at_obj_in_light":
            raise RuntimeError("I will not look")

    async def act(self, observation: Observation) -> Answer:
        kind = self.episode.task_type
        if kind == "pick_heat_then_place_in_recep":
            raise ValueError("too hot")
        if kind == "pick_cool_then_place_in_recep":
            await asyncio.sleep(3600)
        if kind == "pick_two_obj_and_place":
            return "take both"  # type: ignore[return-value]
        return await super().act(observation)

    async def close(self) -> None:
        if self.episode.task_type == "pick_clean_then_place_in_recep":
            raise RuntimeError("I will not tidy up")


class GivesUp(Polite):
    """Stops in the third turn."""

    async def act(self, observation: Observation) -> Answer:
        self._turns = getattr(self, "_turns", 0) + 1
        if self._turns == 3:
            return Answer(action=None, reply="I have had enough", give_up=True)
        return await super().act(observation)


class KillsItsProcess(Polite):
    """Takes the process it is in with it, as a fault in a library does; but not everywhere."""

    async def act(self, observation: Observation) -> Answer:
        if self.episode.task_type == "pick_heat_then_place_in_recep":
            os._exit(70)
        return await super().act(observation)


class Stubborn(Agent):
    """Never answers, and does not care that it is to end."""

    async def act(self, observation: Observation) -> Answer:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)


class HoldsItsProcess(Agent):
    """Waits without letting anybody else do anything, and ignores what ends other programs."""

    async def act(self, observation: Observation) -> Answer:
        self._hold()
        return Answer(None)

    def _hold(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        Path(os.environ["HELD"], str(os.getpid())).touch()
        time.sleep(3600)


class CannotBeMade(Agent):
    def __init__(self, settings: Settings) -> None:
        raise KeyError("no brain")

    async def act(self, observation: Observation) -> Answer:
        return Answer(None)


class WantsTheBenchmark(Agent):
    def __init__(self, benchmark: object) -> None:
        raise AssertionError("never made")

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
        reply = await self._model.complete([Message(role="user", content=observation.text)])
        return Answer(reply.text.rpartition("ACTION: ")[2], how="asked", reply=reply.text)


class Failing(ChatModel):
    """A model of the user's own that gives no reply, in the way that its name says."""

    Settings = ModelSettings

    def __init__(self, settings: ModelSettings) -> None:
        self._how = settings.model

    async def complete(self, messages: object, **more: object) -> Any:
        if self._how == "raises":
            return {}["choices"]
        if self._how == "exits":
            raise SystemExit("enough")
        if self._how == "hangs":
            await asyncio.sleep(600)
        return "ACTION: look"
