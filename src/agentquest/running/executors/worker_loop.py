"""What a worker does, in a process or an actor: play what it is sent, tell what happens."""

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from agentquest.errors import AgentQuestError
from agentquest.lib import Task
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.messages import Message
from agentquest.running.events import RunEvents
from agentquest.running.executors.local import LocalExecutor
from agentquest.running.executors.pool import Event
from agentquest.running.factory import Resources
from agentquest.running.play import rare_collections
from agentquest.running.spec import EpisodeSpec, RunContext

Tell = Callable[[Event], None]
Lease = Sequence[tuple[Task, int, int]]
# Ctrl-C and a closed terminal reach the whole group; the process that writes decides.
GROUP_SIGNALS = [each for each in signal.Signals if each.name in ("SIGINT", "SIGHUP")]


class Messenger(RunEvents):
    """Sends every event to the process that owns the pool, without what only records need."""

    def __init__(self, tell: Tell, show_prompts: bool) -> None:
        self._tell = tell
        self._show_prompts = show_prompts

    def started(self, spec: EpisodeSpec, worker: str) -> None:
        self._tell(Event("started", spec.key))

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        slim = step.model_copy(update={"admissible": [], "prompt": []})
        self._tell(Event("stepped", spec.key, slim, prompt if self._show_prompts else ()))

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        self._tell(Event("finished", spec.key, record=record))

    def cut_short(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        self._tell(Event("cut_short", spec.key, record=record))


class WorkerLoop:
    """The episodes of one worker; lives in an event loop."""

    def __init__(self, context: RunContext, name: str, tell: Tell) -> None:
        self._context = context
        self._name = name
        self._tell = tell
        self._messenger = Messenger(tell, context.show_prompts)
        self._stop = asyncio.Event()
        self._playing: set[asyncio.Task[None]] = set()
        self.resources = Resources(context)

    async def open(self) -> None:
        """Everything that can be wrong on this machine is found out now."""
        _ = (self.resources.benchmark, self.resources.agent_class)
        await self.resources.open()

    def begin(self, lease: Lease) -> None:
        """Start the episodes of a lease, each as a task of its own."""
        for task, trial, seed in lease:
            spec = EpisodeSpec(self._context, task, trial, seed)
            episode = LocalExecutor(worker=self._name).run(
                [spec], self.resources, self._messenger, 1, self._stop
            )
            work = asyncio.create_task(episode)
            self._playing.add(work)
            work.add_done_callback(self._done)

    def _done(self, work: "asyncio.Task[None]") -> None:
        self._playing.discard(work)
        if not work.cancelled() and (error := work.exception()) is not None:
            self._tell(Event("failed", message=str(error)))

    async def end(self) -> None:
        """Cut short what is being played and let go of what was opened."""
        self._stop.set()
        if self._playing:
            await asyncio.wait(self._playing)
        await self.resources.close()


def serve_process(
    connection: Connection, context: RunContext, name: str, path: Sequence[str]
) -> None:
    """The main function of a worker process."""
    for ignored in GROUP_SIGNALS:
        signal.signal(ignored, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, GROUP_SIGNALS)
    sys.path[:] = [*sys.path, *(folder for folder in path if folder not in sys.path)]
    try:
        with rare_collections():
            asyncio.run(_serve(connection, context, name))
    except AgentQuestError as error:
        connection.send(Event("failed", message=str(error)))
    finally:
        connection.close()


async def _serve(connection: Connection, context: RunContext, name: str) -> None:
    worker = WorkerLoop(context, name, connection.send)
    try:
        await worker.open()
        while (lease := await asyncio.to_thread(_receive, connection)) is not None:
            worker.begin(lease)
    finally:
        await worker.end()


def _receive(connection: Connection) -> Any:
    try:
        return connection.recv()
    except (EOFError, OSError):
        return None
