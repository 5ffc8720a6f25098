"""The white agents by name, and how each is made."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from agentquest import registry
from agentquest.a2a.baselines import AlternatingAgent, KnowingAgent, OracleBook, RepetitiveAgent
from agentquest.a2a.llm_white import LLMWhiteAgent, model_settings, wants_reasoning
from agentquest.errors import UnknownName, UserError
from agentquest.lib import Agent, Benchmark, Briefing, InformedAgent
from agentquest.lib.settings import suggestion
from agentquest.llms.types import ChatModel
from agentquest.running.factory import Resources, agent_class, asks_a_model
from agentquest.running.spec import Choice, RunContext

# Settings of an evaluator's agent when it is served.
_SERVED_SETTINGS: dict[str, dict[str, Any]] = {"react": {"check_valid_actions": False}}


class WhiteAgentType(str, Enum):
    """The named white agents; `llm` and `standard` are the same."""

    LLM = "llm"
    STANDARD = "standard"
    SCRIPTED = "scripted"
    ORACLE = "oracle"
    RANDOM = "random"
    REPETITIVE = "repetitive"
    ALTERNATING = "alternating"


async def _nothing() -> None:
    return None


def _no_briefing(demonstrations: int) -> Briefing:
    return Briefing(instructions="")


@dataclass(frozen=True)
class WhiteSource:
    """Makes an agent for each game; `open` and `close` are for what they share.

    `briefing` gives the benchmark's words with so many example games, `goal_in` reads the goal
    out of a first observation; both are empty for agents that go by the message alone.
    """

    name: str
    new_agent: Callable[[], Agent]
    briefing: Callable[[int], Briefing] = _no_briefing
    goal_in: Callable[[str], str] = lambda observation: ""
    open: Callable[[], Awaitable[None]] = _nothing
    close: Callable[[], Awaitable[None]] = _nothing


def white_source(kind: str, benchmark: Benchmark) -> WhiteSource:
    """One of the types above, or any agent of the evaluator by its name or `module:Class`."""
    match kind:
        case WhiteAgentType.LLM | WhiteAgentType.STANDARD:
            return _model_source()
        case WhiteAgentType.REPETITIVE:
            return WhiteSource(kind, RepetitiveAgent)
        case WhiteAgentType.ALTERNATING:
            return WhiteSource(kind, AlternatingAgent)
        case WhiteAgentType.ORACLE:
            book = OracleBook(benchmark)
            return WhiteSource(kind, lambda: KnowingAgent(book))
    return _evaluator_source(kind, benchmark)


def _model_source() -> WhiteSource:
    """One client for all games, made where the event loop is."""
    settings, reasoning = model_settings(os.environ), wants_reasoning(os.environ)

    @cache
    def model() -> ChatModel:
        from agentquest.llms.openai_chat import OpenAIChat, OpenAISettings

        assert isinstance(settings, OpenAISettings)
        return OpenAIChat(settings)

    async def close() -> None:
        await model().close()

    return WhiteSource(
        f"llm, {settings.model}", lambda: LLMWhiteAgent(model(), reasoning), close=close
    )


def _evaluator_source(name: str, benchmark: Benchmark) -> WhiteSource:
    """An agent of the evaluator, made as the evaluator makes it."""
    known = {*registry.names("agent"), *(each.value for each in WhiteAgentType)}
    if name not in known and ":" not in name:
        raise UnknownName(f"{name!r} is not an agent; {suggestion(name, sorted(known))}")
    if issubclass(agent_class(name), InformedAgent):
        raise UserError(f"agent {name!r} needs the plan of its game, which A2A does not carry")
    settings = model_settings(os.environ) if asks_a_model(name) else None
    context = RunContext(
        run_id="",
        config_hash="",
        benchmark=Choice(benchmark.name),
        agent=Choice(name, _SERVED_SETTINGS.get(name, {})),
        model=Choice("openai", settings.model_dump()) if settings else None,
    )
    resources = Resources(context, benchmark)
    return WhiteSource(
        f"{name}, {settings.model}" if settings else name,
        resources.agent,
        lambda demonstrations: _briefing(benchmark, demonstrations),
        benchmark.goal_in,
        resources.open,
        resources.close,
    )


def _briefing(benchmark: Benchmark, demonstrations: int) -> Briefing:
    """The benchmark's words, as any of its games has them: which one is played is not known."""
    task = benchmark.tasks()[0]
    driver = benchmark.driver(task)
    driver.reset()
    return benchmark.briefing(driver, task, demonstrations)
