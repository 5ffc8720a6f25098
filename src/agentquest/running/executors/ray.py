"""Episodes on a Ray cluster: workers are actors, each with an event loop and many episodes.

This process hands out the work, alone writes the run directory, and holds the
limits of the whole run; see `pool`. An actor answers one call at a time with everything
that happened since the last, so a step costs no message of its own. A node is checked
before it gets an episode, and its data before each: the hash must be this machine's. One
without the data is sent what its episodes need: Ray carries an object to a node once,
whichever of its workers ask for it, and on disk it is kept under the task's hash, so that a
later run finds it there.
"""

import asyncio
import sys
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock
from pydantic import Field

from agentquest.errors import AgentQuestError, DataError, UnknownName, UserError
from agentquest.extras import MissingExtra, require
from agentquest.lib import Benchmark, Settings, Task
from agentquest.platform import keep_handlers, shared_file
from agentquest.running.events import RunEvents
from agentquest.running.executors.pool import (
    Event,
    Hear,
    Lease,
    Pool,
    Worker,
    WorkerLoop,
    begin_worker,
    divide_limits,
)
from agentquest.running.factory import Resources
from agentquest.running.play import run_in_thread
from agentquest.running.spec import EpisodeSpec, RunContext, versions
from agentquest.words import counted

_MOST_EVENTS = 2000
_PROBE_S = 5.0
SAY_AFTER_S = 3.0
# What a client of gRPC says first, and the kind of frame that a server of gRPC begins with.
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_SETTINGS_FRAME = 4
_LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")
_RESERVED = {"num_cpus": "CPU", "num_gpus": "GPU", "memory": "memory"}
_IN_CREATION = "error raised in its creation task"


class RaySettings(Settings):
    """Which cluster, and how much of it."""

    address: str | None = None
    """The cluster: `auto` for the one this machine is part of, or its address; null starts one on
    this machine."""

    workers: int = Field(default=0, ge=0, le=10_000)
    """Number of actors; 0: one per CPU of the cluster."""

    resources: dict[str, float] = Field(default_factory=lambda: {"num_cpus": 1.0})
    """What each actor reserves, as Ray's `num_cpus`, `num_gpus`, `memory` or a resource's name."""


class RayExecutor:
    """Plays on a cluster; a worker whose versions or data differ from the run's is refused."""

    Settings = RaySettings

    def __init__(self, settings: RaySettings) -> None:
        require("ray", "ray", why="executor: ray")
        self._settings = settings

    def check(self) -> None:
        """Raise UserError where no cluster answers; called before a run directory is made."""
        _check_address(self._settings.address)

    async def run(
        self,
        specs: Sequence[EpisodeSpec],
        resources: Resources,
        events: RunEvents,
        parallel: int,
        stop: asyncio.Event,
    ) -> None:
        """Play the specs, with `parallel` shared out among the actors."""
        if not specs or stop.is_set():
            return
        started = connect(self._settings.address)
        try:
            most = min(self._number(), len(specs), parallel)
            context, number = divide_limits(resources.context, most)
            cargo = _Cargo(resources.benchmark, specs[0].task)
            options = actor_options(self._settings.resources)
            width = max(1, parallel // number)
            new_worker = partial(_RayWorker, context, options, cargo)
            pool = Pool(new_worker, "ray", specs, events, number, width)
            saying = asyncio.create_task(self._say_what_is_awaited(pool, number, events))
            try:
                await pool.run(stop)
            finally:
                saying.cancel()
        finally:
            if started:
                ray_module().shutdown()

    def _number(self) -> int:
        return self._settings.workers or max(1, int(ray_module().cluster_resources().get("CPU", 1)))

    async def _say_what_is_awaited(self, pool: Pool, number: int, events: RunEvents) -> None:
        """After some seconds without all workers, once: what keeps the others from starting."""
        await asyncio.sleep(SAY_AFTER_S)
        missing = pool.count_not_ready()
        if missing:
            reason = await asyncio.to_thread(explain_waiting, self._settings.resources, number)
            events.noted(f"{missing} of {counted(number, 'Ray worker')} still to start: {reason}")


class _Cargo:
    """Tasks as this machine has them: what nodes must find too, or are sent, each once."""

    def __init__(self, benchmark: Benchmark, sample: Task) -> None:
        self._benchmark = benchmark
        self._hashes: dict[str, str] = {}
        self._files: dict[str, Any] = {}
        self.sample = sample

    def hash_tasks(self, lease: Lease) -> dict[str, str]:
        """The hashes of a lease's tasks, by id."""
        for task, _, _ in lease:
            if task.id not in self._hashes:
                self._hashes[task.id] = self._benchmark.data_hash(task)
        return {task.id: self._hashes[task.id] for task, _, _ in lease}

    def send(self, task: Task, reason: str) -> Any:
        """A reference to a task's files; raises DataError with the reason if it has none."""
        if task.id not in self._files:
            folder = self._benchmark.folder(task)
            if folder is None:
                raise DataError(reason)
            self._files[task.id] = ray_module().put(_pack(folder))
        return self._files[task.id]


class EpisodeActor:
    """Lives on some node of the cluster."""

    def __init__(self, name: str, path: Sequence[str]) -> None:
        begin_worker(path)
        node = str(ray_module().get_runtime_context().get_node_id())[:8]
        self._name = f"{name}@{node}"
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._worker: WorkerLoop | None = None

    async def about(self) -> tuple[str, dict[str, str]]:
        """Its name, and what it plays with."""
        return self._name, versions()

    async def open(self, context: RunContext, sample: Task) -> str:
        """What is wrong here, in a sentence; empty when episodes can be played."""
        self._worker = WorkerLoop(context, self._name, self._events.put_nowait)
        try:
            # One worker of a machine at a time, so that what the first builds the others find.
            with FileLock(shared_file("opening.lock")):
                await self._worker.open()
                with suppress(DataError):  # `begin` says which tasks are missing
                    self._worker.resources.benchmark.data_hash(sample)
        except UnknownName as error:
            return f"{error}; it must be installed on every node"
        except (AgentQuestError, OSError) as error:
            return str(error)
        return ""

    async def begin(
        self, lease: Lease, hashes: Mapping[str, str], files: Mapping[str, Any]
    ) -> dict[str, str]:
        """Play these; returns what keeps tasks from being opened here, by id.

        `hashes` are those that the tasks must have, `files` are of tasks that this node lacks.
        """
        assert self._worker is not None
        missing: dict[str, str] = {}
        for task, trial, seed in lease:
            try:
                if task.id in files:
                    task = await _receive_task(task, hashes[task.id], files[task.id])
                there = self._worker.resources.benchmark.data_hash(task)
            except DataError as error:
                missing[task.id] = f"data missing: {error}"
                continue
            if there != hashes[task.id]:
                differs = f"its data for task {task.id} differs from this run's: {task.problem}"
                self._events.put_nowait(Event("failed", message=differs))
                break
            self._worker.begin([(task, trial, seed)])
        return missing

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


async def _receive_task(task: Task, data_hash: str, files: Any) -> Task:
    """The task as this machine opens it."""
    folder = _folder_of(task, data_hash)
    if not folder.is_dir():
        _unpack(await files, folder)
    return replace(task, problem=str(folder))


class _RayWorker(Worker):
    def __init__(
        self,
        context: RunContext,
        options: Mapping[str, Any],
        cargo: _Cargo,
        name: str,
        tell: Hear,
    ) -> None:
        super().__init__(name, tell)
        self.ready = False  # until the cluster has room for it
        self._cargo = cargo
        remote = ray_module().remote(EpisodeActor)
        self._actor = remote.options(max_concurrency=1000, **options).remote(name, list(sys.path))
        self._listening = asyncio.create_task(self._listen(context))

    async def _listen(self, context: RunContext) -> None:
        """Until the actor is gone, whichever way."""
        try:
            problem = await self._open(context)
            if problem:
                self._fail(problem)
                return
            self.ready = True
            self.tell(self, Event("ready"))
            while True:
                for event in await self._actor.events.remote():
                    if event.kind == "failed":
                        self._fail(event.message)
                        continue
                    self.tell(self, self._as_here(event))
                    if event.kind == "gone":
                        return
        except ray_module().exceptions.RayError as error:
            # The actor or its node died; what it was playing is played elsewhere.
            is_hopeless = not self.ready and _is_in_creation(error)
            self.tell(self, Event("failed" if is_hopeless else "gone", message=_explain(error)))

    async def _open(self, context: RunContext) -> str:
        """What keeps the actor from playing, in a sentence; it may lack data that can be sent."""
        self.name, theirs = await self._actor.about.remote()
        ours = dict(context.versions)
        if theirs != ours:
            return f"its versions are {_join(theirs)}, this run's are {_join(ours)}"
        problem: str = await self._actor.open.remote(context, self._cargo.sample)
        return problem

    def _fail(self, problem: object) -> None:
        """End the run; whoever reads why can find the node."""
        self.tell(self, Event("failed", message=f"worker {self.name}: {problem}"))

    def _as_here(self, event: Event) -> Event:
        """A record says where this machine has the problem, wherever it was played."""
        spec, record = self.playing.get(event.key), event.record
        if spec is None or record is None or record.problem == spec.task.problem:
            return event
        return replace(event, record=record.model_copy(update={"problem": spec.task.problem}))

    def play(self, specs: Sequence[EpisodeSpec]) -> None:
        lease = [(spec.task, spec.trial, spec.seed) for spec in specs]
        self._begun = asyncio.create_task(self._begin(lease))

    async def _begin(self, lease: Lease) -> None:
        try:
            hashes = self._cargo.hash_tasks(lease)
            missing = await self._actor.begin.remote(lease, hashes, {})
            if missing:
                rest = [each for each in lease if each[0].id in missing]
                files = {task.id: self._cargo.send(task, missing[task.id]) for task, _, _ in rest}
                for reason in (await self._actor.begin.remote(rest, hashes, files)).values():
                    self._fail(reason)
        except ray_module().exceptions.RayTaskError as error:
            self._fail(_explain(error))
        except ray_module().exceptions.RayError:
            return  # the listener tells of it
        except (AgentQuestError, OSError) as error:
            self._fail(error)

    def stop(self) -> None:
        if self.ready:
            self._actor.end.remote()
        else:
            self.tell(self, Event("gone"))

    async def end(self) -> None:
        self._listening.cancel()
        ray_module().kill(self._actor)


def _join(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in facts.items())


def ray_module() -> Any:
    """Ray, imported when it is asked for."""
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "playing on a Ray cluster", ["ray"]) from None
    return ray


def connect(address: str | None) -> bool:
    """Join the cluster or start one; whether this call did so."""
    ray = ray_module()
    if ray.is_initialized():
        return False
    # Without an address Ray would join whatever cluster this machine happens to be part of.
    where: dict[str, Any] = {"address": address or "local"}
    if not address:
        where["include_dashboard"] = False
    _check_address(address)
    try:
        with keep_handlers():  # Ray's would abort the process on SIGTERM
            ray.init(log_to_driver=False, configure_logging=False, namespace="agentquest", **where)
    except (OSError, ValueError) as error:
        raise UserError(f"executor.address: no Ray cluster at {address!r}: {error}") from None
    except RuntimeError as error:
        # Such as another version of Ray or Python there.
        said = " ".join(str(error).split())
        raise UserError(f"executor.address: cannot join {address!r}: {said}") from None
    return True


def _check_address(address: str | None) -> None:
    """Raise UserError unless Ray can answer there; it would search for minutes by itself."""
    host, separator, port = (address or "").removeprefix("ray://").rpartition(":")
    if not (separator and port.isdigit()):
        return
    problem = run_in_thread(_probe(host, int(port)))
    if not problem and host in _LOOPBACK and not str(address).startswith("ray://"):
        own = str(ray_module().util.get_node_ip_address())
        if own not in _LOOPBACK and run_in_thread(_probe(own, int(port))):
            problem = (
                f"it answers on {host} only, and Ray calls this machine {own}; start the head with"
                f" --node-ip-address={own} (docs/scaling.md)"
            )
    if problem:
        raise UserError(f"executor.address: no Ray cluster at {address!r}: {problem}")


async def _probe(host: str, port: int) -> str:
    """What is wrong with an address, in words; empty if something there speaks Ray's protocol."""
    try:
        opening = asyncio.open_connection(host, port)
        reader, writer = await asyncio.wait_for(opening, _PROBE_S)
    except asyncio.TimeoutError:
        return f"no connection within {_PROBE_S:g} s"
    except OSError as error:
        return error.strerror or str(error)
    try:
        writer.write(_HELLO)
        frame = await asyncio.wait_for(reader.readexactly(len(_HELLO[-9:])), _PROBE_S)
        is_ray = frame[3] == _SETTINGS_FRAME
    except (asyncio.IncompleteReadError, asyncio.TimeoutError, OSError):
        is_ray = False
    finally:
        writer.close()
    return "" if is_ray else "something answers there, but it is not Ray"


def actor_options(resources: Mapping[str, float]) -> dict[str, Any]:
    """What an actor reserves, as Ray takes it: its own three kinds, and resources by name."""
    options: dict[str, Any] = {k: v for k, v in resources.items() if k in _RESERVED}
    options["resources"] = {k: v for k, v in resources.items() if k not in _RESERVED}
    return options


def explain_waiting(resources: Mapping[str, float], number: int) -> str:
    """Why actors that reserve this do not start: nobody has it, not so often, or not now."""
    wanted = {_RESERVED.get(name, name): amount for name, amount in resources.items() if amount}
    nodes = [node["Resources"] for node in ray_module().nodes() if node["Alive"]]
    shown = ", ".join(f"{name} {amount:g}" for name, amount in wanted.items())
    room = sum(
        int(min((node.get(name, 0) / amount for name, amount in wanted.items()), default=number))
        for node in nodes
    )
    if not room:
        return f"no node of the cluster has what each reserves ({shown})"
    if room < number:
        return f"the cluster has room for {room} that reserve {shown} each"
    return f"others use what each reserves ({shown}), or its node is slow to start it"


def _is_in_creation(error: BaseException) -> bool:
    """Whether an actor could not even be made: others on its node could not either."""
    return _IN_CREATION in str(error)


def _explain(error: BaseException) -> str:
    """The last line of what Ray says, which is the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[-1] if lines else type(error).__name__
    return f"a worker cannot start on its node: {said}" if _is_in_creation(error) else said


def _pack(folder: Path) -> dict[str, bytes]:
    """The files of a folder, each compressed, by name; folders in it are left out."""
    return {
        file.name: zlib.compress(file.read_bytes())
        for file in sorted(folder.iterdir())
        if file.is_file()
    }


def _folder_of(task: Task, data_hash: str) -> Path:
    """Where this machine keeps, or would keep, a task that was sent to it."""
    store = Path.home() / ".cache" / "agentquest" / "shipped"
    folder = store / data_hash / task.id
    if ".." in folder.parts or store not in folder.parents:
        raise DataError(f"task id {task.id!r} cannot be used as a folder name")
    return folder


def _unpack(pack: Mapping[str, bytes], folder: Path) -> None:
    """Keep a task's files; whole or not at all, as other workers may look for them."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        whole = Path(scratch) / "whole"
        whole.mkdir()
        for name, content in pack.items():
            (whole / Path(name).name).write_bytes(zlib.decompress(content))
        try:
            whole.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another worker was quicker
                raise
