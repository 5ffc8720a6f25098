"""A sweep: models × agents × protocols × seeds, each combination a run of its own.

The runs are in one folder, named after what they combine, so the same file resumes the whole
sweep: complete runs are skipped, others play their remaining episodes.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationInfo, field_validator

from agentquest.config import RunConfig, load_config
from agentquest.config.settings import DEFAULT_AGENT
from agentquest.errors import ConfigError
from agentquest.lib.settings import Settings, validate_settings
from agentquest.lib.yaml_files import read_yaml
from agentquest.running.factory import asks_a_model
from agentquest.store.library import SweptRun
from agentquest.words import slug

_LONGEST_NAME = 90
_SCRIPTED = "scripted"
_NAMED_BY = {"models": "model", "agents": "name"}
# What a sweep combines or names itself, and what to say instead.
_ITS_OWN = {
    "agent": "agents",
    "model": "models",
    "protocol": "protocols",
    "seed": "seeds",
    "run_name": "name",
}


class SweepConfig(Settings):
    """What a sweep's file holds."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    """The folder of its runs, below `output_dir`."""

    models: tuple[dict[str, Any], ...] = ({"model": _SCRIPTED},)
    """Each is an `llm` section or a model's name; `label` says what to call it."""

    agents: tuple[dict[str, Any], ...] = ({"name": DEFAULT_AGENT},)
    """Each is an `agent` section or a name; `label` says what to call it."""

    protocols: tuple[str | None, ...] = (None,)
    """Names of protocols; null: none."""

    seeds: tuple[int, ...] = (42,)
    """Runs of the same models and agents with these seeds are taken together in comparisons."""

    run: dict[str, Any] = Field(default_factory=dict)
    """Everything else, as a run's file has it: benchmark, num_games, parallel, executor, …"""

    @field_validator("models", "agents", mode="before")
    @classmethod
    def _by_name(cls, value: Any, info: ValidationInfo) -> Any:
        many = value if isinstance(value, list | tuple) else [value]
        key = _NAMED_BY[str(info.field_name)]
        return [{key: one} if isinstance(one, str) else one for one in many]

    @field_validator("models", "agents", "protocols", "seeds")
    @classmethod
    def _some(cls, value: tuple[Any, ...]) -> tuple[Any, ...]:
        if not value:
            raise ValueError("is empty; remove it or name at least one")
        return value


@dataclass(frozen=True)
class SweepRun(SweptRun):
    """One combination, and the run's configuration."""

    config: RunConfig

    @property
    def name(self) -> str:
        """The run's folder in that of the sweep, made of what it combines."""
        return self.path.name


@dataclass(frozen=True)
class Sweep:
    """All runs of a sweep's file, their folder, and what to warn of before they start."""

    folder: Path
    runs: tuple[SweepRun, ...]
    warnings: tuple[str, ...]


def load_sweep(file: Path, overrides: Sequence[str] = ()) -> Sweep:
    """All runs of a sweep's file; `overrides` are `key=value` for every run."""
    content = read_yaml(file)
    try:
        wanted = validate_settings(SweepConfig, content)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None
    everywhere = dict(change.partition("=")[::2] for change in overrides)
    for key in (*wanted.run, *everywhere):
        if key.split(".")[0] in _ITS_OWN:
            instead = _ITS_OWN[key.split(".")[0]]
            raise ConfigError(f"{key}: in a sweep, use {instead!r} instead; see {file}")
    root = everywhere.pop("output_dir", wanted.run.get("output_dir", "runs"))
    changes = [change for change in overrides if change.partition("=")[0] in everywhere]
    folder = Path(str(root)) / wanted.name
    runs: dict[str, SweepRun] = {}
    warned: dict[str, None] = {}
    for agent, model, protocol, seed in _combinations(wanted):
        run, warnings = _run(wanted, (agent, model, protocol, seed), folder, changes)
        if run.name in runs:
            raise ConfigError(f"{file}: two runs are called {run.name}; tell them apart by `label`")
        runs[run.name] = run
        warned.update(dict.fromkeys(warnings))
    return Sweep(folder, tuple(runs.values()), tuple(warned))


_Combination = tuple[dict[str, Any], dict[str, Any] | None, str | None, int]


def _combinations(wanted: SweepConfig) -> Iterator[_Combination]:
    """An agent that asks no model is played once, whatever the models are."""
    for protocol, agent in product(wanted.protocols, wanted.agents):
        name = str(agent.get("name", DEFAULT_AGENT))
        models = wanted.models if asks_a_model(name) else (None,)
        for model, seed in product(models, wanted.seeds):
            yield agent, model, protocol, seed


def _run(
    wanted: SweepConfig, combination: _Combination, folder: Path, overrides: Sequence[str]
) -> tuple[SweepRun, list[str]]:
    agent, model, protocol, seed = combination
    agent_label, agent_section = _take_label(agent, "name")
    model_label, llm = _take_label(model, "model") if model is not None else (None, None)
    parts = [agent_label, model_label, protocol, f"seed-{seed}"]
    name = _name([part for part in parts if part is not None])
    settings: dict[str, Any] = {
        **wanted.run,
        "agent": agent_section,
        "seed": seed,
        "output_dir": str(folder),
        "run_name": name,
    }
    if protocol is not None:
        settings["protocol"] = protocol
    shared = settings.pop("llm", None) or {}
    if llm is not None and llm != {"model": _SCRIPTED}:
        settings["llm"] = {**shared, **llm}
    try:
        config, warnings = load_config(None, overrides, settings)
    except ConfigError as error:
        raise ConfigError(f"run {name}: {error}") from None
    return SweepRun(agent_label, model_label, protocol, seed, folder / name, config), warnings


def _take_label(section: Mapping[str, Any], named_by: str) -> tuple[str, dict[str, Any]]:
    """What to call it, and the section without the label."""
    rest = {key: value for key, value in section.items() if key != "label"}
    label = section.get("label", rest.get(named_by))
    if label is None:
        raise ConfigError(f"every model needs `model`, every agent `name`; one has no {named_by!r}")
    return str(label), rest


def _name(parts: Sequence[str]) -> str:
    """A folder's name; a long one is cut, and told apart by a hash of the whole."""
    whole = "_".join(parts)
    name = slug(whole).strip("-._")
    if len(name) > _LONGEST_NAME:
        name = f"{name[:_LONGEST_NAME]}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"
    return name
