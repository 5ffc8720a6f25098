"""White agents: any agent of the evaluator, answering over A2A.

A context is one game. Its agent lives from the first message to the next first
message; contexts that fall silent are forgotten, so that a server can run for
ever. Two turns of one context wait for each other, as the SDK runs them at once.
"""

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue

from agentquest.a2a_agents import new_agent_text_message
from agentquest.a2a_agents.blindfold import Blindfold
from agentquest.a2a_agents.messages import Heard, read_message
from agentquest.lib import Agent, Episode, Observation, Task

MAX_CONTEXTS = 1024
_SILENT_S = 3600.0
_TASK = "Your task is to: "


@dataclass
class _Game:
    agent: Agent
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    begun: bool = False
    heard_at: float = field(default_factory=time.monotonic)


class WhiteExecutor(AgentExecutor):
    def __init__(
        self,
        new_agent: Callable[[], Agent],
        seed: int = 42,
        max_contexts: int = MAX_CONTEXTS,
        silent_s: float = _SILENT_S,
    ) -> None:
        self._new_agent = new_agent
        self._seed = seed
        self._max_contexts = max_contexts
        self._silent_s = silent_s
        self._games: OrderedDict[str, _Game] = OrderedDict()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        context_id = context.context_id or ""
        heard = read_message(context.get_user_input())
        game = self._game(context_id, heard)
        await self._forget()
        # What an agent raises fails the request, so that the game is owed and not lost.
        async with game.lock:
            reply = await self._answer(game, heard)
        await event_queue.enqueue_event(new_agent_text_message(reply, context_id=context_id))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """A turn is over as soon as it is answered; there is nothing to cancel."""
        game = self._games.pop(context.context_id or "", None)
        if game is not None:
            await game.agent.close()

    async def aclose(self) -> None:
        """Let go of everything; for when the server stops."""
        while self._games:
            _, game = self._games.popitem()
            await game.agent.close()

    @property
    def contexts(self) -> int:
        return len(self._games)

    def _game(self, context_id: str, heard: Heard) -> _Game:
        game = self._games.get(context_id)
        if game is None or (heard.first and game.begun):
            game = self._games[context_id] = _Game(self._new_agent())
        game.heard_at = time.monotonic()
        self._games.move_to_end(context_id)
        return game

    async def _forget(self) -> None:
        """Let go of the games heard of longest ago, when they are silent or too many."""
        silent_since = time.monotonic() - self._silent_s
        while len(self._games) > 1:
            oldest = next(iter(self._games.values()))
            if len(self._games) <= self._max_contexts and oldest.heard_at > silent_since:
                return
            self._games.popitem(last=False)
            await oldest.agent.close()

    async def _answer(self, game: _Game, heard: Heard) -> str:
        if not game.begun:
            game.begun = True
            await game.agent.begin(self._episode(heard))
        observation = Observation(
            output=heard.observation,
            success=False,
            can_proceed=True,
            text=heard.observation,
            admissible=heard.admissible,
        )
        answer = await game.agent.act(observation)
        return answer.action if answer.action is not None else answer.reply

    def _episode(self, heard: Heard) -> Episode:
        """What can be known of a game from its first message; equal games have equal ids."""
        name = hashlib.sha256(heard.observation.encode()).hexdigest()[:16]
        _, _, goal = heard.observation.partition(_TASK)
        return Episode(
            task=Task(id=name, task_type="", split="", problem=""),
            goal=goal.partition("\n")[0].strip().removesuffix("."),
            dialect="0.4",
            max_steps=0,
            seed=self._seed,
            driver=Blindfold(),
        )
