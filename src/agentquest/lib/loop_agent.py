"""Agents whose framework runs the loop: it calls a tool, and the tool is the game.

Subclass `LoopAgent`, start the framework in `play`, and give it a tool that awaits
`act(command)`: each call is a step, and what it returns is the next observation. A
`play` that returns before the game is over has given up.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable

from agentquest.lib.agent import Agent, Answer, Episode
from agentquest.lib.types import Observation

Act = Callable[[str], Awaitable[str]]


class GameOver(Exception):
    """The game has ended while the framework goes on; nothing more is played."""


class LoopAgent(Agent):
    """Turns a framework's own loop into answers, one by one."""

    @abstractmethod
    async def play(self, episode: Episode, first: str, act: Act) -> None:
        """Play the game from its first observation by awaiting `act` with commands."""

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._asked: asyncio.Queue[tuple[str, asyncio.Future[str]]] = asyncio.Queue()
        self._waiting: asyncio.Future[str] | None = None
        self._playing: asyncio.Task[None] | None = None
        self._over = False

    async def act(self, observation: Observation) -> Answer:
        if self._playing is None:
            self._playing = asyncio.ensure_future(
                self.play(self.episode, observation.text, self._act)
            )
        elif self._waiting is not None:
            self._waiting.set_result(observation.text)
        command = asyncio.ensure_future(self._asked.get())
        try:
            await asyncio.wait({command, self._playing}, return_when=asyncio.FIRST_COMPLETED)
            if not command.done():
                self._playing.result()  # raises what the framework raised
                return Answer(action=None, give_up=True)
            action, self._waiting = command.result()
        finally:
            command.cancel()
        return Answer(action=action, how="tool_call", reply=action)

    async def close(self) -> None:
        """End the framework's loop; one in a thread is told by its next call."""
        self._over = True
        left = [self._waiting] if self._waiting is not None else []
        while not self._asked.empty():
            left.append(self._asked.get_nowait()[1])
        for future in left:
            if not future.done():
                future.set_exception(GameOver("the game is over"))
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.wait({self._playing})

    async def _act(self, command: str) -> str:
        if self._over:
            raise GameOver("the game is over")
        told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._asked.put_nowait((command, told))
        return await told
