"""The settings of an assessment, the games they choose, and the run configuration they are.

`AssessmentConfig` is the `env_config` of a request and the options of `agentquest launch`.
A new setting is a field here; unless it is one of `TurnRules`, `run_config` says what it
means for the run.
"""

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_validator, model_validator

from agentquest import registry
from agentquest.a2a import limits
from agentquest.a2a.remote_agent import TurnRules
from agentquest.config import RunConfig, load_config
from agentquest.config.settings import DEFAULT_BENCHMARK
from agentquest.errors import UnknownName, UserError
from agentquest.lib import Benchmark
from agentquest.lib.benchmark import TaskTypes
from agentquest.records.outcome import AgentFaults
from agentquest.running.factory import make_benchmark
from agentquest.running.selection import Selection, select
from agentquest.words import counted

# Settings that a protocol fixes, and those that would select other games than a protocol's.
FIXED = ("benchmark", "train_eval", "num_games", "max_steps", "seed")
_SELECTING = ("task_types", "num_games_per_type", "coverage_mode")
_GAMES_PER_TYPE = {"balanced": 1, "comprehensive": 5}


class CoverageMode(str, Enum):
    """How games are spread over task types: a total, or a number per type."""

    STANDARD = "standard"
    BALANCED = "balanced"
    COMPREHENSIVE = "comprehensive"


class AssessmentConfig(TurnRules):
    """What is played and how; null means not given, unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore")

    env_type: Literal["AlfredTWEnv", "AlfredThorEnv", "AlfredHybrid"] = "AlfredTWEnv"
    """Kept for old requests; only the text environment, AlfredTWEnv, can be played."""

    train_eval: str = "eval_out_of_distribution"
    """train, eval_in_distribution, eval_out_of_distribution, or a split of the benchmark."""

    num_games: int = Field(default=1, ge=1, le=limits.MAX_GAMES)
    """Total number of games, spread over the task types."""

    max_steps: int | None = Field(default=None, ge=1, le=10_000)
    """Turns after which a game is over; not given: the benchmark's own limit."""

    task_types: TaskTypes = None
    """Task types by number or name, such as "1,2,3"; not given: all."""

    coverage_mode: CoverageMode = CoverageMode.STANDARD
    """How games are spread over task types; balanced, comprehensive: a number per type."""

    num_games_per_type: int | None = Field(default=None, ge=1, le=limits.MAX_GAMES)
    """Games per task type; overrides the total."""

    benchmark: str = DEFAULT_BENCHMARK
    """Which of the registered benchmarks."""

    protocol: str | None = None
    """Named settings whose scores are comparable with published ones; it fixes what it lists."""

    seed: int = 42
    """Decides which games are played."""

    turn_timeout: float = Field(default=120.0, gt=0, le=86_400)
    """Seconds the agent has for one answer."""

    concurrency: int = Field(default=1, ge=1, le=64)
    """Games at once; above 1 the agent must keep its contexts apart. `launch` plays 8 at once
    with its own agents."""

    num_instances: int | None = Field(default=None, ge=1)
    """Most games in all shards together."""

    num_shards: int = Field(default=1, ge=1, le=1000)
    """Number of runs that the games are divided into."""

    shard_index: int = Field(default=0, ge=0)
    """Which of these runs this is, from 0."""

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls_and_apply_protocol(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        known = {key: value for key, value in given.items() if value is not None}
        return {**known, **_protocol_settings(known)} if "protocol" in known else known

    @field_validator("*", mode="before")
    @classmethod
    def _accept_whole_floats(cls, value: Any) -> Any:
        """JSON that went through a protocol buffer has 3.0 for 3."""
        return int(value) if isinstance(value, float) and value.is_integer() else value

    @model_validator(mode="after")
    def _check_consistency(self) -> "AssessmentConfig":
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
        benchmark = self.benchmark_class
        is_default = self.train_eval == type(self).model_fields["train_eval"].default
        known = self.train_eval in benchmark.split_aliases or self.train_eval in benchmark.splits
        return benchmark.split_named(None if is_default and not known else self.train_eval)

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
        return _GAMES_PER_TYPE.get(self.coverage_mode.value)

    def make_benchmark(self, data_path: str | None) -> Benchmark:
        """The benchmark that is played."""
        return make_benchmark(self.benchmark, self._benchmark_settings(data_path))

    def _benchmark_settings(self, data_path: str | None) -> dict[str, Any]:
        """Those of our settings that the benchmark has."""
        known = self.benchmark_class.Settings.model_fields
        given = {"split": self.split, "task_types": self.task_types, "data_path": data_path}
        return {name: value for name, value in given.items() if value is not None and name in known}

    def select_games(self, benchmark: Benchmark) -> Selection:
        """The games of this shard.

        Limits cut all task types alike, because games are taken from each type in turn.
        """
        tasks = benchmark.tasks()
        if not tasks:
            raise UserError(f"no games in split {benchmark.split!r} for these task types")
        available = {task.task_type for task in tasks}
        types = [name for name in benchmark.wanted_types if name in available]
        if self.per_type is None and self.num_games >= len(tasks):
            # A request for at least as many games as there are means all of them.
            selected = select(tasks, types, self.seed)
            if len(tasks) < self.num_games < limits.MAX_GAMES:
                requested = counted(self.num_games, "game")
                note = f"{requested} requested, only {len(tasks)} available"
                selected = Selection(selected.tasks, (note,))
        else:
            selected = select(tasks, types, self.seed, self.num_games, self.per_type)
        capped, notes = selected.tasks[: self.num_instances], list(selected.notes)
        if len(capped) < len(selected.tasks) and self.protocol is not None:
            notes.append(f"num_instances leaves out games of protocol {self.protocol}")
        return Selection(tuple(capped[self.shard_index :: self.num_shards]), tuple(notes))

    def run_config(
        self, agent: Mapping[str, Any], folder: Path, benchmark: Benchmark, data_path: str | None
    ) -> RunConfig:
        """The same as the configuration of a run in `folder`, played by a remote agent."""
        protocol = self.protocol
        if self.num_instances is not None:
            # A protocol that is cut short must not go by its name.
            games = min(self.num_games, len(benchmark.task_list()))
            protocol = protocol if self.num_instances >= games else None
        by_total = protocol is None and self.per_type is None
        config, _ = load_config(
            settings={
                "benchmark": self.benchmark,
                "benchmark_settings": self._benchmark_settings(data_path),
                "protocol": protocol,
                **({"num_games": self.num_games} if by_total else {}),
                "seed": self.seed,
                "max_steps": self.max_steps,
                "agent": {
                    "name": "a2a",
                    **self.model_dump(include={*TurnRules.model_fields}),
                    **agent,
                },
                # An agent must not gain by crashing in games it would lose.
                "agent_faults": AgentFaults.LOSE,
                "parallel": self.concurrency,
                "step_timeout_s": self.turn_timeout,
                "output_dir": folder.parent,
                "run_name": folder.name,
            }
        )
        return config


def _protocol_settings(given: dict[str, Any]) -> dict[str, Any]:
    """What the named protocol fixes; raises ValueError where something else is asked for."""
    name = str(given["protocol"])
    try:
        # A registered name only, as with benchmarks.
        settings = registry.load_registered("protocol", name).settings
    except UnknownName as error:
        raise ValueError(str(error)) from None
    if forbidden := [key for key in _SELECTING if key in given]:
        raise ValueError(f"protocol {name} fixes which games are played; leave out {forbidden[0]}")
    if "agent.name" in settings:
        raise ValueError(f"protocol {name} also fixes the agent; run it with `agentquest eval`")
    fixed: dict[str, Any] = {
        "benchmark": settings["benchmark"],
        "train_eval": settings["benchmark_settings.split"],
        "num_games": settings["num_games"] or limits.MAX_GAMES,
        **{key: settings[key] for key in ("max_steps", "seed") if key in settings},
    }
    for key, value in fixed.items():
        if key in given and given[key] != value:
            raise ValueError(f"{key}: protocol {name} fixes it to {value!r}; leave it out")
    return fixed
