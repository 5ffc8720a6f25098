"""The LLM white agent: one conversation per game, configured by environment variables.

OPENAI_API_KEY, OPENAI_BASE_URL            the server; default api.openai.com
WHITE_AGENT_MODEL                          gpt-4o-mini
WHITE_AGENT_TEMPERATURE                    0.0; `none` leaves it to the server
WHITE_AGENT_REASONING                      true: think aloud, then act
WHITE_AGENT_PROMPT_PRICE, WHITE_AGENT_COMPLETION_PRICE   of a million tokens, for the cost
LITELLM_PROXY_API_KEY, LITELLM_PROXY_API_BASE   used when no OPENAI_API_KEY is set
"""

from collections.abc import Mapping

from pydantic import ValidationError

from agentquest.agents.model_calls import call_of
from agentquest.errors import ConfigError
from agentquest.lib import Agent, Answer, Observation
from agentquest.llms.config import ModelSettings
from agentquest.llms.types import ChatModel
from agentquest.records.messages import Message

OPENAI = "https://api.openai.com/v1"
_LITELLM = "http://localhost:4000/v1"
_HISTORY = 60
_MOST_TEXT = 500_000  # characters: whoever asks decides how long a game goes on
_KEYS = ("OPENAI_API_KEY", "LITELLM_PROXY_API_KEY")

ACT = "You play a text game. Answer with exactly one of the available actions and nothing else."
THINK = (
    "You play a text game. Think briefly about the goal, what you know and what is missing, then"
    " end your answer with one line `Action: <action>`, with exactly one of the available actions."
)


def has_key(environment: Mapping[str, str]) -> bool:
    """Whether one of the variables that can hold the model's key is set."""
    return any(environment.get(name, "").strip() for name in _KEYS)


def model_settings(environment: Mapping[str, str]) -> ModelSettings:
    """The model that the environment variables describe."""
    # Imported here, because only agents that ask a model need an HTTP client of their own.
    from agentquest.llms.openai_chat import OpenAISettings

    key, url = _KEYS[0], environment.get("OPENAI_BASE_URL", "").strip() or OPENAI
    if not environment.get(key, "").strip():
        key = _KEYS[1]
        url = environment.get("LITELLM_PROXY_API_BASE", "").strip() or _LITELLM
    if not environment.get(key, "").strip():
        raise ConfigError(
            "OPENAI_API_KEY is not set: set it, or choose --white-agent-type scripted"
        )
    temperature = environment.get("WHITE_AGENT_TEMPERATURE", "").strip() or "0.0"
    named = "WHITE_AGENT_TEMPERATURE"
    try:
        return OpenAISettings(
            model=environment.get("WHITE_AGENT_MODEL", "").strip() or "gpt-4o-mini",
            base_url=url,
            api_key_env=key,
            temperature=None if temperature.lower() == "none" else _number(named, temperature),
            max_tokens=None,
            price_per_million_prompt=_price(environment, "WHITE_AGENT_PROMPT_PRICE"),
            price_per_million_completion=_price(environment, "WHITE_AGENT_COMPLETION_PRICE"),
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = _VARIABLES.get(str(first["loc"][0]) if first["loc"] else "", "the environment")
        raise ConfigError(f"{where}: {first['msg']}") from None


_VARIABLES = {
    "base_url": "OPENAI_BASE_URL",
    "temperature": "WHITE_AGENT_TEMPERATURE",
    "model": "WHITE_AGENT_MODEL",
    "price_per_million_prompt": "WHITE_AGENT_PROMPT_PRICE",
    "price_per_million_completion": "WHITE_AGENT_COMPLETION_PRICE",
}


def wants_reasoning(environment: Mapping[str, str]) -> bool:
    """Whether the model thinks aloud first; yes, unless WHITE_AGENT_REASONING says no.

    Raises ConfigError for a word that is neither yes nor no.
    """
    word = environment.get("WHITE_AGENT_REASONING", "").strip().lower() or "true"
    if word in ("true", "1", "yes", "on"):
        return True
    if word in ("false", "0", "no", "off"):
        return False
    raise ConfigError(f"WHITE_AGENT_REASONING must be true or false, not {word!r}")


class LLMWhiteAgent(Agent):
    """Shows the model what the green agent sent, and sends back what the model says."""

    def __init__(self, model: ChatModel, reasoning: bool = True) -> None:
        self._model = model
        self._turns: list[Message] = []
        self._system = Message(role="system", content=THINK if reasoning else ACT)

    async def act(self, observation: Observation) -> Answer:
        self._remember(Message(role="user", content=_turn(observation)))
        reply = await self._model.complete([self._system, *self._turns])
        self._remember(Message(role="assistant", content=reply.text))
        calls = (call_of(self._model, reply),)
        return Answer(action=None, how="llm", reply=reply.text, calls=calls)

    def _remember(self, message: Message) -> None:
        """The first turn holds the task; of the others the newest matter, and fit."""
        self._turns.append(message)
        while len(self._turns) > 2 and (
            len(self._turns) > _HISTORY + 1 or sum(len(t.content) for t in self._turns) > _MOST_TEXT
        ):
            del self._turns[1]


def _turn(observation: Observation) -> str:
    options = "\n".join(f"{n}. {command}" for n, command in enumerate(observation.admissible, 1))
    return f"{observation.text}\n\nAvailable actions:\n{options}"


def _price(environment: Mapping[str, str], name: str) -> float | None:
    text = environment.get(name, "").strip()
    return _number(name, text) if text else None


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{name} must be a number, not {text!r}") from None
