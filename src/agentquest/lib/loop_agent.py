"""Agents whose framework runs the loop: it calls a tool, and the tool is the game.

Subclass `LoopAgent`, start the framework in `play`, and give it a tool that awaits
`act(command)`: each call is a step, and what it returns is the next observation. A
`play` that returns before the game is over has given up. `submit` takes whole answers, for
loops that do more than name commands. `report_usage` takes what the framework's model calls
used, in whatever form the framework has it.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import replace

from agentquest.lib.agent import Agent, Answer, Episode, catch_exits
from agentquest.lib.types import Observation
from agentquest.records.episode import Call, read_call
from agentquest.records.how import How

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
        self.observation: Observation | None = None
        self._submitted: asyncio.Queue[tuple[Answer, asyncio.Future[Observation]]]
        self._submitted = asyncio.Queue()
        self._waiting: asyncio.Future[Observation] | None = None
        self._playing: asyncio.Task[SystemExit | KeyboardInterrupt | None] | None = None
        self._over = False
        self._calls: list[Call] = []

    async def act(self, observation: Observation) -> Answer:
        self.observation = observation
        if self._playing is None:
            self._playing = asyncio.ensure_future(
                catch_exits(self.play(self.episode, observation.text, self._act))
            )
        elif self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(observation)
        submitted = asyncio.ensure_future(self._submitted.get())
        try:
            await asyncio.wait({submitted, self._playing}, return_when=asyncio.FIRST_COMPLETED)
            if not submitted.done():
                ended = self._playing.result()  # raises what the framework raised
                if ended is not None:
                    raise ended
                answer = Answer(action=None, give_up=True)
            else:
                answer, self._waiting = submitted.result()
        finally:
            submitted.cancel()
        reported, self._calls = self._calls, []
        return replace(answer, calls=(*answer.calls, *reported)) if reported else answer

    def report_usage(
        self,
        usage: object,
        *,
        model: str = "",
        cost: float | None = None,
        latency_s: float | None = None,
    ) -> None:
        """Note a model call; it is recorded with the step that comes next.

        `usage` is the call's token counts as an object or mapping of any provider or framework,
        or None if they are unknown. May be called from another thread, such as a callback's.
        """
        said = {"model": model, "usage": usage, "cost": cost, "latency_s": latency_s}
        call = read_call(said)
        if call is not None:
            self._calls.append(call)

    async def submit(self, answer: Answer) -> Observation:
        """Answer the newest observation; returns the next one, or raises GameOver."""
        if self._over:
            await asyncio.sleep(0)  # a loop that goes on whatever it is told can be cancelled here
            raise GameOver("the game is over")
        following: asyncio.Future[Observation] = asyncio.get_running_loop().create_future()
        self._submitted.put_nowait((answer, following))
        return await following

    async def close(self) -> None:
        """End the framework's loop; one in a thread is told by its next call."""
        self._over = True
        pending = [self._waiting] if self._waiting is not None else []
        while not self._submitted.empty():
            pending.append(self._submitted.get_nowait()[1])
        for future in pending:
            if not future.done():
                future.set_exception(GameOver("the game is over"))
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.wait({self._playing})

    async def _act(self, command: str) -> str:
        return (await self.submit(Answer(action=command, how=How.TOOL_CALL, reply=command))).text
