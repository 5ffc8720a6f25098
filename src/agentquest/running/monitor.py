"""Watching a run: finished episodes go to disk, and a hopeless run is stopped."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Literal

from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.episode_lines import Place
from agentquest.records.live import LiveEvent, LiveLog, head_of
from agentquest.records.messages import Message
from agentquest.records.run_directory import EpisodeLog
from agentquest.running.budget import Budget
from agentquest.running.episode import OnStep
from agentquest.running.spec import EpisodeSpec

# A server that answers one call like this will answer all of them so.
_FATAL = frozenset({"AuthenticationFailed", "QuotaExhausted", "ServerAway"})
_FAILURES_IN_A_ROW = 25
_TOGETHER = 16
_FIRST_CHECKPOINT_S = 15.0
_LIVE_FLUSH_S = 0.5


class Watcher:
    """Receives the events of a run; subclasses show them. Does nothing by itself."""

    def playing(self, trouble: Callable[[], str]) -> None:
        """Called before the first episode; `trouble()` says what is wrong with the model now."""
        return None

    def started(self, spec: EpisodeSpec, worker: str) -> None:
        """An episode begins; `worker` says where, empty in this process."""
        return None

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        """A step was taken; `prompt` is what the model was sent for it."""
        return None

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        """An episode has ended, and its record is on disk."""
        return None

    def noted(self, text: str) -> None:
        """A message about the run as a whole."""
        return None


class RunMonitor:
    """The sink of a run: saves episodes, passes on events, and sets `stop` when continuing is
    pointless."""

    def __init__(
        self,
        log: EpisodeLog,
        live: LiveLog,
        watcher: Watcher,
        stop: asyncio.Event,
        budget: Budget,
        checkpoint: Callable[[], None],
    ) -> None:
        self._log = log
        self._live = live
        self._watcher = watcher
        self._stop = stop
        self._budget = budget
        self._checkpoint = checkpoint
        self._writing = asyncio.Lock()
        self._unwritten: list[EpisodeRecord] = []
        self._keep: Callable[[EpisodeRecord, Place], None] = lambda record, place: None
        self._failures_in_a_row = 0
        self._checkpoint_every_s = _FIRST_CHECKPOINT_S
        self._last_checkpoint = time.monotonic()
        self._is_flush_due = False
        self.reason: str | None = None

    def resume_from(
        self, keep: Callable[[EpisodeRecord, Place], None], spent: float, uncounted: int
    ) -> None:
        """Continue from what earlier parts of the run played and spent."""
        self._keep = keep
        self._budget.resume(spent, uncounted)
        self._check_cost()

    def started(self, spec: EpisodeSpec, worker: str) -> None:
        """Pass on that an episode begins."""
        self._watcher.started(spec, worker)
        self._live.append(_event("start", spec, worker))
        self._flush_soon()

    def stepped(self, spec: EpisodeSpec, worker: str) -> OnStep:
        """Pass on each step, add up its cost, and stop the run at its limit."""
        head = head_of(spec.key, spec.task.id, spec.trial, worker)

        def on_step(step: Step, prompt: tuple[Message, ...]) -> None:
            self._watcher.stepped(spec, step, prompt)
            self._live.append_step(head, step)
            self._flush_soon()
            if step.calls:
                self._budget.add(step, prompt)
                self._check_cost()

        return on_step

    async def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        """Save the record, pass it on, and judge whether the run should go on."""
        await self._save(record)
        ended = _event("end", spec, record.worker, end=record.end, success=record.success)
        self._live.append(ended)
        self._flush_soon()
        self._watcher.finished(spec, record)
        self._judge(record)

    async def cut_short(self, record: EpisodeRecord) -> None:
        """Save what was played before the stop: its calls cost money."""
        await self._save(record)

    async def _save(self, record: EpisodeRecord) -> None:
        """On disk when this returns; the event loop keeps running meanwhile.

        Episodes that finish while others are being written go to disk together, because
        waiting for the disk is what takes time.
        """
        self._unwritten.append(record)
        async with self._writing:
            together = self._unwritten[:_TOGETHER]
            del self._unwritten[:_TOGETHER]
            if together:
                places = await asyncio.to_thread(self._log.append, *together)
                for written, place in zip(together, places, strict=True):
                    self._keep(written, place)
            if time.monotonic() - self._last_checkpoint > self._checkpoint_every_s:
                await asyncio.to_thread(self._checkpoint)
                self._last_checkpoint = time.monotonic()
                self._checkpoint_every_s *= 2  # a large run's results take long to write

    def _flush_soon(self) -> None:
        """At fixed intervals, so that a watcher sees the last step before a long pause."""
        if not self._is_flush_due:
            self._is_flush_due = True
            asyncio.get_running_loop().call_later(_LIVE_FLUSH_S, self._flush)

    def _flush(self) -> None:
        self._is_flush_due = False
        self._live.flush()

    def _check_cost(self) -> None:
        if (reason := self._budget.exceeded) is not None:
            self._give_up(reason)

    def _judge(self, record: EpisodeRecord) -> None:
        failure = record.error
        if record.scored or failure is None or failure.source != "model":
            self._failures_in_a_row = 0
            return
        self._failures_in_a_row += 1
        if failure.kind in _FATAL:
            self._give_up(failure.message)
        elif self._failures_in_a_row >= _FAILURES_IN_A_ROW:
            self._give_up(
                f"the model failed {self._failures_in_a_row} episodes in a row: {failure.message}"
            )

    def _give_up(self, reason: str) -> None:
        if self.reason is None:
            self.reason = reason
            self._stop.set()


def _event(
    event: Literal["start", "end"], spec: EpisodeSpec, worker: str, **more: Any
) -> LiveEvent:
    return LiveEvent(
        event=event,
        key=spec.key,
        task_id=spec.task.id,
        trial=spec.trial,
        worker=worker,
        **more,
    )
