"""What an assessment can be asked for, and the two ways of asking.

The tagged text of the launcher, or `{"participants": …, "config": …}` as
AgentBeats sends it. Anything else is rejected with the reason: a request that
was not understood must never be run with defaults.
"""

import json
import re
from enum import Enum
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from agentquest.errors import UserError

_TAG = re.compile(r"<(white_agent_url|env_config)>(.*?)</\1>", re.DOTALL)
_SPLITS = {
    "eval_out_of_distribution": {"alfworld": "valid_unseen", "webshop": "test"},
    "eval_in_distribution": {"alfworld": "valid_seen", "webshop": "eval"},
}
_DOCUMENTED = (
    "env_type",
    "train_eval",
    "num_games",
    "max_steps",
    "task_types",
    "coverage_mode",
    "num_games_per_type",
)
PER_TYPE_DEFAULTS = {"balanced": 1, "comprehensive": 5}


class CoverageMode(str, Enum):
    STANDARD = "standard"
    BALANCED = "balanced"
    COMPREHENSIVE = "comprehensive"


class AssessmentConfig(BaseModel):
    """The `env_config` of a request; null means not given, unknown keys are warned of."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    benchmark: str = "alfworld"
    """Which benchmark."""

    env_type: Literal["AlfredTWEnv", "AlfredThorEnv", "AlfredHybrid"] = "AlfredTWEnv"
    """Kept for old requests; only the text environment, AlfredTWEnv, can be played."""

    train_eval: str = "eval_out_of_distribution"
    """train, eval_in_distribution, eval_out_of_distribution, or a split of the benchmark."""

    num_games: int = Field(default=1, ge=1, le=100_000)
    """Games in all, in standard mode."""

    max_steps: int = Field(default=50, ge=1, le=10_000)
    """Turns after which a game is over."""

    task_types: tuple[int | str, ...] | None = Field(default=None, min_length=1)
    """Numbers or names; not given means all."""

    coverage_mode: CoverageMode = CoverageMode.STANDARD
    """standard: `num_games` over all types; balanced, comprehensive: so many of each type."""

    num_games_per_type: int | None = Field(default=None, ge=1, le=100_000)
    """Games of each type; goes before `num_games`."""

    seed: int = 42
    """Decides which games are played."""

    turn_timeout: float = Field(default=120.0, gt=0, le=86_400)
    """Seconds the agent has for one answer."""

    concurrency: int = Field(default=1, ge=1, le=256)
    """Games at once; above 1 the agent must keep its contexts apart."""

    invalid_policy: Literal["nothing", "first"] = "nothing"
    """What an unreadable reply does: nothing, or (as one earlier system) the first action."""

    num_instances: int | None = Field(default=None, ge=1)
    """At most so many games in all shards together."""

    num_shards: int = Field(default=1, ge=1, le=1000)
    """Into how many runs the games are dealt."""

    shard_index: int = Field(default=0, ge=0)
    """Which of them this is."""

    @model_validator(mode="before")
    @classmethod
    def _null_is_not_given(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {key: value for key, value in given.items() if value is not None}

    @field_validator("task_types", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return split_list(value) if isinstance(value, str) else value

    @field_validator("*", mode="before")
    @classmethod
    def _whole_floats(cls, value: Any, info: ValidationInfo) -> Any:
        """JSON that went through a protocol buffer has 3.0 for 3."""
        if isinstance(value, bool):
            raise ValueError(f"{info.field_name} cannot be {value}")
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @model_validator(mode="after")
    def _consistent(self) -> "AssessmentConfig":
        if self.env_type != "AlfredTWEnv":
            raise ValueError(f"env_type {self.env_type} needs a simulator; only AlfredTWEnv runs")
        if self.shard_index >= self.num_shards:
            raise ValueError(f"shard_index must be below num_shards ({self.num_shards})")
        return self

    @property
    def split(self) -> str:
        """The benchmark's own name of the split."""
        return _SPLITS.get(self.train_eval, {}).get(self.benchmark, self.train_eval)

    @property
    def per_type(self) -> int | None:
        """Games of each type, or None when the total decides."""
        if self.num_games_per_type is not None:
            return self.num_games_per_type
        return PER_TYPE_DEFAULTS.get(self.coverage_mode.value)


class AssessmentRequest(BaseModel):
    """Whom to test and how; `warnings` is what was passed over."""

    model_config = ConfigDict(frozen=True)

    agent_url: str
    config: AssessmentConfig
    role: str = "agent"
    warnings: tuple[str, ...] = ()

    @field_validator("agent_url")
    @classmethod
    def _web_address(cls, value: str) -> str:
        try:
            parts = urlsplit(value)
            valid = parts.scheme in ("http", "https") and bool(parts.hostname)
            valid = valid and (parts.port is None or parts.port > 0)
        except ValueError:
            valid = False
        if not valid:
            raise ValueError(f"{value[:200]!r} is not an address like http://localhost:9002/")
        return value


class RequestRejected(UserError):
    """A request that was not understood; the text says why."""


def request_text(agent_url: str, config: AssessmentConfig) -> str:
    """The launcher's request: the documented settings, then those that are not as usual."""
    given = config.model_dump(mode="json")
    if config.benchmark == "alfworld" and config.task_types is None:
        given["task_types"] = [1, 2, 3, 4, 5, 6]
    usual = AssessmentConfig().model_dump(mode="json")
    others = {key for key in given if key not in _DOCUMENTED and given[key] != usual[key]}
    settings = {key: given[key] for key in (*_DOCUMENTED, *sorted(others))}
    return (
        "\n"
        "Your task is to run ALFWorld assessment to test the agent located at:\n"
        "<white_agent_url>\n"
        f"{agent_url}\n"
        "</white_agent_url>\n"
        "You should use the following env configuration:\n"
        "<env_config>\n"
        f"{json.dumps(settings, indent=2)}\n"
        "</env_config>\n"
        "    "
    )


def parse_request(text: str) -> AssessmentRequest:
    tags = {name: content.strip() for name, content in _TAG.findall(text)}
    if tags:
        return _tagged(tags)
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    if not isinstance(content, dict) or "participants" not in content:
        raise RequestRejected(
            "not an assessment request: expected <white_agent_url> and <env_config> tags, "
            'or {"participants": {"agent": "<url>"}, "config": {…}}'
        )
    return _of_participants(content)


def split_list(text: str) -> list[str]:
    """`1,2,3` as a list."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _tagged(tags: dict[str, str]) -> AssessmentRequest:
    for name in ("white_agent_url", "env_config"):
        if name not in tags:
            raise RequestRejected(f"the request has no <{name}> tag")
    try:
        config = json.loads(tags["env_config"])
    except ValueError as error:
        raise RequestRejected(f"env_config is not JSON: {error}") from None
    return _request(tags["white_agent_url"], "agent", config, "env_config")


def _of_participants(content: dict[str, Any]) -> AssessmentRequest:
    participants = content["participants"]
    if not isinstance(participants, dict) or len(participants) != 1:
        raise RequestRejected("participants must name exactly one agent: {role: url}")
    role, url = next(iter(participants.items()))
    extra = [f"{key}: unknown, passed over" for key in content if key not in _FORM]
    return _request(url, role, content.get("config") or {}, "config", extra)


_FORM = ("participants", "config")


def _request(
    url: Any, role: str, config: Any, where: str, warnings: list[str] | None = None
) -> AssessmentRequest:
    if not isinstance(config, dict):
        raise RequestRejected(f"{where} must be a JSON object, not {type(config).__name__}")
    unknown = [
        f"{where}.{key}: unknown, passed over"
        for key in config
        if key not in AssessmentConfig.model_fields
    ]
    try:
        settings = AssessmentConfig.model_validate(config)
    except ValidationError as error:
        raise RequestRejected(_first_problem(error, where)) from None
    try:
        return AssessmentRequest(
            agent_url=url,
            config=settings,
            role=role,
            warnings=(*(warnings or []), *unknown),
        )
    except ValidationError as error:
        raise RequestRejected(_first_problem(error, "request")) from None


def _first_problem(error: ValidationError, where: str) -> str:
    first = error.errors(include_url=False)[0]
    path = ".".join([where, *map(str, first["loc"])])
    return f"{path}: {first['msg'].removeprefix('Value error, ')}"
