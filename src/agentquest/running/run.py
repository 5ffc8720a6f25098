"""A run: its episodes, which of them are still to play, and playing those.

The evaluator, the A2A assessment and people's play are all this run, with
another agent. The run directory's name is made from everything that can change
a score, so the same configuration resumes and another one starts a new run. A run
that was named by hand refuses a changed configuration and shows the difference.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from operator import itemgetter
from typing import Any

from agentquest import registry
from agentquest.config.settings import DEFAULT_AGENT, RunConfig
from agentquest.errors import ConfigError, UserError
from agentquest.lib import Benchmark, InformedAgent
from agentquest.lib.settings import validate_settings
from agentquest.llms.prices import Price
from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.table import metrics_table
from agentquest.protocols import protocol
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import AssessedAgent, Manifest, MeasuredMetrics, find_changed
from agentquest.running.crashes import name_crash
from agentquest.running.events import Broadcast, RunEvents
from agentquest.running.executors import Executor, make_executor
from agentquest.running.factory import (
    Resources,
    agent_class,
    agent_settings,
    asks_a_model,
    make_benchmark,
)
from agentquest.running.monitor import Budget, EpisodeSaver, FailureWatch, LiveFile, Stopper
from agentquest.running.play import rare_collections
from agentquest.running.selection import Selection, episode_seed, pick_by_name, select
from agentquest.running.sources import hash_metrics, hash_sources
from agentquest.running.spec import Choice, EpisodeSpec, RunContext, versions
from agentquest.store.folder import CONFIG, MANIFEST, RunFolder
from agentquest.store.live import LiveLog
from agentquest.store.stored_run import StoredRun
from agentquest.words import counted, enumerate_words, slug

# Runs with more episodes than this compress their records, unless told not to.
_MANY = 1000


class OtherAgent(ConfigError):
    """The run belongs to an agent other than the one that would go on with it."""


class Run:
    """One run, prepared but not started. Making one reads the data."""

    def __init__(
        self,
        config: RunConfig,
        selection: Selection | None = None,
        benchmark: Benchmark | None = None,
    ) -> None:
        self.benchmark = benchmark or make_benchmark(config.benchmark, config.benchmark_settings)
        # Records name the values that were used, not that they were left unset.
        played = {**config.benchmark_settings, "split": self.benchmark.split}
        self.config = config.model_copy(update={"benchmark_settings": played})
        self.agent_class = agent_class(config.agent.name)
        self.selection = selection or self._select()
        self.data_hash = self.benchmark.fingerprint(self.selection.tasks)
        self.config_hash = self.config.config_hash
        self.assessed: AssessedAgent | None = None
        """The agent that is called over A2A, once it has been asked who it is (see `bind`)."""
        self.sources = hash_sources(config)
        self.metric_sources = hash_metrics([*self.benchmark.metrics, *config.metrics])
        self.remarks: list[str] = []
        """What to say before anything is played: code that has changed since the run began."""
        self.run_id = self._name_run()
        self._plan()
        self.directory = RunFolder(config.output_dir / self.run_id)
        self._stored: StoredRun | None = None
        self._is_new = False

    def _plan(self) -> None:
        config, self.context = self.config, self._context()
        self.specs = [
            EpisodeSpec(self.context, task, trial, episode_seed(config.seed, task.id, trial))
            for trial in range(config.trials)
            for task in self.selection.tasks
        ]

    async def identify_agent(self) -> None:
        """Ask an agent that is elsewhere who it is, and make this a run of that agent."""
        chosen = self.config.agent
        with name_crash(f"{self.agent_class.__name__}.identify", ConfigError):
            who = await self.agent_class.identify(agent_settings(chosen.name, chosen.settings))
        self.bind(who)

    def bind(self, assessed: AssessedAgent | None) -> None:
        """Make it a run of this agent; raises OtherAgent if it was begun with another one."""
        if assessed is None:
            return
        saved = self.directory.manifest() if self.directory.exists else None
        if saved and saved.assessed and (differences := saved.assessed.differences(assessed)):
            raise OtherAgent(
                f"{self.run_id} was begun with another agent:\n  "
                + "\n  ".join(differences)
                + "\nStart a new run: `eval` with --fresh, `launch` and `green` without --resume."
            )
        self.assessed = assessed
        self._plan()
        if saved and self._stored is not None:
            self._merge_manifest(saved, self.manifest())
            self._stored.refresh()

    def _select(self) -> Selection:
        config, tasks = self.config, self.benchmark.tasks()
        if not tasks:
            raise ConfigError(f"no tasks in split {self.benchmark.split!r} for these task types")
        if config.tasks is not None:
            return pick_by_name(tasks, config.tasks, config.task_places)
        there = {task.task_type for task in tasks}
        types = [name for name in self.benchmark.task_types if name in there]
        return select(tasks, types, config.seed, config.num_games)

    def _name_run(self) -> str:
        """The name given, or one made of all that decides a score."""
        config = self.config
        if config.run_name is not None:
            return config.run_name
        decides = f"{self.config_hash}/{self.data_hash}/{versions()['agentquest']}"
        if self.sources:
            decides += f"/{sorted(self.sources.values())}"
        suffix = hashlib.sha256(decides.encode()).hexdigest()[:8]
        who = [] if config.agent.name == DEFAULT_AGENT else [config.agent.name]
        who += [self.model_name] if self.model_name else []
        name = slug("-".join([config.benchmark, self.benchmark.split, *who, suffix]))
        if self.sources and not RunFolder(config.output_dir / name).exists:
            return self._name_after_change(name)
        return name

    def _name_after_change(self, name: str) -> str:
        """The newest run of this configuration by other code, if `resume` says what to do with it;
        otherwise the new name, and a remark about that run."""
        self.run_id = name
        mine, earlier = self.manifest(), []
        for file in self.config.output_dir.glob(f"*/{MANIFEST}"):
            with suppress(UserError):
                saved = RunFolder(file.parent).manifest()
                is_named = saved.config.get("run_name") is not None
                if saved.sources and not is_named and not saved.differences(mine):
                    earlier.append((saved.created_at, file.stat().st_mtime_ns, saved))
        if not earlier:
            return name
        *_, newest = max(earlier, key=itemgetter(0, 1))
        if self.config.resume is not None:
            return newest.run_id
        changed = find_changed(newest.sources, self.sources)
        self.remarks.append(
            f"{enumerate_words(changed)} changed since {newest.run_id}; this is a new run"
        )
        return name

    @property
    def agent_name(self) -> str:
        """The agent as records and reports show it."""
        return self.assessed.title if self.assessed else self.config.agent.name

    @property
    def model_name(self) -> str | None:
        """The model as records show it; None for an agent that asks none, or does not say."""
        if self.assessed is not None:
            return self.assessed.model
        if not asks_a_model(self.config.agent.name):
            return None
        return str(self.config.llm.settings["model"]) if self.config.llm else "scripted"

    @property
    def stand_ins(self) -> list[str]:
        """What was not configured and so is replaced."""
        if self.config.llm is not None or not asks_a_model(self.config.agent.name):
            return []
        notes = ["no model is configured (llm.model): the scripted one answers by rules"]
        if self.benchmark.provenance().data == "builtin":
            notes.append("the data is built-in, not the benchmark's own")
        return notes

    @property
    def max_steps(self) -> int:
        """The step limit: the one configured, or the benchmark's own."""
        return self.config.max_steps or self.benchmark.step_limit

    def _context(self) -> RunContext:
        config, llm = self.config, self.config.llm
        return RunContext(
            run_id=self.run_id,
            config_hash=self.config_hash,
            benchmark=Choice(config.benchmark, config.benchmark_settings),
            agent=Choice(config.agent.name, config.agent.settings),
            agent_name=self.agent_name,
            model=Choice(llm.provider, llm.settings) if llm else None,
            model_name=self.model_name,
            model_seed=llm.settings.get("seed") if llm else None,
            max_steps=self.max_steps,
            step_timeout_s=config.step_timeout_s,
            agent_faults=config.agent_faults,
            save_prompts=config.save_prompts,
            # Costs are estimated from the prompts where necessary.
            show_prompts=config.debug or config.cost_limit is not None,
        )

    def manifest(self) -> Manifest:
        """All that is decided before the first episode, stamped with the present time."""
        config = self.config
        named = protocol(config.protocol) if config.protocol else None
        provenance = self.benchmark.provenance()
        return Manifest(
            run_id=self.run_id,
            created_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            benchmark=config.benchmark,
            benchmark_title=self.benchmark.title,
            provenance=provenance,
            protocol=named.name if named else None,
            comparable_with=list(named.published) if named and provenance.data == "real" else [],
            not_comparable_with=dict(named.refused) if named else {},
            agent=self.agent_name,
            assessed=self.assessed,
            informed=issubclass(self.agent_class, InformedAgent),
            model=self.model_name,
            agent_faults=config.agent_faults,
            max_steps=self.max_steps,
            trials=config.trials,
            metrics=[*self.benchmark.metrics, *config.metrics],
            cleanup_applies=bool(self.benchmark.verbs.open),
            verbs=self.benchmark.verbs,
            task_types=list(self.benchmark.task_types),
            chosen_types=list(self.benchmark.wanted_types),
            task_ids=[task.id for task in self.selection.tasks],
            versions=versions(),
            price=self._price(),
            config_hash=self.config_hash,
            data_hash=self.data_hash,
            config=config.model_dump(mode="json"),
            deciding=config.deciding(),
            sources=self.sources,
            metric_sources=self.metric_sources,
            notes=list(self.selection.notes),
            tags=list(config.tags),
            note=config.note,
        )

    def prepare(self) -> list[EpisodeSpec]:
        """Make the run directory or check that it is this run's; returns what is still to play."""
        manifest = self.manifest()
        self.table = metrics_table(manifest)
        # Fail before a directory is made.
        self._executor = make_executor(self.config.executor.name, self.config.executor.settings)
        for sink in self.config.sinks:
            registry.load("sink", sink)
        saved = self.directory.manifest() if self.directory.exists else None
        if saved is None:
            if hasattr(self._executor, "check"):  # only some depend on something out there
                self._executor.check()
            self._is_new = not self.directory.path.exists()
            self.directory.create(self.config.to_yaml(), manifest)
        else:
            self._refuse_differences(saved, manifest)
        if self._stored is None:
            self._stored = StoredRun(self.directory.path, table=self.table, verify=True)
        self._stored.refresh()
        if saved is not None:
            self._merge_manifest(saved, manifest)
            self._stored.refresh()
        return self.pending

    @contextmanager
    def discard_if_unplayable(self) -> Iterator[None]:
        """After a UserError, remove the directory if it is new and nothing was recorded in it."""
        try:
            yield
        except UserError:
            if self._is_new and not self.rows:
                with suppress(UserError):  # somebody else plays in it by now
                    self.directory.remove()
            raise

    def check_directory(self) -> None:
        """Raise ConfigError where the directory is another run's; nothing is written."""
        if self.directory.exists:
            self._refuse_differences(self.directory.manifest(), self.manifest())

    def _refuse_differences(self, saved: Manifest, manifest: Manifest) -> None:
        differences = saved.differences(manifest)
        if differences:
            raise ConfigError(
                f"{self.directory.path} was made with a different configuration:\n  "
                + "\n  ".join(differences)
                + "\nUse another run_name (or none), or --fresh, to start a new run."
            )
        self._compare_sources(saved)

    def _compare_sources(self, saved: Manifest) -> None:
        """Refuse, or remark on, code that is not that of the run's beginning.

        An agent that crashed in every game may be mended: its old code has left no score.
        """
        policy = self.config.resume
        changed = find_changed(saved.sources, self.sources)
        if changed and policy != "refuse":
            stored = StoredRun(self.directory.path)
            changed = changed if any(row.scored for row in stored.rows) else []
        metrics = self._find_changed_metrics(saved)
        if (changed and policy in (None, "refuse")) or (metrics and policy == "refuse"):
            raise ConfigError(
                f"{enumerate_words(changed or metrics)} changed since {self.run_id} began: its"
                " results would be of other code. Use --fresh (in Python: resume=False) to start"
                " a new run, or resume=warn to go on with this one."
            )
        if policy == "ignore":
            return
        found = []
        if changed:
            found.append(
                f"{enumerate_words(changed)} changed since {self.run_id} began; what it has"
                " played stays as it was"
            )
        if metrics:
            found.append(f"{enumerate_words(metrics)} changed: its metrics are measured again")
        self.remarks += [remark for remark in found if remark not in self.remarks]

    def _find_changed_metrics(self, saved: Manifest) -> list[str]:
        """Those with other code; other metrics are measured anyway."""
        if saved.metrics != [*self.benchmark.metrics, *self.config.metrics]:
            return []
        return find_changed(saved.metric_sources, self.metric_sources)

    def _merge_manifest(self, saved: Manifest, manifest: Manifest) -> None:
        """Keep the manifest of the parts before, but for metrics, tags, the note, a price, and
        code that plays the rest."""
        kept = ["metrics", "metric_sources", "tags", "note"]
        if self.assessed is not None:
            kept += ["assessed", "agent", "model"]
        update: dict[str, Any] = {name: getattr(manifest, name) for name in kept}
        update["price"] = manifest.price or saved.price
        # What stopped an earlier part may have been raised.
        update["config"] = {**saved.config, "cost_limit": self.config.cost_limit}
        if self.pending:
            update["sources"] = self.sources
            done = len(self.specs) - len(self.pending)
            if done and (changed := find_changed(saved.sources, self.sources)):
                change = (
                    f"{enumerate_words(changed)} changed after {counted(done, 'episode')} had been"
                    " played."
                )
                update["changes"] = [*saved.changes, change]
        merged = saved.model_copy(update=update)
        if self._find_changed_metrics(saved):
            self.directory.write_measured(MeasuredMetrics())  # no old value passes for a new one
        if merged != saved or not (self.directory.path / CONFIG).exists():
            self.directory.create(self.config.to_yaml(), merged)

    @property
    def stored(self) -> StoredRun:
        """The run as it is on disk."""
        assert self._stored is not None, "prepare() comes first"
        return self._stored

    @property
    def records(self) -> Sequence[EpisodeRecord]:
        """The records of the episodes played so far, each read when it is asked for."""
        return self.stored.records

    @property
    def rows(self) -> list[EpisodeRow]:
        """The rows of the episodes played so far, in the order of the specs."""
        return self.stored.rows

    @property
    def pending(self) -> list[EpisodeSpec]:
        """What has no score yet."""
        return self._without_score(self.specs)

    def _without_score(self, specs: Sequence[EpisodeSpec]) -> list[EpisodeSpec]:
        scored = {row.key for row in self.rows if row.scored}
        return [spec for spec in specs if spec.key not in scored]

    async def play(
        self,
        specs: Sequence[EpisodeSpec],
        watcher: RunEvents,
        stop: asyncio.Event,
        checkpoint: Callable[[bool], None],
        shared: Any = None,
        executor: Executor | None = None,
    ) -> str | None:
        """Play the specs; returns why the run stopped early, or None.

        `checkpoint` is told whether the run goes on. `shared` is what the agents share, where the
        caller has opened it; `executor` who plays, where that is none of the configured ones.
        """
        resources = Resources(self.context, self.benchmark, shared)
        executor = executor or self._executor
        live = LiveLog(self.directory.path)
        watcher.playing(resources.trouble)
        packed = self.config.compress_records
        if packed is None:
            packed = len(self.specs) > _MANY
        try:
            with self.stored.open_for_writing(packed) as log, rare_collections():
                stopper = Stopper(stop)
                budget = Budget(
                    self.config.cost_limit, self._price(), watcher.noted, stopper.give_up
                )
                saver = EpisodeSaver(log, checkpoint)
                failures = FailureWatch(stopper.give_up)
                events = Broadcast([watcher, LiveFile(live), saver, budget, failures])
                pending = self._without_score(specs)
                budget.resume(*self.stored.spent)
                try:
                    await executor.run(pending, resources, events, self.config.parallel, stop)
                finally:
                    checkpoint(False)
                return stopper.reason
        finally:
            live.flush()
            live.close()
            await resources.close()

    def _price(self) -> Price | None:
        llm = self.config.llm
        if llm is None:
            return None
        settings = validate_settings(
            registry.load("model", llm.provider).Settings, llm.settings, "llm"
        )
        return getattr(settings, "price", None)
