"""A configured run: what it consists of, what is owed of it, and running that.

The run directory's name is made from everything that can change a score, so the
same configuration resumes itself and another one starts a run of its own. A run
that was named by hand refuses a changed configuration and shows the difference.
"""

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from typing import Any

from agentquest.agents.prompt_template import load_template
from agentquest.agents.scripted_model import ScriptedModel
from agentquest.config import RunConfig
from agentquest.errors import ConfigError
from agentquest.lib import Agent
from agentquest.llms.model import ChatModel
from agentquest.llms.openai_chat import OpenAIChat
from agentquest.protocols import protocol
from agentquest.records.episode import EpisodeRecord
from agentquest.records.run_directory import RunDirectory
from agentquest.running.assemble import asks_a_model, check_agent, make_agent, make_benchmark
from agentquest.running.collecting import rare_collections
from agentquest.running.many_episodes import Job, Stage, Watcher, run_many
from agentquest.running.one_episode import Origin, Rules, versions
from agentquest.running.selection import Selection, episode_seed, pick_by_name, select
from agentquest.running.supervision import Supervisor

Checkpoint = Callable[[Sequence[EpisodeRecord]], None]


class Evaluation:
    """One run, prepared but not started."""

    def __init__(self, config: RunConfig) -> None:
        self.benchmark = make_benchmark(config.benchmark, **_benchmark_settings(config))
        if config.split is None:
            # What was played goes into the records, not that nothing was asked for.
            config = config.model_copy(update={"split": self.benchmark.provenance()["split"]})
        self.config = config
        check_agent(config.agent.name, config.agent.settings)
        self.template = load_template(config.agent.prompt_file)
        self.selection = self._select()
        self.jobs = [
            Job(task, trial, episode_seed(config.seed, task.id, trial))
            for trial in range(config.trials)
            for task in self.selection.tasks
        ]
        self.data_hash = self.benchmark.fingerprint(self.selection.tasks)
        self.directory = RunDirectory(config.output_dir / self.run_id)

    def _select(self) -> Selection:
        config, tasks = self.config, self.benchmark.tasks()
        if not tasks:
            raise ConfigError(f"no tasks in split {config.split!r} for these task types")
        if config.tasks is not None:
            return pick_by_name(tasks, config.tasks)
        types = [
            name for name in self.benchmark.task_types if any(t.task_type == name for t in tasks)
        ]
        return select(tasks, types, config.seed, config.num_games)

    @property
    def run_id(self) -> str:
        config = self.config
        if config.run_name is not None:
            return config.run_name
        model = config.llm.model if config.llm else "scripted"
        who = model if config.agent.name == "react" else config.agent.name
        decides = f"{config.config_hash}/{self.data_hash}/{versions()['agentquest']}"
        suffix = hashlib.sha256(decides.encode()).hexdigest()[:8]
        name = f"{config.benchmark}-{config.split}-{who}-{suffix}"
        return re.sub(r"[^A-Za-z0-9._-]+", "-", name)

    @property
    def model_name(self) -> str | None:
        if not asks_a_model(self.config.agent.name):
            return None
        return self.config.llm.model if self.config.llm else ScriptedModel.name

    def manifest(self) -> dict[str, Any]:
        config = self.config
        named = protocol(config.protocol) if config.protocol else None
        provenance = self.benchmark.provenance()
        return {
            "schema_version": 1,
            "run_id": self.run_id,
            "created_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "protocol": config.protocol,
            "comparable_with": [
                {"source": p.source, "setting": p.setting, "scores": p.scores}
                for p in (named.published if named and provenance["data"] == "real" else ())
            ],
            "benchmark": config.benchmark,
            "agent": config.agent.name,
            "model": self.model_name,
            "provenance": provenance,
            "versions": versions(),
            "config_hash": config.config_hash,
            "data_hash": self.data_hash,
            "task_type_numbers": {
                name: number for number, name in enumerate(self.benchmark.task_types, start=1)
            },
            "config": config.model_dump(mode="json"),
            "deciding": config.deciding(),
            "notes": list(self.selection.notes),
            "task_ids": [task.id for task in self.selection.tasks],
            "trials": config.trials,
        }

    def prepare(self) -> list[Job]:
        """Make the run directory or check that it is this run's; returns the jobs owed."""
        manifest = self.manifest()
        if self.directory.exists:
            differences = _differences(self.directory.manifest(), manifest)
            if differences:
                raise ConfigError(
                    f"{self.directory.path} was made with another configuration:\n  "
                    + "\n  ".join(differences)
                    + "\nUse another run_name (or none) to start a new run."
                )
        else:
            self.directory.create(self.config.to_yaml(), manifest)
        owed = set(self.directory.owed(job.key for job in self.jobs))
        return [job for job in self.jobs if job.key in owed]

    async def run(
        self,
        jobs: Sequence[Job],
        watcher: Watcher,
        stop: asyncio.Event,
        checkpoint: Checkpoint,
        checkpoint_every_s: float = 15.0,
    ) -> str | None:
        """Play the jobs; returns why the run stopped early, or None."""
        client = OpenAIChat(self.config.llm) if self.config.llm else None

        def save_results(records: Sequence[EpisodeRecord]) -> None:
            checkpoint(self.in_order(records))

        try:
            with self.directory.locked() as log, rare_collections():
                supervisor = Supervisor(log, watcher, stop, self.config.cost_limit)
                supervisor.resume_from(self.directory.tries())
                supervisor.call_regularly(save_results, checkpoint_every_s)
                # Another process may have played some of them before we had the lock.
                scored = {record.key for record in supervisor.records if record.scored}
                stage = Stage(
                    new_driver=self.benchmark.driver,
                    new_agent=lambda job: self._agent(job, client),
                    rules=self._rules(),
                    origin=self._origin(),
                )
                try:
                    await run_many(
                        [job for job in jobs if job.key not in scored],
                        stage,
                        supervisor.save,
                        self.config.parallel,
                        supervisor,
                        stop,
                        save_cut_short=True,
                    )
                finally:
                    save_results(supervisor.records)
                return supervisor.reason
        finally:
            if client is not None:
                await client.close()

    def in_order(self, records: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
        """Records in the order of the run's jobs, whichever finished first."""
        places = {job.key: place for place, job in enumerate(self.jobs)}
        return sorted(records, key=lambda record: places.get(record.key, len(places)))

    def _agent(self, job: Job, client: OpenAIChat | None) -> Agent:
        agent, llm = self.config.agent, self.config.llm
        model: ChatModel = client or ScriptedModel(self.benchmark.explorer())
        seed = llm.seed + job.trial if llm is not None and llm.seed is not None else None
        offered = {
            "model": model,
            "price": llm.price if llm else None,
            "use_few_shot": agent.use_few_shot,
            "num_examples": agent.num_examples,
            "history_length": agent.history_length,
            "check_valid_actions": agent.check_valid_actions,
            "template": self.template,
            "model_seed": seed,
        }
        return make_agent(agent.name, self.benchmark, offered, agent.settings)

    def _rules(self) -> Rules:
        return Rules(
            max_steps=self.config.max_steps,
            step_timeout_s=self.config.step_timeout_s,
            check_valid_actions=self.config.agent.check_valid_actions,
            save_prompts=self.config.save_prompts,
        )

    def _origin(self) -> Origin:
        return Origin(
            run_id=self.run_id,
            config_hash=self.config.config_hash,
            versions=versions(),
            benchmark=self.config.benchmark,
            agent=self.config.agent.name,
            model=self.model_name,
        )


def _benchmark_settings(config: RunConfig) -> dict[str, Any]:
    """What the benchmark is told: only what was given, as not every one has every setting."""
    given = {
        name: getattr(config, name) for name in ("split", "task_types", "data_path", "dialect")
    }
    for name in config.benchmark_settings:
        if name in given:
            raise ConfigError(f"benchmark_settings.{name}: give {name} by itself")
    return {name: value for name, value in given.items() if value is not None} | dict(
        config.benchmark_settings
    )


def _differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What decides scores and is not as it was, one line each."""
    lines = []
    old, new = _flat(before.get("deciding", {})), _flat(now["deciding"])
    for path in sorted({*old, *new}):
        if old.get(path) != new.get(path):
            lines.append(f"{path}: was {old.get(path)!r}, is {new.get(path)!r}")
    for name in ("data_hash", "task_ids", "trials"):
        if before.get(name) != now[name]:
            lines.append(f"{name} changed")
    old_version = before.get("versions", {}).get("agentquest")
    if old_version != now["versions"]["agentquest"]:
        lines.append(f"agentquest: was {old_version}, is {now['versions']['agentquest']}")
    return lines


def _flat(node: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(node, dict):
        return {path: node}
    flat: dict[str, Any] = {}
    for key, value in node.items():
        flat.update(_flat(value, f"{path}.{key}" if path else key))
    return flat
