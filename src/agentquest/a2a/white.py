"""White agents: the LLM agent, baselines, and any agent of the evaluator, answering over A2A.

A context is one game. Its agent lives from one first message to the next; idle
contexts are forgotten, so that a server can run for ever. Two turns of one
context wait for each other, because the SDK runs them at once.
"""

import asyncio
import itertools
import logging
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.types import AgentCard, AgentSkill
from a2a.utils.errors import InternalError

from agentquest.a2a import limits, new_agent_text_message
from agentquest.a2a.llm_white import (
    ALTERNATING,
    LLM,
    ORACLE,
    REPETITIVE,
    LLMWhiteAgent,
    needs_model,
    read_model_settings,
    wants_reasoning,
)
from agentquest.a2a.messages import ParsedMessage, read_message, write_usage
from agentquest.a2a.serving import build_card, machine_of
from agentquest.errors import UserError
from agentquest.http.sessions import SessionStore, Stage
from agentquest.lib import (
    Agent,
    Answer,
    Benchmark,
    Briefing,
    Driver,
    Episode,
    Observation,
    Oracle,
    Task,
)
from agentquest.running.crashes import describe_crash
from agentquest.running.factory import Resources
from agentquest.running.selection import episode_seed
from agentquest.running.spec import Choice, RunContext

_log = logging.getLogger(__name__)
# Settings of an evaluator's agent when it is served.
_SERVED_SETTINGS: dict[str, dict[str, Any]] = {"react": {"check_valid_actions": False}}
# What the agents behind our baselines say when there is nothing to choose from.
_NO_OPTION = "go to kitchen"


def white_card(source: "WhiteSource", url: str, launch_id: str | None = None) -> AgentCard:
    """The card of a white agent."""
    return build_card(
        f"AgentQuest white agent ({source.name})",
        "Plays text games: reads an observation and a list of actions, answers with one action.",
        AgentSkill(
            id="play",
            name="Play text games",
            description="Chooses one of the available actions, one turn at a time.",
            tags=["white agent", "purple agent", "games"],
            examples=["Available actions (choose one):\n  1. go to desk 1"],
        ),
        url,
        launch_id,
        source.model,
    )


@dataclass(frozen=True)
class WhiteSource:
    """Makes an agent for each game; `resources` are what the agents share.

    Agents of the evaluator are told the instructions and the goal of their `benchmark`; others
    read only the message.
    """

    name: str
    new_agent: Callable[[], Agent]
    resources: Resources | None = None
    benchmark: Benchmark | None = None
    model: str | None = None

    def goal_in(self, opening: str) -> str:
        """The goal that a first observation names."""
        return self.benchmark.goal_in(opening) if self.benchmark else ""

    def briefing(self, demonstrations: int) -> Briefing:
        """The briefing of any game, because nobody knows which one is played."""
        if self.benchmark is None:
            return Briefing(instructions="")
        task = self.benchmark.tasks()[0]
        driver = self.benchmark.driver(task)
        driver.reset()
        return self.benchmark.briefing(driver, task, demonstrations)


@dataclass
class _Context:
    """One game that is being played."""

    agent: Agent
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    begun: bool = False


class WhiteExecutor(AgentExecutor):
    """Answers for the A2A server: each context is a game with its own agent."""

    def __init__(self, source: WhiteSource, seed: int = 42) -> None:
        self._source = source
        self._seed = seed
        self._contexts = SessionStore[str, _Context](limits.MAX_CONTEXTS, limits.CONTEXT_IDLE_S)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        context_id = context.context_id or ""
        heard = read_message(context.get_user_input())
        game = await self._find_game(context_id, heard, context.call_context.user.user_name)
        async with game.lock:
            self._contexts.mark(context_id, Stage.BUSY)
            try:
                answer = await self._answer(game, heard)
            except Exception as error:
                crash = describe_crash(error)
                _log.error("the agent crashed: %s\n%s", crash.message, crash.traceback)
                raise InternalError(crash.message) from None
            finally:
                self._contexts.mark(context_id, Stage.IN_USE)
        text = answer.action if answer.action is not None else answer.reply
        message = new_agent_text_message(text, context_id=context_id)
        message.metadata.update(write_usage(answer.calls))
        await event_queue.enqueue_event(message)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Forget the game; a turn is over as soon as it is answered."""
        game = self._contexts.remove(context.context_id or "")
        if game is not None:
            await game.agent.close()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Open what the agents share; at the end close it, and all agents."""
        resources = self._source.resources
        if resources is not None:
            await resources.open()
        yield
        for game in self._contexts.clear():
            await game.agent.close()
        if resources is not None:
            await resources.close()

    async def _find_game(self, context_id: str, heard: ParsedMessage, client: str) -> _Context:
        """The game of a context; a first message begins a new one.

        A client that begins many pushes out its own, not those of others.
        """
        game = self._contexts.get(context_id)
        if game is not None and not (heard.first and game.begun):
            return game
        ended = [] if game is None else [game]
        game = _Context(self._source.new_agent())
        ended += self._contexts.add(context_id, game, machine_of(client), client)
        for one in ended:
            await one.agent.close()
        return game

    async def _answer(self, game: _Context, heard: ParsedMessage) -> Answer:
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
        """What the first message of a game says about it."""
        demonstrations = agent.demonstrations_wanted
        return Episode(
            benchmark="",
            goal=self._source.goal_in(heard.observation),
            task_type="",
            max_steps=0,
            # Nobody says which game it is; its opening gives each one a stream of its own.
            seed=episode_seed(self._seed, heard.observation, 0),
            briefing=await asyncio.to_thread(self._source.briefing, demonstrations),
        )


def make_source(kind: str, benchmark: Benchmark) -> WhiteSource:
    """One of the white agents by its name, or any agent of the evaluator by name or path."""
    wants_model = needs_model(kind)
    if kind in _BASELINES:
        return WhiteSource(kind, _BASELINES[kind])
    if kind == ORACLE:
        index = OpeningIndex(benchmark)
        return WhiteSource(kind, lambda: RecognisingOracle(index))
    if kind in LLM:
        path = f"{LLMWhiteAgent.__module__}:{LLMWhiteAgent.__name__}"
        agent, name, told = Choice(path, {"reasoning": wants_reasoning(os.environ)}), "llm", None
    else:
        agent, name, told = Choice(kind, _SERVED_SETTINGS.get(kind, {})), kind, benchmark
    model = read_model_settings(os.environ) if wants_model else None
    context = RunContext(
        run_id="",
        config_hash="",
        benchmark=Choice(benchmark.name),
        agent=agent,
        model=Choice("openai", model.model_dump()) if model else None,
    )
    resources = Resources(context, benchmark)
    if model is None:
        return WhiteSource(name, resources.agent, resources, told)
    return WhiteSource(f"{name}, {model.model}", resources.agent, resources, told, model.model)


class CyclingAgent(Agent):
    """Chooses the first options in turn, as many of them as it is told."""

    def __init__(self, options: int) -> None:
        self._turns = itertools.cycle(range(options))

    async def act(self, observation: Observation) -> Answer:
        return Answer(action=_choose_option(observation.admissible, next(self._turns)))


def _choose_option(admissible: Sequence[str], position: int = 0) -> str:
    if not admissible:
        return _NO_OPTION
    return admissible[position] if position < len(admissible) else admissible[0]


_BASELINES = {REPETITIVE: partial(CyclingAgent, 1), ALTERNATING: partial(CyclingAgent, 2)}


@dataclass(frozen=True)
class _KnownGame:
    """Our own copy of a game, and the oracle that knows how to win it."""

    driver: Driver
    oracle: Oracle

    def answers(self, command: str, text: str) -> bool:
        """Play the command, and compare the answer with that of the game being played."""
        return self.driver.step(self.driver.action_class(value=command)).text == text


class OpeningIndex:
    """The games of a split by their first observation; read when it is first asked."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._by_opening: dict[str, list[Task]] | None = None
        self._lock = asyncio.Lock()

    async def find(self, opening: str) -> list[_KnownGame]:
        """New copies of all games that begin with this text."""
        async with self._lock:
            if self._by_opening is None:
                self._by_opening = await asyncio.to_thread(self._read)
        return [self._start(task) for task in self._by_opening.get(opening, [])]

    def _read(self) -> dict[str, list[Task]]:
        found: dict[str, list[Task]] = {}
        for task in self._benchmark.tasks():
            found.setdefault(self._benchmark.driver(task).reset().text, []).append(task)
        return found

    def _start(self, task: Task) -> _KnownGame:
        driver = self._benchmark.driver(task)
        driver.reset()
        oracle = self._benchmark.oracle(driver)
        if oracle is None:
            raise UserError(f"{self._benchmark.title} has no oracle")
        return _KnownGame(driver, oracle)


class RecognisingOracle(Agent):
    """Plays the shortest plan of a game that it recognises by what it is shown.

    Several games can begin alike; those that answer differently from the game being played
    are dropped on the way.
    """

    def __init__(self, index: OpeningIndex) -> None:
        self._index = index
        self._games: list[_KnownGame] = []
        self._last: str | None = None

    async def act(self, observation: Observation) -> Answer:
        if self._last is None:
            self._games = await self._index.find(observation.text)
        else:
            last = self._last
            self._games = [game for game in self._games if game.answers(last, observation.text)]
        if not self._games:
            return Answer(action=None, reply="I do not know this game.")
        plan = self._games[0].oracle.plan()
        self._last = plan[0] if plan else _choose_option(observation.admissible)
        return Answer(action=self._last)
