"""What a run can be configured with; the text under each field is its documentation.

Settings of a benchmark, an agent, a model or an executor are not listed here: each is
declared next to the class it configures, and checked against it.
"""

import hashlib
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    field_validator,
    model_validator,
)

from agentquest import registry
from agentquest.errors import ConfigError
from agentquest.files import hash_file, require_file
from agentquest.lib import Agent, Benchmark
from agentquest.lib.settings import (
    Settings,
    fields_marked,
    operational,
    read_list,
    validate_settings,
)
from agentquest.lib.yaml_files import without_variables
from agentquest.records.outcome import AgentFaults

_BASES: dict[str, type] = {"agent": Agent, "benchmark": Benchmark}
DEFAULT_AGENT = "react"
DEFAULT_BENCHMARK = next(iter(registry.BENCHMARKS))


class Section(BaseModel):
    """A name from the registry, and the settings of what it names."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings next to the name, not yet checked."""
        return dict(self.model_extra or {})


class AgentSection(Section):
    """The `agent` of a run."""

    name: str = DEFAULT_AGENT


class ModelSection(Section):
    """The `llm` of a run. Its key is never written out."""

    provider: str = "openai"
    api_key: SecretStr | None = Field(default=None, exclude=True, repr=False)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings next to the provider, with the key if one was given."""
        given = dict(self.model_extra or {})
        return given if self.api_key is None else {**given, "api_key": self.api_key}


class ExecutorSection(Section):
    """The `executor` of a run."""

    name: str = "local"


class RunConfig(Settings):
    """Everything that decides what a run plays and how."""

    benchmark: str = DEFAULT_BENCHMARK
    """Which benchmark."""

    benchmark_settings: dict[str, Any] = Field(default_factory=dict)
    """The benchmark's own settings (split, task_types, …); also allowed at the top level."""

    protocol: str | None = None
    """Named settings that make scores comparable with published ones, by name or as a YAML file;
    it fixes the fields it lists."""

    num_games: int | None = Field(default=None, ge=1)
    """How many tasks, spread evenly over the types; null means all."""

    tasks: tuple[str, ...] | None = None
    """Exactly these tasks, by id or a unique part of it; `tasks.file` names a file of ids, one per
    line or a JSON list."""

    seed: int = 42
    """Decides which tasks are chosen and what random agents do."""

    trials: int = Field(default=1, ge=1, le=100)
    """How often each task is played; more than one gives pass@k and pass^k."""

    max_steps: int | None = Field(default=None, ge=1, le=10_000)
    """Steps after which an episode is truncated, which counts as not solved; null: the
    benchmark's own limit."""

    agent: AgentSection = AgentSection()
    """What plays: `name` (a built-in agent or `package.module:Class`) and its settings."""

    llm: ModelSection | None = None
    """The model behind the agent: `provider` and its settings; null: the scripted model, which
    needs no key."""

    agent_faults: AgentFaults = AgentFaults.OWE
    """What an agent's own crash or silence means: `owe` (no score; fix it and run
    again) or `lose`."""

    metrics: tuple[str, ...] = operational(())
    """Your own metrics, as `package.module:METRIC`, shown in every report."""

    parallel: int = operational(8, ge=1, le=4096)
    """Episodes at once."""

    executor: ExecutorSection = operational(
        ExecutorSection(),
        description="Where episodes are played, with its settings: "
        + ", ".join(f"`{name}`" for name in registry.EXECUTORS)
        + ", or `package.module:Class`.",
    )

    step_timeout_s: float | None = operational(None, gt=0)
    """Most seconds for one answer of the agent, retries included. Beyond them the agent has failed,
    or, if it is waiting for its model, the episode has no score."""

    cost_limit: float | None = operational(None, gt=0)
    """Stop cleanly once the run has cost this much. Needs a price (under `llm`, or a model whose
    price is known); if a server reports no token counts, they are estimated."""

    preflight: bool = operational(True)
    """Send the model one small request first, so that a wrong key, name or address, or a server
    that is down, is reported before anything is written."""

    output_dir: Path = operational(Path("runs"))
    """Folder for run directories."""

    run_name: str | None = operational(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    """Name of the run directory; null: derived from the configuration, so that the same one
    resumes."""

    resume: Literal["refuse", "warn", "ignore"] | None = operational(None)
    """What happens when your own code or prompt file has changed since the run began: it is
    refused, continued with a warning, or continued; null: refused if the run has a name,
    otherwise a new run begins."""

    tags: tuple[str, ...] = operational(())
    """Words to find the run by: `agentquest runs --tag WORD`."""

    note: str = operational("")
    """A note about the run, shown by reports and `agentquest runs`."""

    sinks: tuple[str, ...] = operational(())
    """Tools that every episode is also sent to: `otel`, `wandb`, `mlflow`, or
    `package.module:Class`."""

    debug: bool = operational(False)
    """Print each step's prompt and raw reply."""

    save_prompts: bool = operational(True)
    """Keep full prompts in the records."""

    compress_records: bool | None = operational(None)
    """Compress the lines of `episodes.jsonl` to a tenth of their size (see docs/records.md); null:
    in runs of more than 1,000 episodes."""

    _task_places: dict[str, str] = PrivateAttr(default_factory=dict)

    @field_validator("tasks", "metrics", "tags", "sinks", mode="before")
    @classmethod
    def _split_lists(cls, value: Any) -> Any:
        return read_list(value)

    @model_validator(mode="after")
    def _consistent(self) -> "RunConfig":
        if self.tasks is not None and self.num_games is not None:
            raise ValueError("give tasks or num_games, not both")
        llm = self.llm.settings if self.llm else {}
        if llm.get("cache_dir") and self.trials > 1 and llm.get("seed") is None:
            raise ValueError(
                "trials with llm.cache_dir need llm.seed, or all trials get the same replies"
            )
        return self

    @property
    def config_hash(self) -> str:
        """A hash of everything that can change a score; what only changes speed is left out."""
        canonical = json.dumps(self.deciding(), sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def deciding(self) -> dict[str, Any]:
        """The fields that can change a score."""
        fields = score_fields(type(self), self.model_dump(mode="json"))
        fields["benchmark_settings"] = score_fields(
            settings_model("benchmark", self.benchmark), self.benchmark_settings
        )
        agent = score_fields(settings_model("agent", self.agent.name), self.agent.settings)
        fields["agent"] = {"name": self.agent.name, **agent}
        if self.llm is not None:
            model = settings_model("model", self.llm.provider)
            known = {k: v for k, v in self.llm.settings.items() if k != "api_key"}
            fields["llm"] = {"provider": self.llm.provider, **score_fields(model, known)}
        return fields

    @property
    def task_places(self) -> dict[str, str]:
        """The places of tasks that were read from a file."""
        return self._task_places

    def with_task_places(self, places: dict[str, str]) -> "RunConfig":
        """A copy that knows the places, for messages."""
        copy = self.model_copy()
        copy._task_places = places
        return copy

    def to_yaml(self) -> str:
        """The resolved configuration; keys are never in it."""
        plain = without_variables(self.model_dump(mode="json"))
        return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)


def settings_model(kind: str, name: str) -> type[BaseModel]:
    """The settings class of something in the registry; users may name anything."""
    found = registry.load(kind, name)
    base = _BASES.get(kind, object)
    settings: type[BaseModel] | None = getattr(found, "Settings", None)
    if settings is None or not (inspect.isclass(found) and issubclass(found, base)):
        what = found.__name__ if inspect.isclass(found) else f"a {type(found).__name__}"
        lack = "without a class `Settings`"
        if base is not object:
            lack = f"not a subclass of agentquest.lib.{base.__name__}"
        raise ConfigError(f"{kind} {name!r} is {what}, {lack}")
    return settings


def resolve_config(config: RunConfig) -> RunConfig:
    """The configuration, with the settings of everything it names checked and filled in."""
    benchmark = validate_settings(
        settings_model("benchmark", config.benchmark),
        config.benchmark_settings,
        "benchmark_settings",
    )
    agent = _check_settings("agent", config.agent.name, config.agent.settings)
    executor = _check_settings("executor", config.executor.name, config.executor.settings)
    update: dict[str, Any] = {
        "benchmark_settings": _plain(benchmark),
        "max_steps": config.max_steps or registry.load("benchmark", config.benchmark).step_limit,
        "agent": AgentSection(name=config.agent.name, **_plain(agent)),
        "executor": ExecutorSection(name=config.executor.name, **_plain(executor)),
    }
    price = None
    if config.llm is not None:
        provider = _provider(config.llm)
        _require_model(provider, config.llm)
        fill_in = getattr(settings_model("model", provider), "fill_in", dict)
        model = _check_settings("model", provider, fill_in(config.llm.settings))
        price = getattr(model, "price", None)
        update["llm"] = ModelSection(provider=provider, api_key=config.llm.api_key, **_plain(model))
    for sink in config.sinks:
        registry.target("sink", sink)
    if config.cost_limit is not None and price is None:
        raise ConfigError(
            "cost_limit needs llm.price_per_million_prompt and _completion: the price of this"
            " model is not known"
        )
    return config.model_copy(update=update)


def _plain(settings: BaseModel) -> dict[str, Any]:
    return settings.model_dump(mode="json")


def _provider(llm: ModelSection) -> str:
    """`model: scripted` names the built-in model, whatever the provider is by default."""
    default = ModelSection.model_fields["provider"].default
    if llm.provider == default and llm.settings.get("model") == "scripted":
        return "scripted"
    return llm.provider


def _require_model(provider: str, llm: ModelSection) -> None:
    """Refuse model settings without a model: only the user knows which of the two is wrong."""
    known = settings_model("model", provider).model_fields
    field = known.get("model")
    if field is None or not field.is_required() or "model" in llm.settings:
        return
    if not known.keys() >= llm.settings.keys():
        return  # a misspelt key, which is reported under its own name
    given = ", ".join(f"llm.{name}" for name in llm.settings) or f"llm.provider: {provider}"
    raise ConfigError(
        f"llm.model: {given} is set, but no model; name one (model=NAME), or remove "
        f"{given} to use the scripted model"
    )


def _check_settings(kind: str, name: str, given: dict[str, Any]) -> BaseModel:
    model, path = settings_model(kind, name), "llm" if kind == "model" else kind
    if given and not model.model_fields:
        others = ", ".join(other for other in registry.names(kind) if other != name)
        wrong = f"{path}.{next(iter(given))}: unknown key; {kind} {name!r} has no settings"
        raise ConfigError(f"{wrong}; other names are: {others}")
    return validate_settings(model, given, path)


def score_fields(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that can change a score; a file counts by its content."""
    left_out, files = (fields_marked(model, mark) for mark in ("operational", "content_file"))
    return {
        name: _file_hash(name, value) if name in files and value is not None else value
        for name, value in values.items()
        if name not in left_out
    }


def _file_hash(name: str, file: str) -> str:
    try:
        require_file(Path(file))
        return hash_file(Path(file))
    except OSError as error:
        raise ConfigError(f"{name}: cannot read {file}: {error.strerror}") from None
    except ValueError:  # such as a name with NUL
        raise ConfigError(f"{name}: {file} is no name of a file") from None
