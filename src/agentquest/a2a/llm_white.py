"""The LLM agent that is assessed over A2A, and its model.

It needs no server: `launch` asks the model before it starts one.

Environment variables configure both:

OPENAI_API_KEY, OPENAI_BASE_URL            the server; default api.openai.com
API_KEY, API_BASE_URL                      any other server; used first
WHITE_AGENT_MODEL                          gpt-4o-mini
WHITE_AGENT_TEMPERATURE                    0.0; `none` leaves it to the server
WHITE_AGENT_REASONING                      true: think aloud, then act
WHITE_AGENT_PROMPT_PRICE, WHITE_AGENT_COMPLETION_PRICE   of a million tokens, for the cost
LITELLM_PROXY_API_KEY, LITELLM_PROXY_API_BASE   used when no OPENAI_API_KEY is set
"""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import ValidationError

from agentquest import registry
from agentquest.a2a import limits
from agentquest.agents.chat_history import record_call
from agentquest.errors import ConfigError, UnknownName, UserError
from agentquest.lib import Agent, Answer, InformedAgent, Observation, Settings
from agentquest.lib.settings import in_words, suggestion
from agentquest.llms.config import SERVICES, ModelSettings, Service
from agentquest.llms.failures import ModelFailure
from agentquest.llms.types import ChatModel
from agentquest.records.messages import Message
from agentquest.running.factory import agent_class, agent_settings, asks_a_model, refuse_caller

LLM = ("llm", "standard")
ORACLE, REPETITIVE, ALTERNATING = "oracle", "repetitive", "alternating"
# White agents that the evaluator does not have, or that play differently over A2A.
OWN = (*LLM, ORACLE, REPETITIVE, ALTERNATING)
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
        numbered = (f"{n}. {command}" for n, command in enumerate(observation.admissible, 1))
        options = "\n".join(numbered)
        told = f"{observation.text}\n\nAvailable actions:\n{options}"
        self._remember(Message(role="user", content=told))
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


def needs_model(kind: str) -> bool:
    """Whether a white agent of this kind asks a model. Raises UserError where there is no such
    agent, or it cannot play over A2A."""
    if kind in OWN:
        return kind in LLM
    known = {*registry.names("agent"), *OWN}
    if kind not in known and ":" not in kind:
        raise UnknownName(f"{kind!r} is not an agent; {suggestion(kind, sorted(known))}")
    if issubclass(agent_class(kind), InformedAgent):
        raise UserError(f"agent {kind!r} needs the plan of its game, which A2A does not carry")
    refuse_caller(kind)
    agent_settings(kind, {})  # raises where it cannot play without settings of its own
    return asks_a_model(kind)


def find_service(environment: Mapping[str, str]) -> Service | None:
    """The model's server that the environment names with its key."""
    for service in SERVICES:
        if environment.get(service.key, "").strip() and service.find_address(environment):
            return service
    return None


def read_model_settings(environment: Mapping[str, str]) -> ModelSettings:
    """The model that the environment variables describe."""
    # Imported here, because only agents that ask a model need an HTTP client of their own.
    from agentquest.llms.openai_chat import OpenAISettings

    def read(variable: str, default: str) -> str | None:
        text = environment.get(variable, "").strip() or default
        return None if text.lower() == "none" else text

    service = find_service(environment)
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
        service = find_service(environment)
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
