"""What the rest of AgentQuest knows of a chat model, and how one is configured.

`ChatModel` says nothing of HTTP: a scripted model answers through it as well.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from agentquest.errors import ConfigError
from agentquest.llms.accounting import Price
from agentquest.llms.messages import ChatMessage, Reply
from agentquest.llms.retry import RetryPolicy

_ENDPOINT = "/chat/completions"
_OWN_FIELDS = ("model", "messages", "temperature", "max_tokens", "top_p", "stop", "seed")


class ChatModel(Protocol):
    """Answers a conversation."""

    @property
    def name(self) -> str:
        """The model's name, as records show it."""
        ...

    async def complete(self, messages: Sequence[ChatMessage], *, seed: int | None = None) -> Reply:
        """The model's next turn; `seed` goes before the configured one.

        Raises a subclass of `ModelError` when there is no answer to be had.
        """
        ...

    async def close(self) -> None:
        """Let go of connections. Closing twice is harmless."""
        ...


class ModelConfig(BaseModel):
    """One chat model behind an OpenAI-compatible server."""

    # A mistyped field may hold a key, so errors do not show what was given.
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
        allow_inf_nan=False,
    )

    model: str = Field(min_length=1)
    """Name of the model, as its server knows it."""

    base_url: str = "http://127.0.0.1:8000/v1"
    """Where the API lives, without `/chat/completions`. The default is a local vLLM."""

    api_key_env: str | None = None
    """Environment variable that holds the key. Without one, no key is sent."""

    api_key: SecretStr | None = Field(default=None, exclude=True, repr=False)
    """The key itself; `api_key_env` is safer, as this stands in a file. Never written out."""

    temperature: float | None = Field(default=0.3, ge=0.0, le=2.0)
    """Sampling temperature; null leaves it to the server."""

    max_tokens: int | None = Field(default=8192, ge=1)
    """Longest reply in tokens, reasoning included. For servers that insist on
    `max_completion_tokens`, set this to null and that one in `extra_body`."""

    top_p: float | None = Field(default=None, gt=0.0, le=1.0)
    """Nucleus sampling; null leaves it to the server."""

    stop: tuple[str, ...] = Field(default=(), max_length=16)
    """Texts that end the reply."""

    seed: int | None = None
    """Sampling seed, where the server knows one."""

    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of the request, sent as they are."""

    enable_thinking: bool | None = None
    """Switches reasoning of hybrid models on or off, as a `chat_template_kwargs`
    entry (vLLM, SGLang, llama.cpp); null sends nothing."""

    timeout_s: float = Field(default=300.0, gt=0.0)
    """Longest time for one request."""

    max_retries: int = Field(default=8, ge=0)
    """Further tries after the first, for failures that can pass."""

    wait_interval: float = Field(default=1.0, ge=0.0)
    """Seconds of the first wait; each further one may be twice as long, up to a minute."""

    deadline_s: float = Field(default=1800.0, gt=0.0)
    """Longest time for a call with all its tries and waits. Waiting for the
    limits below is not counted."""

    requests_per_minute: int | None = Field(default=None, ge=1)
    """Requests sent in any minute at most."""

    tokens_per_minute: int | None = Field(default=None, ge=1)
    """Tokens used in any minute at most, as far as they can be foreseen."""

    max_concurrency: int = Field(default=256, ge=1)
    """Requests in flight at most; fewer for a while after the server says 429."""

    max_response_bytes: int = Field(default=16 * 1024 * 1024, ge=1024)
    """A longer response is taken for a fault of the server."""

    price_per_million_prompt: float | None = Field(default=None, ge=0.0)
    """Price of a million prompt tokens."""

    price_per_million_completion: float | None = Field(default=None, ge=0.0)
    """Price of a million completion tokens."""

    cache_dir: Path | None = None
    """Folder of replies to reuse, for re-runs that cost nothing. An equal
    request gets an equal reply, so give repeated trials different seeds."""

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, value: str) -> str:
        value = value.rstrip("/")
        try:
            parts = urlsplit(value)
            valid = parts.scheme in ("http", "https") and bool(parts.hostname)
            valid = valid and (parts.port is None or parts.port > 0)
        except ValueError:
            valid = False
        if not valid:
            raise ValueError("must be an address like https://host/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("must hold no user, password, query or fragment; see api_key_env")
        if value.endswith(_ENDPOINT):
            raise ValueError(f"must be given without {_ENDPOINT}")
        return value

    @field_validator("stop", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("extra_body")
    @classmethod
    def _no_own_fields(cls, value: dict[str, Any]) -> dict[str, Any]:
        clash = [name for name in (*_OWN_FIELDS, "stream") if name in value]
        if clash:
            raise ValueError(f"must not hold {', '.join(clash)}")
        if not isinstance(value.get("chat_template_kwargs", {}), dict):
            raise ValueError("chat_template_kwargs must be a mapping")
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"cannot be sent as JSON: {error}") from None
        return value

    @model_validator(mode="after")
    def _consistent(self) -> "ModelConfig":
        if self.api_key is not None and self.api_key_env is not None:
            raise ValueError("give api_key_env or api_key, not both")
        if (self.price_per_million_prompt is None) != (self.price_per_million_completion is None):
            raise ValueError("give both prices (0 for free) or neither")
        return self

    @property
    def url(self) -> str:
        return self.base_url + _ENDPOINT

    @property
    def price(self) -> Price | None:
        if self.price_per_million_prompt is None or self.price_per_million_completion is None:
            return None
        return Price(self.price_per_million_prompt, self.price_per_million_completion)

    @property
    def retry_policy(self) -> RetryPolicy:
        return RetryPolicy(self.max_retries, self.wait_interval, self.deadline_s)

    def key(self) -> SecretStr:
        """The key to send, empty for none; a named variable must be set."""
        if self.api_key is not None:
            secret = self.api_key.get_secret_value().strip()
        elif self.api_key_env is not None:
            secret = os.environ.get(self.api_key_env, "").strip()
            if not secret:
                raise ConfigError(f"api_key_env: the variable {self.api_key_env} is not set")
        else:
            secret = ""
        if not (secret.isascii() and secret.isprintable()):
            raise ConfigError("the API key holds characters that no HTTP header can carry")
        return SecretStr(secret)

    def request_fields(self) -> dict[str, Any]:
        """The request without its messages, in a fixed order; unset fields are left out."""
        fields: dict[str, Any] = {
            "model": self.model,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "top_p": self.top_p,
            "stop": list(self.stop) or None,
            "seed": self.seed,
        }
        sent = {name: value for name, value in fields.items() if value is not None}
        sent.update(sorted(self.extra_body.items()))
        if self.enable_thinking is not None:
            template = dict(self.extra_body.get("chat_template_kwargs", {}))
            template["enable_thinking"] = self.enable_thinking
            sent["chat_template_kwargs"] = template
        return sent
