"""White agents: any agent of the evaluator, answering over A2A.

A context is one game. Its agent lives from the first message to the next first
message; contexts that fall silent are forgotten, so that a server can run for
ever. Two turns of one context wait for each other, as the SDK runs them at once.
"""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass, field

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue

from agentquest.a2a import new_agent_text_message
from agentquest.a2a.messages import ParsedMessage, read_message
from agentquest.a2a.usage import usage_metadata
from agentquest.a2a.white_agents import WhiteSource
from agentquest.lib import Agent, Answer, Episode, Observation

MAX_CONTEXTS = 256
_SILENT_S = 3600.0


@dataclass
class _Game:
    agent: Agent
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    begun: bool = False
    heard_at: float = field(default_factory=time.monotonic)


class WhiteExecutor(AgentExecutor):
    """Answers for the A2A server: each context is a game with an agent of its own."""

    def __init__(
        self,
        source: WhiteSource,
        seed: int = 42,
        max_contexts: int = MAX_CONTEXTS,
        silent_s: float = _SILENT_S,
    ) -> None:
        self._source = source
        self._seed = seed
        self._max_contexts = max_contexts
        self._silent_s = silent_s
        self._games: OrderedDict[str, _Game] = OrderedDict()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        context_id = context.context_id or ""
        heard = read_message(context.get_user_input())
        game = self._game(context_id, heard)
        await self._forget()
        # What an agent raises fails the request: the agent under test has crashed.
        async with game.lock:
            answer = await self._answer(game, heard)
        text = answer.action if answer.action is not None else answer.reply
        message = new_agent_text_message(text, context_id=context_id)
        message.metadata.update(usage_metadata(answer.calls))
        await event_queue.enqueue_event(message)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """A turn is over as soon as it is answered; there is nothing to cancel."""
        game = self._games.pop(context.context_id or "", None)
        if game is not None:
            await game.agent.close()

    async def open(self) -> None:
        """Open what the agents share; when the server starts."""
        await self._source.open()

    async def close(self) -> None:
        """Let go of everything; when the server stops."""
        while self._games:
            _, game = self._games.popitem()
            await game.agent.close()
        await self._source.close()

    @property
    def contexts(self) -> int:
        """How many games are remembered."""
        return len(self._games)

    def _game(self, context_id: str, heard: ParsedMessage) -> _Game:
        game = self._games.get(context_id)
        if game is None or (heard.first and game.begun):
            game = self._games[context_id] = _Game(self._source.new_agent())
        game.heard_at = time.monotonic()
        self._games.move_to_end(context_id)
        return game

    async def _forget(self) -> None:
        """Drop the least recently used games when they are idle or too many."""
        silent_since = time.monotonic() - self._silent_s
        while len(self._games) > 1:
            oldest = next(iter(self._games.values()))
            if len(self._games) <= self._max_contexts and oldest.heard_at > silent_since:
                return
            self._games.popitem(last=False)
            await oldest.agent.close()

    async def _answer(self, game: _Game, heard: ParsedMessage) -> Answer:
        if not game.begun:
            game.begun = True
            await game.agent.begin(await self._episode(game.agent, heard))
        observation = Observation(
            output=heard.observation,
            success=False,
            can_proceed=True,
            text=heard.observation,
            admissible=heard.admissible,
        )
        return await game.agent.act(observation)

    async def _episode(self, agent: Agent, heard: ParsedMessage) -> Episode:
        """What can be known of a game from its first message."""
        wanted = agent.demonstrations_wanted
        return Episode(
            benchmark="",
            goal=self._source.goal_in(heard.observation),
            task_type="",
            max_steps=0,
            seed=self._seed,
            briefing=await asyncio.to_thread(self._source.briefing, wanted),
        )
