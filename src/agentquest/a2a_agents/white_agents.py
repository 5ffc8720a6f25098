"""Which white agents there are, by name, and how each is made."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum

from agentquest.a2a_agents.baselines import (
    AlternatingAgent,
    KnowingAgent,
    OracleBook,
    RepetitiveAgent,
)
from agentquest.a2a_agents.llm_white import LLMWhiteAgent, model_config, wants_reasoning
from agentquest.lib import Agent, Benchmark
from agentquest.llms.model import ChatModel
from agentquest.running.assemble import make_agent


class WhiteAgentType(str, Enum):
    LLM = "llm"
    STANDARD = "standard"
    SCRIPTED = "scripted"
    ORACLE = "oracle"
    RANDOM = "random"
    REPETITIVE = "repetitive"
    ALTERNATING = "alternating"


async def _nothing() -> None:
    return None


@dataclass(frozen=True)
class WhiteSource:
    """Makes an agent for each game; `close` lets go of what they share."""

    name: str
    new_agent: Callable[[], Agent]
    close: Callable[[], Awaitable[None]] = _nothing


def white_source(kind: str, benchmark: Benchmark) -> WhiteSource:
    """One of the types above, or any agent of the evaluator by its name or `module:Class`."""
    match kind:
        case WhiteAgentType.LLM | WhiteAgentType.STANDARD:
            reasoning = wants_reasoning(os.environ)
            shared = _SharedModel()
            return WhiteSource(
                f"llm, {shared.config.model}",
                lambda: LLMWhiteAgent(shared.model(), reasoning),
                shared.close,
            )
        case WhiteAgentType.REPETITIVE:
            return WhiteSource(kind, RepetitiveAgent)
        case WhiteAgentType.ALTERNATING:
            return WhiteSource(kind, AlternatingAgent)
        case WhiteAgentType.ORACLE:
            book = OracleBook(benchmark)
            return WhiteSource(kind, lambda: KnowingAgent(book))
        case WhiteAgentType.SCRIPTED | WhiteAgentType.RANDOM:
            name = WhiteAgentType(kind).value
            return WhiteSource(name, lambda: make_agent(name, benchmark))
    return _evaluator_agent(kind, benchmark)


def _evaluator_agent(name: str, benchmark: Benchmark) -> WhiteSource:
    if name == "react":
        shared = _SharedModel()
        return WhiteSource(
            f"react, {shared.config.model}",
            lambda: make_agent(
                name, benchmark, {"model": shared.model(), "check_valid_actions": False}
            ),
            shared.close,
        )
    make_agent(name, benchmark)  # a wrong name is an error now, not in the first game
    return WhiteSource(name, lambda: make_agent(name, benchmark))


class _SharedModel:
    """One client for all games, made where the event loop is."""

    def __init__(self) -> None:
        self.config = model_config(os.environ)
        self._client: ChatModel | None = None

    def model(self) -> ChatModel:
        # Imported here, because only agents that ask a model need an HTTP client of their own.
        from agentquest.llms.openai_chat import OpenAIChat

        if self._client is None:
            self._client = OpenAIChat(self.config)
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
