"""Episodes on a Ray cluster: workers are actors, each with an event loop and many episodes.

This process hands out the work, alone writes the run directory, and holds the
limits of the whole run; see `pool`. An actor answers one call at a time with all
that has happened since the last, so a step costs no message of its own.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import Field

from agentquest.errors import AgentQuestError, UserError
from agentquest.extras import MissingExtra
from agentquest.lib import Settings, Task
from agentquest.running.executors.pool import Event, Pool, Worker, divided
from agentquest.running.executors.worker_loop import Lease, WorkerLoop
from agentquest.running.factory import Resources
from agentquest.running.play import Sink
from agentquest.running.spec import EpisodeSpec, RunContext, versions

_MOST_EVENTS = 2000
_PROBE_S = 10.0


class RaySettings(Settings):
    """Which cluster, and how much of it."""

    address: str | None = None
    """The cluster: `auto` for the one this machine is part of, or its address; null starts one on
    this machine."""

    workers: int = Field(default=0, ge=0, le=10_000)
    """How many actors; 0: one for each CPU of the cluster."""

    resources: dict[str, float] = Field(default_factory=lambda: {"num_cpus": 1.0})
    """What each actor reserves, as Ray's `num_cpus`, `num_gpus`, `memory` or a resource's name."""


class RayExecutor:
    """Plays on a cluster; a worker whose versions or data differ from the run's is refused."""

    Settings = RaySettings

    def __init__(self, settings: RaySettings) -> None:
        self._settings = settings

    async def run(
        self,
        specs: Sequence[EpisodeSpec],
        resources: Resources,
        sink: Sink,
        parallel: int,
        stop: asyncio.Event,
    ) -> None:
        """Play the specs, with `parallel` shared out among the actors."""
        if not specs or stop.is_set():
            return
        started = await connect(self._settings.address)
        try:
            number = min(self._number(), len(specs), parallel)
            context = divided(resources.context, number)
            sample = specs[0].task
            expected = resources.benchmark.data_hash(sample)

            def new_worker(name: str, tell: Callable[[Worker, Event], None]) -> Worker:
                return _RayWorker(name, context, self._options(), (sample, expected), tell)

            width = max(1, parallel // number)
            await Pool(new_worker, "ray", specs, sink, number, width).run(stop)
        finally:
            if started:
                _ray().shutdown()

    def _number(self) -> int:
        return self._settings.workers or max(1, int(_ray().cluster_resources().get("CPU", 1)))

    def _options(self) -> dict[str, Any]:
        known = {"num_cpus", "num_gpus", "memory"}
        given = self._settings.resources
        options: dict[str, Any] = {k: v for k, v in given.items() if k in known}
        options["resources"] = {k: v for k, v in given.items() if k not in known}
        return options


async def connect(address: str | None) -> bool:
    """Join the cluster or start one; whether this call did so."""
    ray = _ray()
    if ray.is_initialized():
        return False
    where: dict[str, Any] = {"address": address} if address else {"include_dashboard": False}
    try:
        await _probe(address)
        ray.init(log_to_driver=False, configure_logging=False, namespace="agentquest", **where)
    except (OSError, ValueError, RuntimeError, asyncio.TimeoutError) as error:
        raise UserError(f"executor.address: no Ray cluster at {address!r}: {error}") from None
    return True


async def _probe(address: str | None) -> None:
    """Ray looks for a cluster for minutes; whether anybody answers there is known at once."""
    host, separator, port = (address or "").removeprefix("ray://").rpartition(":")
    if separator and port.isdigit():
        opening = asyncio.open_connection(host, int(port))
        _, writer = await asyncio.wait_for(opening, _PROBE_S)
        writer.close()


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "executor: ray", ["ray"]) from None
    return ray


class EpisodeActor:
    """Lives on some node of the cluster."""

    def __init__(self, context: RunContext, name: str, path: Sequence[str]) -> None:
        sys.path[:] = [*sys.path, *(folder for folder in path if folder not in sys.path)]
        node = str(_ray().get_runtime_context().get_node_id())[:8]
        self._context = context
        self._name = f"{name}@{node}"
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._worker: WorkerLoop | None = None

    async def open(self, sample: Task, data_hash: str) -> str:
        """What is wrong here, in a sentence; empty when episodes can be played."""
        mine, theirs = versions(), dict(self._context.versions)
        if mine != theirs:
            return f"its versions are {_listed(mine)}, this run's are {_listed(theirs)}"
        try:
            self._worker = WorkerLoop(self._context, self._name, self._events.put_nowait)
            await self._worker.open()
            if self._worker.resources.benchmark.data_hash(sample) != data_hash:
                return f"its data of task {sample.id} is not this run's"
        except (AgentQuestError, OSError) as error:
            return str(error)
        return ""

    async def begin(self, lease: Lease) -> None:
        """Start playing the episodes of a lease, without waiting for them."""
        assert self._worker is not None
        self._worker.begin(lease)

    async def events(self) -> list[Event]:
        """All that happened since the last call; waits for the first."""
        happened = [await self._events.get()]
        while not self._events.empty() and len(happened) < _MOST_EVENTS:
            happened.append(self._events.get_nowait())
        return happened

    async def end(self) -> None:
        """Stop what is being played, and tell that nothing more will come."""
        if self._worker is not None:
            await self._worker.end()
        self._events.put_nowait(Event("gone"))

    async def name(self) -> str:
        """The worker's name, and the node that it runs on."""
        return self._name


class _RayWorker(Worker):
    def __init__(
        self,
        name: str,
        context: RunContext,
        options: Mapping[str, Any],
        sample: tuple[Task, str],
        tell: Callable[[Worker, Event], None],
    ) -> None:
        super().__init__(name, tell)
        self.ready = False  # until the cluster has room for it
        remote = _ray().remote(EpisodeActor)
        self._actor = remote.options(max_concurrency=1000, **options).remote(
            context, name, list(sys.path)
        )
        self._listening = asyncio.create_task(self._listen(*sample))

    async def _listen(self, sample: Task, data_hash: str) -> None:
        """Until the actor is gone, whichever way."""
        try:
            problem = await self._actor.open.remote(sample, data_hash)
            self.name = await self._actor.name.remote()
            if problem:
                self.tell(self, Event("failed", message=f"worker {self.name}: {problem}"))
                return
            self.ready = True
            self.tell(self, Event("ready"))
            while True:
                for event in await self._actor.events.remote():
                    self.tell(self, event)
                    if event.kind == "gone":
                        return
        except _ray().exceptions.RayError:
            # The actor or its node died; what it was playing is played elsewhere.
            self.tell(self, Event("gone"))

    def play(self, specs: Sequence[EpisodeSpec]) -> None:
        lease = [(spec.task, spec.trial, spec.seed) for spec in specs]
        self._begun = asyncio.create_task(self._begin(lease))

    async def _begin(self, lease: Lease) -> None:
        try:
            await self._actor.begin.remote(lease)
        except _ray().exceptions.RayError:
            return  # the listener tells of it

    def stop(self) -> None:
        if self.ready:
            self._actor.end.remote()
        else:
            self.tell(self, Event("gone"))

    async def end(self) -> None:
        self._listening.cancel()
        _ray().kill(self._actor)


def _listed(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.items())
