"""Telling other tools about a run while it goes: `sinks: [otel]`, or a class of your own.

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
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.manifest import Manifest
from agentquest.records.messages import Message
from agentquest.running.monitor import Watcher
from agentquest.running.spec import EpisodeSpec

LOG = logging.getLogger("agentquest.sinks")
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


class _Told:
    """One sink and the thread that it works in."""

    def __init__(self, name: str, make: Callable[[], Sink]) -> None:
        self._name = name
        self._queue: Queue[Callable[[Sink], None] | None] = Queue(_WAITING)
        self._thread = threading.Thread(
            target=self._work, args=(make,), name=f"sink {name}", daemon=True
        )
        self._thread.start()
        self._lost = 0

    def tell(self, news: Callable[[Sink], None]) -> None:
        try:
            self._queue.put_nowait(news)
        except Full:
            self._lost += 1

    def finish(self, last: Callable[[Sink], None], patience_s: float) -> None:
        try:
            self._queue.put(last, timeout=patience_s)
            self._queue.put(None, timeout=patience_s)
        except Full:
            pass
        self._thread.join(patience_s)
        if self._thread.is_alive():
            LOG.warning("sink %s: gave up waiting for it; the run is not affected", self._name)
        if self._lost:
            LOG.warning("sink %s is slow: episodes not sent to it: %d", self._name, self._lost)

    def _work(self, make: Callable[[], Sink]) -> None:
        sink: Sink | None = None
        try:
            sink = make()
            while (news := self._queue.get()) is not None:
                news(sink)
        except Exception as error:
            # Foreign code and servers: whatever is raised here must not stop the run.
            LOG.warning(
                "sink %s: %s: %s; the run continues without it",
                self._name,
                type(error).__name__,
                error,
            )
            while self._queue.get() is not None:
                continue


class Sinks(Watcher):
    """Passes everything on to the watcher, and finished episodes to the sinks as well."""

    def __init__(
        self, names: Sequence[str], manifest: Manifest, folder: Path, watcher: Watcher
    ) -> None:
        self._watcher = watcher
        classes = {name: registry.load("sink", name) for name in names}
        self._told = [
            _Told(name, partial(found, manifest, folder)) for name, found in classes.items()
        ]

    def started(self, spec: EpisodeSpec, worker: str) -> None:
        self._watcher.started(spec, worker)

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        self._watcher.stepped(spec, step, prompt)

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        self._watcher.finished(spec, record)
        for told in self._told:
            told.tell(lambda sink: sink.finished(record))

    def close(self, summary: dict[str, Any], patience_s: float = _PATIENCE_S) -> None:
        """Let the sinks finish, but do not wait for ever."""
        for told in self._told:
            told.finish(lambda sink: sink.close(summary), patience_s)
