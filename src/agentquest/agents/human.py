"""A person as an agent: shown what an agent is shown, one line per answer.

`agentquest play` is the comfortable way, with hints, undo and completion; its games are
recorded under this agent's name. This class asks plainly, wherever an agent can be named.
"""

import asyncio

from agentquest.lib import Agent, Answer, Episode, Observation
from agentquest.records.how import How

_PROMPT = "> "


class HumanAgent(Agent):
    """Reads standard input; games that are played at once wait for each other."""

    needs_keyboard = True

    def __init__(self, shared: asyncio.Lock) -> None:
        self._keyboard = shared
        self._goal = ""

    @classmethod
    async def open_shared(cls, settings: object) -> asyncio.Lock:
        return asyncio.Lock()

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        await self._keyboard.acquire()
        self._goal = f"\nGoal: {episode.goal}\n"

    async def act(self, observation: Observation) -> Answer:
        shown = f"{self._goal}{observation.text}\n{_PROMPT}"
        self._goal = ""
        try:
            line = await asyncio.to_thread(input, shown)
        except EOFError:
            return Answer(action=None, give_up=True)
        return Answer(action=line, how=How.TYPED, reply=line)

    async def close(self) -> None:
        if self._keyboard.locked():
            self._keyboard.release()
