"""What every chat model can be configured with; the text under a field is its documentation.

Each provider's settings derive from `ModelSettings` and are declared next to its class.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator

from agentquest.errors import ConfigError
from agentquest.lib.settings import Settings, operational
from agentquest.llms.prices import Price, known_price


class Service(NamedTuple):
    """The environment variables of a server's key and address, and its usual address."""

    key: str
    address: str
    default: str = ""

    def find_address(self, environment: Mapping[str, str]) -> str:
        """Where the service is; empty where the environment does not say."""
        has_key = bool(environment.get(self.key, "").strip())
        named = environment.get(self.address, "").strip() or (self.default if has_key else "")
        return named.rstrip("/")


# The first that the environment describes is used.
SERVICES = (
    Service("API_KEY", "API_BASE_URL"),
    Service("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1"),
    Service("LITELLM_PROXY_API_KEY", "LITELLM_PROXY_API_BASE", "http://localhost:4000/v1"),
)


def read_service(
    given: Mapping[str, Any], environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The address and the key's variable that the environment names, where they are not given.

    A key goes only to the address that is its own. `API_KEY` alone is nobody's in particular, so
    it goes to the address that is given.
    """
    has_own_key = not given.keys().isdisjoint({"api_key", "api_key_env"})
    wanted = str(given.get("base_url") or "").rstrip("/")
    for service in SERVICES:
        key = "" if has_own_key else environment.get(service.key, "").strip()
        named = environment.get(service.address, "").strip().rstrip("/")
        address = named if has_own_key else service.find_address(environment)
        if key and not service.default:
            address = address or wanted
        if address and wanted in ("", address):
            return {"base_url": address, **({"api_key_env": service.key} if key else {})}
    return {}


def name_address(address: str, environment: Mapping[str, str] = os.environ) -> str:
    """What to correct if the address is wrong: the variable that holds it, else the setting."""
    holding = (
        service.address
        for service in SERVICES
        if environment.get(service.address, "").strip().rstrip("/") == address
    )
    return next(holding, "llm.base_url")


class ModelSettings(Settings):
    """One chat model behind a server."""

    endpoint: ClassVar[str] = ""
    """What a provider adds to `base_url`."""

    own_fields: ClassVar[tuple[str, ...]] = ("model", "stream")
    """Fields of the request that `extra_body` may not contain."""

    model: str = Field(min_length=1)
    """Name of the model on its server."""

    base_url: str = "http://127.0.0.1:8000/v1"
    """Base URL of the API, without the path of the call. Not given: `API_BASE_URL` or
    `OPENAI_BASE_URL` from the environment; OpenAI's if only `OPENAI_API_KEY` is there; else a
    local vLLM."""

    api_key_env: str | None = operational(None)
    """Environment variable that holds the key. Not given: `API_KEY` or `OPENAI_API_KEY`, if the
    server is theirs; else no key is sent."""

    api_key: SecretStr | None = operational(None, exclude=True, repr=False)
    """The key itself; `api_key_env` is safer, as it keeps the key out of files. Never saved."""

    temperature: float | None = Field(default=0.3, ge=0.0, le=2.0)
    """Sampling temperature; null leaves it to the server."""

    max_tokens: int | None = Field(default=8192, ge=1)
    """Most tokens per reply, reasoning included. For servers that insist on
    `max_completion_tokens`, set this to null and that one in `extra_body`."""

    top_p: float | None = Field(default=None, gt=0.0, le=1.0)
    """Nucleus sampling; null leaves it to the server."""

    stop: tuple[str, ...] = Field(default=(), max_length=16)
    """Texts that end the reply."""

    seed: int | None = None
    """Sampling seed, if the server supports one."""

    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Other fields of the request, sent as they are."""

    timeout_s: float = operational(300.0, gt=0.0)
    """Most seconds for one request."""

    max_retries: int = operational(8, ge=0)
    """Retries after temporary failures. Being told to wait (429) and a server that is down for
    a while do not count."""

    wait_interval: float = operational(1.0, ge=0.0)
    """Seconds before the first retry; each later wait may be twice as long, up to a minute."""

    deadline_s: float = operational(1800.0, gt=0.0)
    """Most seconds for a call with all its retries and waits, and for a server that refuses
    everything or is down. Waiting for the limits below does not count; a Retry-After that
    leaves no time for another request is not waited for."""

    requests_per_minute: int | None = operational(None, ge=1)
    """Most requests sent in any minute."""

    tokens_per_minute: int | None = operational(None, ge=1)
    """Most tokens used in any minute, as far as they can be estimated."""

    max_concurrency: int = operational(256, ge=1)
    """Most requests in flight."""

    max_response_bytes: int = operational(16 * 1024 * 1024, ge=1024)
    """A longer response is treated as a server error."""

    price_per_million_prompt: float | None = operational(None, ge=0.0)
    """Price per million prompt tokens. Null: from the price table, for models of OpenAI,
    Anthropic and Google at their own addresses."""

    price_per_million_completion: float | None = operational(None, ge=0.0)
    """Price per million completion tokens."""

    price_per_million_cached: float | None = operational(None, ge=0.0)
    """Price per million prompt tokens read from the server's cache; null: as for others."""

    price_per_million_cache_write: float | None = operational(None, ge=0.0)
    """Price per million prompt tokens written to the server's cache; null: as for others."""

    stream: bool = operational(False)
    """Stream the reply, for gateways that cut idle connections. It is assembled before it is
    used."""

    cache_dir: Path | None = operational(None)
    """Folder of cached replies, for re-runs that cost nothing. The same request gets the same
    reply, so give repeated trials different seeds."""

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
            raise ValueError(
                "must not contain a user, password, query or fragment; for keys see api_key_env"
            )
        if cls.endpoint and value.endswith(cls.endpoint):
            raise ValueError(f"must be given without {cls.endpoint}")
        return value

    @field_validator("stop", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("extra_body")
    @classmethod
    def _no_own_fields(cls, value: dict[str, Any]) -> dict[str, Any]:
        clash = [name for name in cls.own_fields if name in value]
        if clash:
            raise ValueError(f"must not contain {', '.join(clash)}")
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"cannot be sent as JSON: {error}") from None
        return value

    @model_validator(mode="after")
    def _consistent(self) -> "ModelSettings":
        named = self.api_key_env is not None and "api_key_env" in self.model_fields_set
        if self.api_key is not None and named:
            raise ValueError("give api_key_env or api_key, not both")
        if (self.price_per_million_prompt is None) != (self.price_per_million_completion is None):
            raise ValueError("give both prices (0 for free) or neither")
        cached = (self.price_per_million_cached, self.price_per_million_cache_write)
        if self.price_per_million_prompt is None and cached != (None, None):
            raise ValueError("prices of cached tokens need the other prices too")
        return self

    @classmethod
    def fill_in(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """What was given, with what the environment adds to it."""
        return given

    @property
    def url(self) -> str:
        """Where requests are sent."""
        return self.base_url + self.endpoint

    @property
    def price(self) -> Price | None:
        """The configured price; else the table's; else unknown."""
        if self.price_per_million_prompt is None or self.price_per_million_completion is None:
            return known_price(self.base_url, self.model)
        return Price(
            self.price_per_million_prompt,
            self.price_per_million_completion,
            self.price_per_million_cached,
            self.price_per_million_cache_write,
        )

    def request_fields(self, seed: int | None = None) -> dict[str, Any]:
        """What these settings put into every request, in a fixed order; unset fields are left out.

        `extra_body` has the last word.
        """
        return self.extra_body

    def key(self) -> SecretStr:
        """The key to send, empty for none; a named variable must be set."""
        if self.api_key is not None:
            secret = self.api_key.get_secret_value().strip()
        elif self.api_key_env is not None:
            secret = os.environ.get(self.api_key_env, "").strip()
            if not secret:
                raise ConfigError(
                    f"api_key_env: the variable {self.api_key_env} is not set; export it"
                )
        else:
            secret = ""
        if not (secret.isascii() and secret.isprintable()):
            raise ConfigError("the API key contains characters that an HTTP header cannot carry")
        return SecretStr(secret)
