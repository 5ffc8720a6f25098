"""Handing episodes to workers elsewhere, and taking back what happens there: both ends.

Episodes are handed out as workers get free, never in fixed shares, so a slow task
or worker holds up nobody. Only the process that owns the pool writes: workers
send records back. A worker that dies costs the episodes it was playing; another
plays them, and an episode that loses two workers is left for the next run. `Pool` and
`Worker` are the end that owns the run, `WorkerLoop` and `Messenger` the other one.
"""

import asyncio
import dataclasses
import heapq
import logging
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agentquest.errors import UserError
from agentquest.lib import Task
from agentquest.platform import end_with_parent
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.messages import Message
from agentquest.running.events import RunEvents
from agentquest.running.factory import Resources
from agentquest.running.play import play_one, report_record
from agentquest.running.spec import Choice, EpisodeSpec, RunContext
from agentquest.safe_text import clean_messages

logger = logging.getLogger(__name__)

_MOST_LOSSES = 2
_MOST_STILLBORN = 8
_MOST_TOGETHER = 256
_LAST_WORDS_S = 15.0
_START_S = 300.0
_SHARED_LIMITS = ("requests_per_minute", "tokens_per_minute", "max_concurrency")


@dataclass(frozen=True)
class Event:
    """What a worker tells of an episode, or of itself."""

    kind: Literal[
        "ready", "started", "introduced", "stepped", "finished", "cut_short", "failed", "gone"
    ]
    key: str = ""
    step: Step | None = None
    prompt: tuple[Message, ...] = ()
    record: EpisodeRecord | None = None
    message: str = ""


Tell = Callable[[Event], None]
Hear = Callable[["Worker", Event], None]
Lease = Sequence[tuple[Task, int, int]]


class Worker(ABC):
    """Plays several episodes at once, somewhere; tells of them through `tell`.

    One that is not `ready` gets no episodes; it says `ready` when it is.
    """

    def __init__(self, name: str, tell: Hear) -> None:
        self.name = name
        self.tell = tell
        self.ready = True
        self.playing: dict[str, EpisodeSpec] = {}

    @abstractmethod
    def play(self, specs: Sequence[EpisodeSpec]) -> None:
        """Begin these episodes too."""

    @abstractmethod
    def stop(self) -> None:
        """Cut short what is being played, tell of it, and say `gone`."""

    @abstractmethod
    async def end(self) -> None:
        """End at once, whatever is still running."""


class Pool:
    """Specs and the workers that play them."""

    def __init__(
        self,
        new_worker: Callable[[str, Hear], Worker],
        prefix: str,
        specs: Sequence[EpisodeSpec],
        events: RunEvents,
        workers: int,
        width: int,
    ) -> None:
        self._new_worker = new_worker
        self._prefix = prefix
        self._waiting = deque(specs)
        self._run_events = events
        self._width = width
        self._losses: dict[str, int] = {}
        self._events: asyncio.Queue[tuple[Worker, Event]] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._made = 0
        self._stillborn = 0
        self._alive = [self._another() for _ in range(workers)]

    def _another(self) -> Worker:
        self._made += 1
        return self._new_worker(f"{self._prefix}-{self._made}", self._hear)

    def _hear(self, worker: Worker, event: Event) -> None:
        if not self._loop.is_closed():  # workers may tell from threads of their own
            self._loop.call_soon_threadsafe(self._events.put_nowait, (worker, event))

    async def run(self, stop: asyncio.Event) -> None:
        """Play all specs, or until `stop` is set; then end the workers.

        Raises UserError if no worker comes up in time.
        """
        stopped = asyncio.create_task(stop.wait())
        try:
            self._hand_out()
            while self._is_going_on and not stop.is_set():
                heard = asyncio.create_task(self._events.get())
                await asyncio.wait(
                    {heard, stopped},
                    return_when=asyncio.FIRST_COMPLETED,
                    timeout=None if any(worker.ready for worker in self._alive) else _START_S,
                )
                if heard.done():
                    await self._handle([heard.result(), *self._take_waiting()])
                    continue
                heard.cancel()
                if not stop.is_set():
                    raise UserError(
                        f"no worker started within {_START_S:g} s: does the cluster have the"
                        " resources that each reserves?"
                    )
        finally:
            stopped.cancel()
            await self._end()

    def count_not_ready(self) -> int:
        """How many workers cannot play yet."""
        return sum(not worker.ready for worker in self._alive)

    @property
    def _is_going_on(self) -> bool:
        can_play = bool(self._waiting) and bool(self._alive)
        return can_play or any(worker.playing for worker in self._alive)

    def _hand_out(self) -> None:
        """Fill free places evenly: the next episode goes to the least busy worker."""
        if not self._waiting:
            return
        free = [
            (len(worker.playing), place, worker)
            for place, worker in enumerate(self._alive)
            if worker.ready and len(worker.playing) < self._width
        ]
        heapq.heapify(free)
        leases: dict[Worker, list[EpisodeSpec]] = {}
        while self._waiting and free:
            playing, place, worker = free[0]
            spec = self._waiting.popleft()
            worker.playing[spec.key] = spec
            leases.setdefault(worker, []).append(spec)
            if playing + 1 < self._width:
                heapq.heapreplace(free, (playing + 1, place, worker))
            else:
                heapq.heappop(free)
        for worker, lease in leases.items():
            worker.play(lease)

    def _take_waiting(self) -> list[tuple[Worker, Event]]:
        """What else has been told; together it costs less, and records go to disk together."""
        waiting = min(self._events.qsize(), _MOST_TOGETHER)
        return [self._events.get_nowait() for _ in range(waiting)]

    async def _handle(self, heard: Sequence[tuple[Worker, Event]]) -> None:
        saving: list[Awaitable[None]] = []
        try:
            for worker, event in heard:
                spec = worker.playing.get(event.key)
                if event.kind == "gone":
                    self._replace(worker, event.message)
                elif event.kind == "failed":
                    raise UserError(event.message)
                elif spec is not None:
                    saving += self._deliver(worker, spec, event)
        finally:
            await asyncio.gather(*saving)
        self._hand_out()

    def _deliver(self, worker: Worker, spec: EpisodeSpec, event: Event) -> list[Awaitable[None]]:
        """Pass on what happened; returns what must be waited for until a record is safe."""
        if event.kind == "started":
            self._run_events.started(spec, worker.name)
        elif event.kind == "introduced":
            self._run_events.introduced(spec, event.message)
        elif event.kind == "stepped" and event.step is not None:
            self._run_events.stepped(spec, event.step, event.prompt)
        elif event.record is not None:
            del worker.playing[spec.key]
            cut_short = event.kind == "cut_short"
            return [report_record(spec, event.record, self._run_events, cut_short=cut_short)]
        return []

    def _replace(self, worker: Worker, why: str) -> None:
        """Play a dead worker's episodes elsewhere, but not for ever."""
        if worker not in self._alive:
            return
        self._alive.remove(worker)
        self._stillborn = 0 if worker.ready else self._stillborn + 1
        if self._stillborn > _MOST_STILLBORN:
            raise UserError(f"{self._stillborn} workers in a row died while starting: {why}")
        lost = list(worker.playing.values())
        logger.warning("%s died while playing %d episodes", worker.name, len(lost))
        for spec in lost:
            self._losses[spec.key] = self._losses.get(spec.key, 0) + 1
            if self._losses[spec.key] < _MOST_LOSSES:
                self._waiting.appendleft(spec)
            else:
                logger.warning("%s has no score: two workers died while playing it", spec.key)
        if self._waiting:
            self._alive.append(self._another())

    async def _end(self) -> None:
        """Let workers report what they were playing, then end them."""
        for worker in self._alive:
            worker.stop()
        deadline = self._loop.time() + _LAST_WORDS_S
        silent = set(self._alive)
        while silent and (left := deadline - self._loop.time()) > 0:
            try:
                worker, event = await asyncio.wait_for(self._events.get(), left)
            except (asyncio.TimeoutError, TimeoutError):
                break
            spec = worker.playing.get(event.key)
            if event.kind == "gone":
                silent.discard(worker)
            elif spec is not None:
                await asyncio.gather(*self._deliver(worker, spec, event))
        for worker in self._alive:
            await worker.end()


def divide_limits(context: RunContext, workers: int) -> tuple[RunContext, int]:
    """Rate limits hold for the whole run, so each worker gets its share.

    Also returned is how many workers there can be: a share is at least one.
    """
    if context.model is None:
        return context, workers
    settings = dict(context.model.settings)
    limits = {name: settings[name] for name in _SHARED_LIMITS if settings.get(name)}
    workers = min(workers, *(max(1, int(limit)) for limit in limits.values()), workers)
    shares = {name: limit // workers for name, limit in limits.items()}
    model = Choice(context.model.name, settings | shares)
    return dataclasses.replace(context, model=model), workers


class Messenger(RunEvents):
    """Sends every event to the process that owns the pool, without what only records need."""

    def __init__(self, tell: Tell, show_prompts: bool) -> None:
        self._tell = tell
        self._show_prompts = show_prompts

    def started(self, spec: EpisodeSpec, worker: str) -> None:
        self._tell(Event("started", spec.key))

    def introduced(self, spec: EpisodeSpec, goal: str) -> None:
        self._tell(Event("introduced", spec.key, message=goal))

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        slim = step.model_copy(update={"admissible": [], "prompt": []})
        self._tell(Event("stepped", spec.key, slim, prompt if self._show_prompts else ()))

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        self._tell(Event("finished", spec.key, record=record))

    def cut_short(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        self._tell(Event("cut_short", spec.key, record=record))


def begin_worker(path: Sequence[str]) -> None:
    """What a process of ours does first; `path` is where its parent imports from."""
    clean_messages()
    end_with_parent()  # an agent may hold the loop, which would never hear of it
    sys.path[:] = [*sys.path, *(folder for folder in path if folder not in sys.path)]


class WorkerLoop:
    """The episodes of one worker; lives in an event loop."""

    def __init__(self, context: RunContext, name: str, tell: Tell) -> None:
        self._context = context
        self._name = name
        self._tell = tell
        self._messenger = Messenger(tell, context.show_prompts)
        self._playing: set[asyncio.Task[Any]] = set()
        self.resources = Resources(context)

    async def open(self) -> None:
        """Everything that can be wrong on this machine is found out now."""
        _ = (self.resources.benchmark, self.resources.agent_class)
        await self.resources.open()

    def begin(self, lease: Lease) -> None:
        """Start the episodes of a lease, each as a task of its own."""
        for task, trial, seed in lease:
            spec = EpisodeSpec(self._context, task, trial, seed)
            work = asyncio.create_task(play_one(spec, self.resources, self._messenger, self._name))
            self._playing.add(work)
            work.add_done_callback(self._report_failure)

    def _report_failure(self, work: "asyncio.Task[Any]") -> None:
        self._playing.discard(work)
        if not work.cancelled() and (error := work.exception()) is not None:
            self._tell(Event("failed", message=str(error)))

    async def end(self) -> None:
        """Cut short what is being played and let go of what was opened."""
        for work in self._playing:
            work.cancel()
        await asyncio.gather(*self._playing, return_exceptions=True)
        await self.resources.close()
