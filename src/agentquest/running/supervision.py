"""Keeping watch over a run: what is finished goes to disk, and what is hopeless is stopped."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence

from agentquest.errors import Cause
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.run_directory import EpisodeLog, keep_newest
from agentquest.running.many_episodes import Job, Watcher

Checkpoint = Callable[[Sequence[EpisodeRecord]], None]

# A server that says this of one call will say it of all.
_FATAL = frozenset({"AuthenticationFailed", "QuotaExhausted"})
_FAILURES_IN_A_ROW = 25
_TOGETHER = 16


class Supervisor(Watcher):
    """Saves episodes, passes on what happens, and sets `stop` when going on is pointless."""

    def __init__(
        self, log: EpisodeLog, watcher: Watcher, stop: asyncio.Event, cost_limit: float | None
    ) -> None:
        self._log = log
        self._watcher = watcher
        self._stop = stop
        self._cost_limit = cost_limit
        self._writing = asyncio.Lock()
        self._unwritten: list[EpisodeRecord] = []
        self._newest: dict[str, EpisodeRecord] = {}
        self._cost = 0.0
        self._failures_in_a_row = 0
        self._checkpoint: Checkpoint | None = None
        self._every_s = 0.0
        self._last_checkpoint = time.monotonic()
        self.reason: str | None = None

    def resume_from(self, records: Iterable[EpisodeRecord]) -> None:
        """Count what earlier parts of the run did, and cost: every try of every episode."""
        for record in records:
            keep_newest(self._newest, record.slim())
            self._cost += sum(call.cost or 0.0 for call in record.calls)
        self._check_cost()

    def call_regularly(self, checkpoint: Checkpoint, every_s: float) -> None:
        self._checkpoint, self._every_s = checkpoint, every_s

    @property
    def records(self) -> list[EpisodeRecord]:
        return list(self._newest.values())

    async def save(self, record: EpisodeRecord) -> None:
        """On disk when this returns; the event loop goes on meanwhile.

        Episodes that finish while others are being written go to disk together, because
        waiting for the disk is what takes time.
        """
        self._unwritten.append(record)
        async with self._writing:
            together = self._unwritten[:_TOGETHER]
            del self._unwritten[:_TOGETHER]
            if together:
                await asyncio.to_thread(self._log.append, *together)
            for written in together:
                keep_newest(self._newest, written.slim())
            if self._checkpoint and time.monotonic() - self._last_checkpoint > self._every_s:
                await asyncio.to_thread(self._checkpoint, self.records)
                self._last_checkpoint = time.monotonic()

    def started(self, job: Job) -> None:
        self._watcher.started(job)

    def stepped(self, job: Job, step: Step) -> None:
        self._watcher.stepped(job, step)
        self._cost += sum(call.cost or 0.0 for call in step.calls)
        self._check_cost()

    def _check_cost(self) -> None:
        if self._cost_limit is not None and self._cost >= self._cost_limit:
            self._give_up(f"the cost limit of {self._cost_limit:g} is reached ({self._cost:.4f})")

    def finished(self, job: Job, record: EpisodeRecord) -> None:
        self._watcher.finished(job, record)
        if record.end is not Cause.MODEL_ERROR or record.error is None:
            self._failures_in_a_row = 0
            return
        self._failures_in_a_row += 1
        if record.error.kind in _FATAL:
            self._give_up(record.error.message)
        elif self._failures_in_a_row >= _FAILURES_IN_A_ROW:
            self._give_up(
                f"the model failed {self._failures_in_a_row} episodes in a row: "
                f"{record.error.message}"
            )

    def _give_up(self, reason: str) -> None:
        if self.reason is None:
            self.reason = reason
            self._stop.set()
