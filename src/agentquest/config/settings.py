"""What a run can be configured with; the text under each field is its documentation."""

import hashlib
import json
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from agentquest.errors import ConfigError
from agentquest.llms.model import ModelConfig


class _Settings(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )

    @field_validator("*", mode="before")
    @classmethod
    def _no_switch_as_number(cls, value: Any, info: ValidationInfo) -> Any:
        """YAML reads `yes` as true, which would pass for the number 1."""
        field = cls.model_fields[str(info.field_name)]
        if isinstance(value, bool) and field.annotation is not bool:
            raise ValueError(f"must not be {str(value).lower()}")
        return value


class AgentConfig(_Settings):
    name: str = "react"
    """A built-in agent (react, scripted, oracle, random) or `package.module:Class`."""

    use_few_shot: bool = True
    """Whether the prompt shows example games."""

    num_examples: int = Field(default=2, ge=1, le=6)
    """How many example games, all of the task's own type."""

    history_length: int = Field(default=10, ge=1)
    """How many of the latest turns the prompt repeats."""

    check_valid_actions: bool = True
    """Whether the agent may ask for the list of valid actions (costs a step)."""

    prompt_file: Path | None = None
    """A prompt template of your own (see docs/evaluator.md)."""

    settings: dict[str, Any] = Field(default_factory=dict)
    """Passed on to an agent class of your own."""


class RunConfig(_Settings):
    benchmark: str = "alfworld"
    """Which benchmark."""

    protocol: str | None = None
    """A named setting that published scores can be compared with; fixes the fields it names."""

    split: str | None = None
    """ALFWorld: valid_unseen, valid_seen, valid_train, train; WebShop: test, dev, train; null: the
    first of these."""

    task_types: tuple[int | str, ...] | None = None
    """Task types by number or name; null means all."""

    num_games: int | None = Field(default=None, ge=1)
    """How many tasks, spread evenly over the types; null means all."""

    tasks: tuple[str, ...] | None = None
    """Exactly these tasks, by id or unambiguous part of one."""

    data_path: str | None = None
    """Folder of the real data, or `builtin`; null: found by itself."""

    dialect: str | None = None
    """0.3 or 0.4; null: the game file's own."""

    benchmark_settings: dict[str, Any] = Field(default_factory=dict)
    """What else the benchmark can be set to; WebShop: goals (synthetic or human), strict, seed,
    size (small or all)."""

    seed: int = 42
    """Decides which tasks are chosen and what random agents do."""

    trials: int = Field(default=1, ge=1, le=100)
    """How often each task is played; more than one gives pass@k and pass^k."""

    max_steps: int = Field(default=50, ge=1, le=10_000)
    """Steps after which an episode counts as not solved."""

    agent: AgentConfig = AgentConfig()
    """What plays."""

    llm: ModelConfig | None = None
    """The model behind the agent; null: the scripted model, which needs no key."""

    parallel: int = Field(default=8, ge=1, le=4096)
    """Episodes at once."""

    step_timeout_s: float | None = Field(default=None, gt=0)
    """Longest time for one answer of the agent, retries included."""

    cost_limit: float | None = Field(default=None, gt=0)
    """Stop cleanly when the run has cost this much (needs prices under `llm`)."""

    output_dir: Path = Path("runs")
    """Where run directories are made."""

    run_name: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    """Name of the run directory; null: made from the configuration, so that it resumes itself."""

    debug: bool = False
    """Print each step's prompt and raw reply."""

    save_prompts: bool = True
    """Keep full prompts in the records."""

    @field_validator("task_types", "tasks", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return (value,) if isinstance(value, int | str) else value

    @field_validator("dialect", mode="before")
    @classmethod
    def _unquoted(cls, value: Any) -> Any:
        return str(value) if isinstance(value, float) else value

    @model_validator(mode="after")
    def _consistent(self) -> "RunConfig":
        if self.tasks is not None and self.num_games is not None:
            raise ValueError("give tasks or num_games, not both")
        if self.cost_limit is not None and (self.llm is None or self.llm.price is None):
            raise ValueError("cost_limit needs llm.price_per_million_prompt and _completion")
        cached = self.llm is not None and self.llm.cache_dir is not None
        if cached and self.trials > 1 and cast(ModelConfig, self.llm).seed is None:
            raise ValueError("trials with llm.cache_dir need llm.seed, or all trials are one")
        return self

    @property
    def config_hash(self) -> str:
        """Stands for everything that can change a score; what only changes speed is left out."""
        canonical = json.dumps(self.deciding(), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def deciding(self) -> dict[str, Any]:
        """The fields that can change a score."""
        fields = self.model_dump(mode="json", exclude=set(_OPERATIONAL))
        if fields["llm"] is not None:
            fields["llm"] = {k: v for k, v in fields["llm"].items() if k not in _OPERATIONAL_LLM}
        if not self.benchmark_settings:
            # As in runs from before there were any, which so keep their names.
            del fields["benchmark_settings"]
        if self.agent.prompt_file is not None:
            fields["agent"]["prompt_file"] = _file_hash(self.agent.prompt_file)
        return fields

    def to_yaml(self) -> str:
        """The resolved configuration; keys are never in it."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


_OPERATIONAL = (
    "parallel",
    "output_dir",
    "run_name",
    "debug",
    "save_prompts",
    "cost_limit",
    "step_timeout_s",
)
_OPERATIONAL_LLM = (
    "api_key_env",
    "timeout_s",
    "max_retries",
    "wait_interval",
    "deadline_s",
    "requests_per_minute",
    "tokens_per_minute",
    "max_concurrency",
    "max_response_bytes",
    "price_per_million_prompt",
    "price_per_million_completion",
    "cache_dir",
)


def _file_hash(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(f"agent.prompt_file: cannot read {file}: {error.strerror}") from None
