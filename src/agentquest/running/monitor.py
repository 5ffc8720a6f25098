"""What a run does with its own events: it saves episodes, and stops when going on is pointless.

Each class is a listener of its own; `Run.play` puts them together.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

from agentquest.llms.prices import Price, estimate_usage
from agentquest.records.episode import EpisodeRecord, LiveEvent, Step
from agentquest.records.messages import Message
from agentquest.running.events import RunEvents
from agentquest.running.spec import EpisodeSpec
from agentquest.store.live import LiveLog, head_of
from agentquest.store.stored_run import RunWriter

# A server that answers one call like this will answer all of them so.
_FATAL = frozenset({"AuthenticationFailed", "QuotaExhausted", "ServerAway"})
_FAILURES_IN_A_ROW = 25
_TOGETHER = 16
_FIRST_CHECKPOINT_S = 15.0
_LIVE_FLUSH_S = 0.5
_UNCOUNTED = (
    "the server reports no token counts: for the cost limit, costs are estimated from the length of"
    " prompts and replies; reports show them as unknown"
)


class Stopper:
    """Stops a run early and remembers the first reason."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop = stop
        self.reason: str | None = None

    def give_up(self, reason: str) -> None:
        """Stop the run, unless it was stopped for another reason already."""
        if self.reason is None:
            self.reason = reason
            self._stop.set()


class EpisodeSaver(RunEvents):
    """Writes records to disk, and results at checkpoints."""

    def __init__(self, log: RunWriter, checkpoint: Callable[[bool], None]) -> None:
        self._log = log
        self._checkpoint = checkpoint
        self._writing = asyncio.Lock()
        self._unwritten: list[EpisodeRecord] = []
        self._checkpoint_every_s = _FIRST_CHECKPOINT_S
        self._last_checkpoint = time.monotonic()

    async def save(self, record: EpisodeRecord) -> None:
        """On disk when this returns; the event loop keeps running meanwhile.

        Episodes that finish while others are being written go to disk together, because
        waiting for the disk is what takes time.
        """
        self._unwritten.append(record)
        async with self._writing:
            together = self._unwritten[:_TOGETHER]
            del self._unwritten[:_TOGETHER]
            if together:
                await asyncio.to_thread(self._log.append, *together)
            if time.monotonic() - self._last_checkpoint > self._checkpoint_every_s:
                await asyncio.to_thread(self._checkpoint, True)
                self._last_checkpoint = time.monotonic()
                self._checkpoint_every_s *= 2  # a large run's results take long to write


class LiveFile(RunEvents):
    """Writes every event to `live.jsonl`, for watchers in other processes."""

    def __init__(self, live: LiveLog) -> None:
        self._live = live
        self._heads: dict[str, str] = {}  # what an episode's events begin with
        self._is_flush_due = False

    def started(self, spec: EpisodeSpec, worker: str) -> None:
        self._heads[spec.key] = head_of(spec.key, spec.task.id, spec.trial, worker)
        self._live.append(_live_event("start", spec, worker))
        self._flush_soon()

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        self._live.append_step(self._heads[spec.key], step)
        self._flush_soon()

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        self._heads.pop(spec.key, None)
        self._live.append(
            _live_event("end", spec, record.worker, end=record.end, success=record.success)
        )
        self._flush_soon()

    def _flush_soon(self) -> None:
        """At fixed intervals, so that a watcher sees the last step before a long pause."""
        if not self._is_flush_due:
            self._is_flush_due = True
            asyncio.get_running_loop().call_later(_LIVE_FLUSH_S, self._flush)

    def _flush(self) -> None:
        self._is_flush_due = False
        self._live.flush()


class FailureWatch(RunEvents):
    """Gives up when the model will not answer: at once if it never can, else after many failures
    in a row."""

    def __init__(self, give_up: Callable[[str], None]) -> None:
        self._give_up = give_up
        self._failures_in_a_row = 0

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
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


COST_REACHED = "the cost limit of"


class Budget(RunEvents):
    """Adds up what a run costs and gives up at the limit; `limit` None: there is none.

    A cost that the server reports is used as it is; otherwise its token counts are priced.
    Where it reports neither, tokens are estimated, so that a limit always holds. Only the
    limit uses estimates: records never hold one.
    """

    def __init__(
        self,
        limit: float | None,
        price: Price | None,
        note: Callable[[str], None],
        give_up: Callable[[str], None],
    ) -> None:
        self._limit = limit
        self._price = price
        self._note = note
        self._give_up = give_up
        self._known = 0.0
        self._estimated = 0.0
        self._estimates = 0
        self._uncounted_before = 0

    def resume(self, spent: float, uncounted: int) -> None:
        """What earlier parts of the run cost, and how many of their calls had no token counts."""
        self._known += spent
        self._uncounted_before += uncounted
        self._check()

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        """Count a step's calls; those without token counts are estimated from their texts."""
        if not step.calls:
            return
        for call in step.calls:
            if call.cost is not None:
                self._known += call.cost
            elif self._limit is not None and self._price is not None and not call.cached:
                self._estimate(self._price, step, prompt)
        self._check()

    def _estimate(self, price: Price, step: Step, prompt: Sequence[Message]) -> None:
        if not self._estimates:
            self._note(_UNCOUNTED)
        reply = Message(role="assistant", content=step.reply, reasoning=step.reasoning)
        usage = step.calls[-1].usage or estimate_usage(prompt, reply)
        self._estimates += 1
        # A prompt beyond what the price is for costs more rather than less.
        self._estimated += Price(price.prompt, price.completion).of(usage) or 0.0

    @property
    def cost(self) -> float:
        """As far as is known; earlier calls without token counts are priced at the average."""
        each = self._estimated / self._estimates if self._estimates else 0.0
        return self._known + self._estimated + self._uncounted_before * each

    def _check(self) -> None:
        if self._limit is not None and self.cost >= self._limit:
            about = "about " if self._estimates else ""
            self._give_up(f"{COST_REACHED} {self._limit:g} is reached ({about}{self.cost:.4f})")


def _live_event(
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
