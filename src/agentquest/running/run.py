"""A run: which episodes it consists of, what is owed of it, and playing that.

The evaluator, the A2A assessment and people's play are all this run, with
another agent. The run directory's name is made from everything that can change
a score, so the same configuration resumes itself and another one starts a run
of its own. A run that was named by hand refuses a changed configuration and
shows the difference.
"""

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import cached_property
from typing import Any, TypeVar, overload

from agentquest.config.settings import DEFAULT_AGENT, RunConfig
from agentquest.errors import ConfigError
from agentquest.lib import Benchmark, InformedAgent
from agentquest.metrics.result_entry import result_entry, type_numbers
from agentquest.metrics.row_index import IndexedRow, RowIndex
from agentquest.metrics.rows import EpisodeRow, row_of
from agentquest.metrics.table import metrics_table
from agentquest.protocols import protocol
from agentquest.records.episode import EpisodeRecord
from agentquest.records.episode_lines import Place
from agentquest.records.live import LiveLog
from agentquest.records.manifest import Manifest, PublishedScore
from agentquest.records.results_file import ResultParts, written
from agentquest.records.run_directory import RunDirectory, Try
from agentquest.running.executors import Executor, make_executor
from agentquest.running.factory import Resources, agent_class, asks_a_model, make_benchmark
from agentquest.running.gc_tuning import rare_collections
from agentquest.running.monitor import RunMonitor, Watcher
from agentquest.running.selection import Selection, episode_seed, pick_by_name, select
from agentquest.running.spec import Choice, EpisodeSpec, Limits, RunContext, versions

Checkpoint = Callable[[Sequence[EpisodeRecord]], None]
Kept = TypeVar("Kept", bound=Try)
# In a run of more episodes than these, records are packed unless that is forbidden.
_MANY = 1000


class Run:
    """One run, prepared but not started. Making one reads the data."""

    def __init__(
        self,
        config: RunConfig,
        selection: Selection | None = None,
        benchmark: Benchmark | None = None,
    ) -> None:
        self.benchmark = benchmark or make_benchmark(config.benchmark, config.benchmark_settings)
        # What is played goes into the records, not that nothing was asked for.
        played = {**config.benchmark_settings, "split": self.benchmark.split}
        self.config = config.model_copy(update={"benchmark_settings": played})
        self.agent_class = agent_class(config.agent.name)
        self.selection = selection or self._select()
        self.data_hash = self.benchmark.fingerprint(self.selection.tasks)
        self.config_hash = self.config.config_hash
        self.context = self._context()
        self.specs = [
            EpisodeSpec(self.context, task, trial, episode_seed(config.seed, task.id, trial))
            for trial in range(config.trials)
            for task in self.selection.tasks
        ]
        self.directory = RunDirectory(config.output_dir / self.run_id)
        self._index: RowIndex | None = None
        self._parts: ResultParts | None = None

    def _select(self) -> Selection:
        config, tasks = self.config, self.benchmark.tasks()
        if not tasks:
            raise ConfigError(f"no tasks in split {self.benchmark.split!r} for these task types")
        if config.tasks is not None:
            return pick_by_name(tasks, config.tasks, config.task_places)
        there = {task.task_type for task in tasks}
        types = [name for name in self.benchmark.task_types if name in there]
        return select(tasks, types, config.seed, config.num_games)

    @property
    def run_id(self) -> str:
        """The name given, or one made of all that decides a score."""
        config = self.config
        if config.run_name is not None:
            return config.run_name
        decides = f"{self.config_hash}/{self.data_hash}/{versions()['agentquest']}"
        suffix = hashlib.sha256(decides.encode()).hexdigest()[:8]
        who = [] if config.agent.name == DEFAULT_AGENT else [config.agent.name]
        who += [self.model_name] if self.model_name else []
        name = "-".join([config.benchmark, self.benchmark.split, *who, suffix])
        return re.sub(r"[^A-Za-z0-9._-]+", "-", name)

    @property
    def model_name(self) -> str | None:
        """The model as records show it; None for an agent that asks none."""
        if not asks_a_model(self.config.agent.name):
            return None
        return str(self.config.llm.settings["model"]) if self.config.llm else "scripted"

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
            model=Choice(llm.provider, llm.settings) if llm else None,
            model_name=self.model_name,
            model_seed=llm.settings.get("seed") if llm else None,
            limits=Limits(self.max_steps, config.step_timeout_s),
            agent_faults=config.agent_faults,
            save_prompts=config.save_prompts,
            show_prompts=config.debug,
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
            comparable_with=[
                PublishedScore(source=p.source, setting=p.setting, scores=p.scores)
                for p in (named.published if named and provenance.data == "real" else ())
            ],
            not_comparable_with=dict(named.refused) if named else {},
            agent=config.agent.name,
            informed=issubclass(self.agent_class, InformedAgent),
            model=self.model_name,
            agent_faults=config.agent_faults,
            max_steps=self.max_steps,
            trials=config.trials,
            metrics=[*self.benchmark.metrics, *config.metrics],
            cleanup_applies=self.benchmark.cleanup_applies,
            task_types=list(self.benchmark.task_types),
            task_ids=[task.id for task in self.selection.tasks],
            versions=versions(),
            config_hash=self.config_hash,
            data_hash=self.data_hash,
            config=config.model_dump(mode="json"),
            deciding=config.deciding(),
            notes=list(self.selection.notes),
            tags=list(config.tags),
            note=config.note,
        )

    def prepare(self) -> list[EpisodeSpec]:
        """Make the run directory or check that it is this run's; returns what is owed."""
        manifest = self.manifest()
        self.table = metrics_table(manifest)
        if self.directory.exists:
            manifest = self._resumed(self.directory.manifest(), manifest)
        else:
            self.directory.create(self.config.to_yaml(), manifest)
        self.saved_manifest = manifest
        if self._index is None:
            self._index = RowIndex(self.directory, self.table, thorough=True, light=True)
        self._index.refresh()
        return self.owed

    def _resumed(self, saved: Manifest, manifest: Manifest) -> Manifest:
        """The manifest of the parts before; metrics, tags and the note may change."""
        differences = saved.differences(manifest)
        if differences:
            raise ConfigError(
                f"{self.directory.path} was made with another configuration:\n  "
                + "\n  ".join(differences)
                + "\nUse another run_name (or none) to start a new run."
            )
        merged = saved.model_copy(
            update={"metrics": manifest.metrics, "tags": manifest.tags, "note": manifest.note}
        )
        if merged != saved:
            self.directory.create(self.config.to_yaml(), merged)
        return merged

    @property
    def index(self) -> RowIndex:
        """What was played so far, as small rows."""
        assert self._index is not None, "prepare() comes first"
        return self._index

    @property
    def records(self) -> "Records":
        """The newest record of each episode played so far, without prompts, in the specs' order;
        read when it is asked for."""
        return Records(self.index, self.in_order(self.index.rows))

    @property
    def rows(self) -> list[EpisodeRow]:
        """The rows of the records, in the same order."""
        return [one.row for one in self.in_order(self.index.rows)]

    @property
    def owed(self) -> list[EpisodeSpec]:
        """What has no score yet."""
        return self._owed(self.specs)

    def _owed(self, specs: Sequence[EpisodeSpec]) -> list[EpisodeSpec]:
        scored = {one.key for one in self.index.rows if one.scored}
        return [spec for spec in specs if spec.key not in scored]

    def _keep(self, record: EpisodeRecord, place: Place) -> None:
        """Count an episode that is on disk. Only its row stays in memory."""
        assert self._parts is not None, "only while it is played"
        row = row_of(record, self.table)
        part = self._parts.add(result_entry(record, row, self._numbers))
        if self.index.add(record, row, place, part):
            self._parts.flush()
            self.index.flush()

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return type_numbers(self.saved_manifest.task_types)

    @contextmanager
    def _pieces(self) -> Iterator[ResultParts]:
        """The pieces of results.json, for whoever holds the run's lock."""
        if self._parts is not None:
            yield self._parts
            return
        anew = all(one.part is None for one in self.index.rows)
        self._parts = self.directory.parts(anew)
        try:
            yield self._parts
        finally:
            self._parts.close()
            self._parts = None

    def write_results(self, frame: Mapping[str, Any]) -> None:
        """`results.json`: the frame with all episodes in it. The caller holds the run's lock."""
        rows = self.in_order(self.index.rows)
        with self._pieces() as parts:
            lists = {
                "results": (self._piece(one, parts) for one in rows if one.scored),
                "unscored_results": (self._piece(one, parts) for one in rows if not one.scored),
            }
            self.directory.write_results(frame, lists)

    def _piece(self, one: IndexedRow, parts: ResultParts) -> bytes:
        known = parts.read(one.part) if one.part else None
        if known is not None:
            return known
        entry = result_entry(self.index.record(one), one.row, self._numbers)
        self.index.with_part(one, parts.add(entry))
        return written(entry)

    async def play(
        self,
        specs: Sequence[EpisodeSpec],
        watcher: Watcher,
        stop: asyncio.Event,
        checkpoint: Checkpoint,
        shared: Any = None,
        executor: Executor | None = None,
    ) -> str | None:
        """Play the specs; returns why the run stopped early, or None.

        `shared` is what the agents share, where the caller has opened it; `executor` who plays
        the episodes, where that is none of the configured ones.
        """
        resources = Resources(self.context, self.benchmark, shared)
        executor = executor or make_executor(
            self.config.executor.name, self.config.executor.settings
        )
        live = LiveLog(self.directory.path)
        watcher.playing(resources.trouble)
        packed = self.config.compress_records
        if packed is None:
            packed = len(self.specs) > _MANY
        try:
            with self.directory.locked(packed) as log, rare_collections(), self._writing():

                def save_results() -> None:
                    checkpoint(self.records)

                monitor = RunMonitor(log, live, watcher, stop, self.config.cost_limit, save_results)
                left = self._owed(specs)
                monitor.resume_from(self._keep, self.index.cost)
                try:
                    await executor.run(left, resources, monitor, self.config.parallel, stop)
                finally:
                    save_results()
                return monitor.reason
        finally:
            live.flush()
            live.close()
            await resources.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Everything that grows beside the records."""
        # Another process may have played some of them before we had the lock.
        self.index.refresh()
        self.index.hold()
        try:
            with self._pieces() as parts:
                yield
                parts.flush()
        finally:
            self.index.release()

    def in_order(self, played: Iterable[Kept]) -> list[Kept]:
        """Rows in the order of the run's specs, whichever finished first."""
        places = {spec.key: place for place, spec in enumerate(self.specs)}
        return sorted(played, key=lambda one: places.get(one.key, len(places)))


class Records(Sequence[EpisodeRecord]):
    """Records without prompts, each read from disk when it is asked for."""

    def __init__(self, index: RowIndex, rows: Sequence[IndexedRow]) -> None:
        self._index = index
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> EpisodeRecord: ...

    @overload
    def __getitem__(self, place: slice) -> "Records": ...

    def __getitem__(self, place: int | slice) -> "EpisodeRecord | Records":
        if isinstance(place, slice):
            return Records(self._index, self._rows[place])
        return self._index.record(self._rows[place]).slim()
