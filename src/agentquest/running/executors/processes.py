"""Episodes in several processes, each with an event loop of its own.

For agents or benchmarks that compute: one event loop uses one core.
"""

import asyncio
import logging
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any

from pydantic import Field

from agentquest.lib import Settings
from agentquest.running.events import RunEvents
from agentquest.running.executors.pool import Event, Pool, Worker, divided
from agentquest.running.executors.worker_loop import GROUP_SIGNALS, serve_process
from agentquest.running.factory import Resources
from agentquest.running.spec import EpisodeSpec, RunContext

logger = logging.getLogger(__name__)


class ProcessSettings(Settings):
    """How many processes play."""

    workers: int = Field(default=0, ge=0, le=1024)
    """How many processes; 0: one per core."""


class ProcessExecutor:
    """Plays in child processes of this one."""

    Settings = ProcessSettings

    def __init__(self, settings: ProcessSettings) -> None:
        self._workers = settings.workers or os.cpu_count() or 1

    async def run(
        self,
        specs: Sequence[EpisodeSpec],
        resources: Resources,
        events: RunEvents,
        parallel: int,
        stop: asyncio.Event,
    ) -> None:
        """Play the specs, with `parallel` shared out among the processes."""
        if not specs or stop.is_set():
            return
        most = min(self._workers, len(specs), parallel)
        context, number = divided(resources.context, most)

        def new_worker(name: str, tell: Callable[[Worker, Event], None]) -> Worker:
            return _ProcessWorker(name, context, tell)

        width = max(1, parallel // number)
        await Pool(new_worker, "process", specs, events, number, width).run(stop)


@contextmanager
def _group_signals_held() -> Iterator[None]:
    """A process that starts now inherits this: Ctrl-C, which the whole group gets, waits until
    it can decide what to do with it (see `serve_process`)."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    before = signal.pthread_sigmask(signal.SIG_BLOCK, GROUP_SIGNALS)
    try:
        # Python's helper process would die of SIGHUP, and starting it lets SIGINT through again.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, GROUP_SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _ProcessWorker(Worker):
    def __init__(
        self, name: str, context: RunContext, tell: Callable[[Worker, Event], None]
    ) -> None:
        super().__init__(name, tell)
        spawn = multiprocessing.get_context("spawn")
        self._connection: Connection
        self._connection, theirs = spawn.Pipe()
        self._process: BaseProcess = spawn.Process(
            target=serve_process, args=(theirs, context, name, list(sys.path)), daemon=True
        )
        with _group_signals_held():
            self._process.start()
        theirs.close()
        Thread(target=self._listen, name=f"listen-{name}", daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                event = self._connection.recv()
            except (EOFError, OSError):
                event = Event("gone")
            self.tell(self, event)
            if event.kind == "gone":
                return

    def play(self, specs: Sequence[EpisodeSpec]) -> None:
        self._send([(spec.task, spec.trial, spec.seed) for spec in specs])

    def stop(self) -> None:
        self._send(None)

    async def end(self) -> None:
        if self._process.is_alive():
            self._process.terminate()
        await asyncio.to_thread(self._process.join, 5)
        self._connection.close()

    def _send(self, message: Any) -> None:
        try:
            self._connection.send(message)
        except OSError:
            logger.debug("%s is gone already", self.name)
