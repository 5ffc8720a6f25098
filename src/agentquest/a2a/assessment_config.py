"""The settings of an assessment: the `env_config` of a request, with a text for each field."""

from enum import Enum
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from agentquest import registry
from agentquest.config.settings import DEFAULT_BENCHMARK
from agentquest.errors import UnknownName
from agentquest.lib import Benchmark

MOST_GAMES = 100_000
# Settings that a protocol fixes, and those that would make it other games than a protocol's.
FIXED = ("benchmark", "train_eval", "num_games", "max_steps", "seed")
_OTHER_GAMES = ("task_types", "num_games_per_type", "coverage_mode")
PER_TYPE_DEFAULTS = {"balanced": 1, "comprehensive": 5}


class CoverageMode(str, Enum):
    """How games are spread over task types: a total, or a number per type."""

    STANDARD = "standard"
    BALANCED = "balanced"
    COMPREHENSIVE = "comprehensive"


class AssessmentConfig(BaseModel):
    """The `env_config` of a request; null means not given, unknown keys give a warning."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    benchmark: str = DEFAULT_BENCHMARK
    """Which of the registered benchmarks."""

    env_type: Literal["AlfredTWEnv", "AlfredThorEnv", "AlfredHybrid"] = "AlfredTWEnv"
    """Kept for old requests; only the text environment, AlfredTWEnv, can be played."""

    train_eval: str = "eval_out_of_distribution"
    """train, eval_in_distribution, eval_out_of_distribution, or a split of the benchmark."""

    protocol: str | None = None
    """Named settings whose scores are comparable with published ones; it fixes what it lists."""

    num_games: int = Field(default=1, ge=1, le=MOST_GAMES)
    """Total number of games, in standard mode."""

    max_steps: int | None = Field(default=None, ge=1, le=10_000)
    """Turns after which a game is over; not given: the benchmark's own limit."""

    task_types: tuple[int | str, ...] | None = Field(default=None, min_length=1)
    """Numbers or names; not given means all."""

    coverage_mode: CoverageMode = CoverageMode.STANDARD
    """standard: `num_games` over all types; balanced, comprehensive: a number per type."""

    num_games_per_type: int | None = Field(default=None, ge=1, le=MOST_GAMES)
    """Games per type; overrides `num_games`."""

    seed: int = 42
    """Decides which games are played."""

    turn_timeout: float = Field(default=120.0, gt=0, le=86_400)
    """Seconds the agent has for one answer."""

    concurrency: int = Field(default=1, ge=1, le=64)
    """Games at once; above 1 the agent must keep its contexts apart."""

    invalid_policy: Literal["nothing", "first"] = "nothing"
    """What an unreadable reply does: nothing, or (as one earlier system) the first action."""

    repeat_goal: bool = False
    """Whether every turn repeats the goal, for agents that forget earlier turns."""

    num_instances: int | None = Field(default=None, ge=1)
    """Most games in all shards together."""

    num_shards: int = Field(default=1, ge=1, le=1000)
    """Number of runs that the games are divided into."""

    shard_index: int = Field(default=0, ge=0)
    """Which of these runs this is, from 0."""

    @model_validator(mode="before")
    @classmethod
    def _null_is_not_given(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        there = {key: value for key, value in given.items() if value is not None}
        return {**there, **_of_protocol(there)} if "protocol" in there else there

    @field_validator("task_types", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return split_list(value) if isinstance(value, str) else value

    @field_validator("*", mode="before")
    @classmethod
    def _whole_floats(cls, value: Any, info: ValidationInfo) -> Any:
        """JSON that went through a protocol buffer has 3.0 for 3."""
        if isinstance(value, bool) and info.field_name != "repeat_goal":
            raise ValueError(f"{info.field_name} cannot be {value}")
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @model_validator(mode="after")
    def _consistent(self) -> "AssessmentConfig":
        if self.env_type != "AlfredTWEnv":
            raise ValueError(
                f"env_type {self.env_type} needs a simulator; only AlfredTWEnv is supported"
            )
        if self.shard_index >= self.num_shards:
            raise ValueError(f"shard_index must be below num_shards ({self.num_shards})")
        return self

    @property
    def split(self) -> str:
        """The benchmark's own name of the split."""
        found = self.benchmark_class
        usual = self.train_eval == type(self).model_fields["train_eval"].default
        known = self.train_eval in found.split_aliases or self.train_eval in found.splits
        return found.split_named(None if usual and not known else self.train_eval)

    @property
    def benchmark_class(self) -> type[Benchmark]:
        """Only registered names reach the registry: a path would import whatever it says."""
        found: type[Benchmark] = registry.load_registered("benchmark", self.benchmark)
        return found

    @property
    def per_type(self) -> int | None:
        """Games of each type, or None when the total decides."""
        if self.num_games_per_type is not None:
            return self.num_games_per_type
        return PER_TYPE_DEFAULTS.get(self.coverage_mode.value)


def _of_protocol(given: dict[str, Any]) -> dict[str, Any]:
    """What the named protocol fixes; raises ValueError where something else is asked for."""
    name = str(given["protocol"])
    try:
        # A registered name only, as with benchmarks.
        settings = registry.load_registered("protocol", name).settings
    except UnknownName as error:
        raise ValueError(str(error)) from None
    if forbidden := [key for key in _OTHER_GAMES if key in given]:
        raise ValueError(f"protocol {name} fixes which games are played; leave out {forbidden[0]}")
    if "agent.name" in settings:
        raise ValueError(f"protocol {name} also fixes the agent; run it with `agentquest eval`")
    fixed: dict[str, Any] = {
        "benchmark": settings["benchmark"],
        "train_eval": settings["benchmark_settings.split"],
        "num_games": settings["num_games"] or MOST_GAMES,
        **{key: settings[key] for key in ("max_steps", "seed") if key in settings},
    }
    for key, value in fixed.items():
        if key in given and given[key] != value:
            raise ValueError(f"{key}: protocol {name} fixes it to {value!r}; leave it out")
    return fixed


def split_list(text: str) -> list[str]:
    """`1,2,3` as a list."""
    return [part.strip() for part in text.split(",") if part.strip()]
