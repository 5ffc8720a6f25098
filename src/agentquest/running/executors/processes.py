"""Episodes in several processes, each with an event loop of its own.

For agents or benchmarks that compute: one event loop uses one core.
"""

import asyncio
import logging
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Thread
from typing import Any

from pydantic import Field

from agentquest.errors import AgentQuestError
from agentquest.lib import Settings
from agentquest.platform import block_signals, unblock_signals
from agentquest.running.events import RunEvents
from agentquest.running.executors.pool import (
    Event,
    Hear,
    Pool,
    Worker,
    WorkerLoop,
    begin_worker,
    divide_limits,
)
from agentquest.running.factory import Resources
from agentquest.running.play import rare_collections, run_to_end
from agentquest.running.spec import EpisodeSpec, RunContext

logger = logging.getLogger(__name__)
# Ctrl-C and a closed terminal reach the whole group; the process that writes decides.
_GROUP_SIGNALS = [each for each in signal.Signals if each.name in ("SIGINT", "SIGHUP")]


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
        context, number = divide_limits(resources.context, most)
        width = max(1, parallel // number)
        new_worker = partial(_ProcessWorker, context)
        await Pool(new_worker, "process", specs, events, number, width).run(stop)


@contextmanager
def _hold_group_signals() -> Iterator[None]:
    """A process that starts now inherits this: Ctrl-C, which the whole group gets, waits until
    it can decide what to do with it (see `serve_process`)."""
    from multiprocessing import resource_tracker

    before = block_signals(_GROUP_SIGNALS)
    try:
        if before is not None:
            # Python's helper process would die of SIGHUP, and starting it lets SIGINT through.
            resource_tracker.ensure_running()
            block_signals(_GROUP_SIGNALS)
        yield
    finally:
        unblock_signals(_GROUP_SIGNALS, except_for=before)


class _ProcessWorker(Worker):
    def __init__(self, context: RunContext, name: str, tell: Hear) -> None:
        super().__init__(name, tell)
        spawn = multiprocessing.get_context("spawn")
        self._connection: Connection
        self._connection, theirs = spawn.Pipe()
        self._process: BaseProcess = spawn.Process(
            target=serve_process, args=(theirs, context, name, list(sys.path)), daemon=True
        )
        with _hold_group_signals():
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
        self._process.kill()  # what foreign code has made of other signals does not matter
        await asyncio.to_thread(self._process.join)
        self._connection.close()

    def _send(self, message: Any) -> None:
        try:
            self._connection.send(message)
        except OSError:
            logger.debug("%s is gone already", self.name)


def serve_process(
    connection: Connection, context: RunContext, name: str, path: Sequence[str]
) -> None:
    """The main function of a worker process."""
    begin_worker(path)
    for ignored in _GROUP_SIGNALS:
        signal.signal(ignored, signal.SIG_IGN)
    unblock_signals(_GROUP_SIGNALS)
    try:
        with rare_collections():
            run_to_end(_serve(connection, context, name))
    except AgentQuestError as error:
        connection.send(Event("failed", message=str(error)))
    finally:
        connection.close()


async def _serve(connection: Connection, context: RunContext, name: str) -> None:
    def tell(event: Event) -> None:
        with suppress(OSError):  # nobody listens any more: the lease that ends us is next
            connection.send(event)

    worker = WorkerLoop(context, name, tell)
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
