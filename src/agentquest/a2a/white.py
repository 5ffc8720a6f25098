"""White agents: the LLM agent, baselines, and any agent of the evaluator, answering over A2A.

A context is one game. Its agent lives from one first message to the next; idle
contexts are forgotten, so that a server can run for ever. Two turns of one
context wait for each other, because the SDK runs them at once.

The LLM agent is configured by environment variables:

OPENAI_API_KEY, OPENAI_BASE_URL            the server; default api.openai.com
API_KEY, API_BASE_URL                      any other server; used first
WHITE_AGENT_MODEL                          gpt-4o-mini
WHITE_AGENT_TEMPERATURE                    0.0; `none` leaves it to the server
WHITE_AGENT_REASONING                      true: think aloud, then act
WHITE_AGENT_PROMPT_PRICE, WHITE_AGENT_COMPLETION_PRICE   of a million tokens, for the cost
LITELLM_PROXY_API_KEY, LITELLM_PROXY_API_BASE   used when no OPENAI_API_KEY is set
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.types import AgentCard, AgentSkill
from pydantic import ValidationError

from agentquest import registry
from agentquest.a2a import limits, new_agent_text_message
from agentquest.a2a.messages import ParsedMessage, read_message, write_usage
from agentquest.a2a.serving import build_card
from agentquest.agents.chat_history import record_call
from agentquest.errors import ConfigError, UnknownName, UserError
from agentquest.http.sessions import SessionStore, Stage
from agentquest.lib import (
    Agent,
    Answer,
    Benchmark,
    Briefing,
    Driver,
    Episode,
    InformedAgent,
    Observation,
    Oracle,
    Settings,
    Task,
)
from agentquest.lib.settings import in_words, suggestion
from agentquest.llms.config import SERVICES, ModelSettings, Service
from agentquest.llms.failures import ModelFailure
from agentquest.llms.types import ChatModel
from agentquest.records.messages import Message
from agentquest.running.factory import Resources, agent_class, asks_a_model
from agentquest.running.selection import episode_seed
from agentquest.running.spec import Choice, RunContext

# Settings of an evaluator's agent when it is served.
_SERVED_SETTINGS: dict[str, dict[str, Any]] = {"react": {"check_valid_actions": False}}
# What the agents behind our baselines say when there is nothing to choose from.
_NO_OPTION = "go to kitchen"

# The settings of the model beside its server, each with its variable and its default.
_VARIABLES = {
    "model": ("WHITE_AGENT_MODEL", "gpt-4o-mini"),
    "temperature": ("WHITE_AGENT_TEMPERATURE", "0.0"),
    "price_per_million_prompt": ("WHITE_AGENT_PROMPT_PRICE", "none"),
    "price_per_million_completion": ("WHITE_AGENT_COMPLETION_PRICE", "none"),
}
ACT = "You play a text game. Answer with exactly one of the available actions and nothing else."
THINK = (
    "You play a text game. Think briefly about the goal, what you know and what is missing, then"
    " end your answer with one line `Action: <action>`, with exactly one of the available actions."
)


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

    def __init__(
        self,
        source: WhiteSource,
        seed: int = 42,
        max_contexts: int = limits.MAX_CONTEXTS,
        idle_s: float = limits.CONTEXT_IDLE_S,
    ) -> None:
        self._source = source
        self._seed = seed
        self._contexts: SessionStore[str, _Context] = SessionStore(max_contexts, idle_s)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        context_id = context.context_id or ""
        heard = read_message(context.get_user_input())
        game = await self._find_game(context_id, heard, context.call_context.user.user_name)
        # An exception of the agent fails the request: the agent under test has crashed.
        async with game.lock:
            self._contexts.mark(context_id, Stage.BUSY)
            try:
                answer = await self._answer(game, heard)
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
        ended += self._contexts.add(context_id, game, connection=client)
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
    if kind in _LLM:
        model = read_model_settings(os.environ)
        agent = Choice(
            f"{__name__}:{LLMWhiteAgent.__name__}", {"reasoning": wants_reasoning(os.environ)}
        )
        resources = _make_resources(agent, model, benchmark)
        return WhiteSource(f"llm, {model.model}", resources.agent, resources, model=model.model)
    if kind in _BASELINES:
        return WhiteSource(kind, _BASELINES[kind])
    if kind == _ORACLE:
        index = OpeningIndex(benchmark)
        return WhiteSource(kind, lambda: RecognisingOracle(index))
    return _make_evaluator_source(kind, benchmark)


def _make_evaluator_source(name: str, benchmark: Benchmark) -> WhiteSource:
    """An agent of the evaluator, made as the evaluator makes it."""
    known = {*registry.names("agent"), *_LLM, *_BASELINES, _ORACLE}
    if name not in known and ":" not in name:
        raise UnknownName(f"{name!r} is not an agent; {suggestion(name, sorted(known))}")
    if issubclass(agent_class(name), InformedAgent):
        raise UserError(f"agent {name!r} needs the plan of its game, which A2A does not carry")
    model = read_model_settings(os.environ) if asks_a_model(name) else None
    agent = Choice(name, _SERVED_SETTINGS.get(name, {}))
    resources = _make_resources(agent, model, benchmark)
    shown = f"{name}, {model.model}" if model else name
    asked = model.model if model else None
    return WhiteSource(shown, resources.agent, resources, benchmark, asked)


def _make_resources(agent: Choice, model: ModelSettings | None, benchmark: Benchmark) -> Resources:
    context = RunContext(
        run_id="",
        config_hash="",
        benchmark=Choice(benchmark.name),
        agent=agent,
        model=Choice("openai", model.model_dump()) if model else None,
    )
    return Resources(context, benchmark)


class RepetitiveAgent(Agent):
    """Always chooses the first option."""

    async def act(self, observation: Observation) -> Answer:
        return Answer(action=_choose_option(observation.admissible, 0))


class AlternatingAgent(Agent):
    """Chooses the first option, then the second, then the first again."""

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._turn = 0

    async def act(self, observation: Observation) -> Answer:
        chosen = _choose_option(observation.admissible, self._turn % 2)
        self._turn += 1
        return Answer(action=chosen)


def _choose_option(admissible: Sequence[str], position: int) -> str:
    if not admissible:
        return _NO_OPTION
    return admissible[position] if position < len(admissible) else admissible[0]


_LLM = ("llm", "standard")
_BASELINES = {"repetitive": RepetitiveAgent, "alternating": AlternatingAgent}
_ORACLE = "oracle"


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
        self._last = plan[0] if plan else _choose_option(observation.admissible, 0)
        return Answer(action=self._last)


class LLMWhiteSettings(Settings):
    """How the model is asked."""

    reasoning: bool = True
    """Think aloud, then act."""


class LLMWhiteAgent(Agent):
    """Shows the model what the green agent sent, and sends back what the model says."""

    Settings: ClassVar[type[Settings]] = LLMWhiteSettings

    def __init__(self, settings: LLMWhiteSettings, model: ChatModel) -> None:
        self._model = model
        self._turns: list[Message] = []
        self._system = Message(role="system", content=THINK if settings.reasoning else ACT)

    async def act(self, observation: Observation) -> Answer:
        self._remember(Message(role="user", content=_describe_turn(observation)))
        reply = await self._model.complete([self._system, *self._turns])
        self._remember(Message(role="assistant", content=reply.text))
        calls = (record_call(self._model, reply),)
        return Answer(action=None, reply=reply.text, calls=calls)

    def _remember(self, message: Message) -> None:
        """Keep the first turn, which holds the task, and as many of the newest as fit."""
        self._turns.append(message)
        while len(self._turns) > 2 and (
            len(self._turns) > limits.MAX_MESSAGES + 1
            or sum(len(turn.content) for turn in self._turns) > limits.MAX_PROMPT_CHARACTERS
        ):
            del self._turns[1]


def _describe_turn(observation: Observation) -> str:
    options = "\n".join(f"{n}. {command}" for n, command in enumerate(observation.admissible, 1))
    return f"{observation.text}\n\nAvailable actions:\n{options}"


def has_key(environment: Mapping[str, str]) -> bool:
    """Whether the environment names a model's server and its key."""
    return _find_service(environment) is not None


def _find_service(environment: Mapping[str, str]) -> Service | None:
    return next(
        (
            service
            for service in SERVICES
            if environment.get(service.key, "").strip() and service.find_address(environment)
        ),
        None,
    )


def read_model_settings(environment: Mapping[str, str]) -> ModelSettings:
    """The model that the environment variables describe."""
    # Imported here, because only agents that ask a model need an HTTP client of their own.
    from agentquest.llms.openai_chat import OpenAISettings

    def read(variable: str, default: str) -> str | None:
        text = environment.get(variable, "").strip() or default
        return None if text.lower() == "none" else text

    service = _find_service(environment)
    if service is None:
        raise ConfigError(
            "OPENAI_API_KEY is not set: set it, or choose --white-agent-type scripted"
        )
    variables = {**_VARIABLES, "base_url": (service.address, service.default)}
    try:
        return OpenAISettings.model_validate(
            {
                "api_key_env": service.key,
                "max_tokens": None,
                **{name: read(*variable) for name, variable in variables.items()},
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = variables[str(first["loc"][0])][0] if first["loc"] else "the environment"
        raise ConfigError(f"{where}: {in_words(first['msg'])}") from None


async def try_model(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Ask the LLM agent's model one small thing, so that a wrong key is found before a game.

    Returns what is worth knowing, or raises an error of one line.
    """
    from agentquest.llms.openai_chat import OpenAIChat

    model = OpenAIChat(read_model_settings(environment))
    try:
        return await model.preflight()
    except ModelFailure as failure:
        service = _find_service(environment)
        said = str(failure).replace("llm.base_url", service.address if service else "its address")
        raise UserError(f"the white agent's model cannot be used: {said}") from None
    finally:
        await model.close()


def wants_reasoning(environment: Mapping[str, str]) -> bool:
    """Whether the model thinks aloud first: yes, unless WHITE_AGENT_REASONING says no."""
    word = environment.get("WHITE_AGENT_REASONING", "").strip().lower() or "true"
    try:
        return LLMWhiteSettings.model_validate({"reasoning": word}).reasoning
    except ValidationError:
        raise ConfigError(f"WHITE_AGENT_REASONING must be true or false, not {word!r}") from None
