"""Sending episodes to other tools while a run goes on: `sinks: [otel]`, or a class of your own.

A sink sees finished records and changes nothing. It works in a thread of its own, behind a
queue: one that is slow, fails or hangs loses its own output, never an episode.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from queue import Full, Queue
from typing import Any

from agentquest import registry
from agentquest.errors import explain
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.running.events import RunEvents
from agentquest.running.spec import EpisodeSpec

logger = logging.getLogger("agentquest.sinks")
_WAITING = 10_000  # records that may wait for a slow sink; more are dropped
_PATIENCE_S = 30.0


class Sink:
    """Subclass it and name it in `sinks`, as `package.module:Class`. Made once per run."""

    def __init__(self, manifest: Manifest, folder: Path) -> None:
        self.manifest = manifest
        self.folder = folder

    def finished(self, record: EpisodeRecord) -> None:
        """An episode has ended, scored or not."""

    def close(self, summary: dict[str, Any]) -> None:
        """This part of the run is over; `summary` is that of results.json, of all parts."""


class QueuedSink(RunEvents):
    """One sink and the thread that it works in."""

    def __init__(self, name: str, make: Callable[[], Sink]) -> None:
        self._name = name
        self._queue: Queue[Callable[[Sink], None] | None] = Queue(_WAITING)
        self._thread = threading.Thread(
            target=self._work, args=(make,), name=f"sink {name}", daemon=True
        )
        self._thread.start()
        self._lost = 0

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        try:
            self._queue.put_nowait(lambda sink: sink.finished(record))
        except Full:
            self._lost += 1

    def close(self, summary: dict[str, Any], patience_s: float = _PATIENCE_S) -> None:
        """Let the sink finish, but do not wait for ever."""
        try:
            self._queue.put(lambda sink: sink.close(summary), timeout=patience_s)
            self._queue.put(None, timeout=patience_s)
        except Full:
            pass
        self._thread.join(patience_s)
        if self._thread.is_alive():
            logger.warning("sink %s: gave up waiting for it; the run is not affected", self._name)
        if self._lost:
            logger.warning("sink %s is slow: episodes not sent to it: %d", self._name, self._lost)

    def _work(self, make: Callable[[], Sink]) -> None:
        sink: Sink | None = None
        try:
            sink = make()
            while (tell := self._queue.get()) is not None:
                tell(sink)
        except BaseException as error:
            # Foreign code and servers: whatever is raised here, `SystemExit` included, must not
            # stop the run, nor end this thread without a word.
            said = explain(error)
            logger.warning("sink %s: %s; the run continues without it", self._name, said)
            while self._queue.get() is not None:
                continue


def open_sinks(names: Sequence[str], manifest: Manifest, folder: Path) -> list[QueuedSink]:
    """The sinks of these names, at work; raises UnknownName before any is opened."""
    classes = {name: registry.load("sink", name) for name in names}
    return [QueuedSink(name, partial(found, manifest, folder)) for name, found in classes.items()]
