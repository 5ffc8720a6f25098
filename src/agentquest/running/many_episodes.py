"""Many episodes at once in one event loop, each with a driver and an agent of its own.

Nothing is shared between episodes but the model client, so that a run gives the
same results in any order and at any width. What is finished is on disk before
the next begins; what is not can be asked for again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agentquest.lib import Agent, Driver, Task
from agentquest.records.episode import EpisodeRecord, Step, episode_key
from agentquest.running.one_episode import EpisodePlayer, Origin, Rules


@dataclass(frozen=True)
class Job:
    """One episode to be played."""

    task: Task
    trial: int
    seed: int

    @property
    def key(self) -> str:
        return episode_key(self.task.id, self.trial)


class Watcher:
    """Is told what happens; subclasses show it. Does nothing by itself."""

    def started(self, job: Job) -> None:
        return None

    def stepped(self, job: Job, step: Step) -> None:
        return None

    def finished(self, job: Job, record: EpisodeRecord) -> None:
        return None


@dataclass(frozen=True)
class Stage:
    """What every episode of a run has in common."""

    new_driver: Callable[[Task], Driver]
    new_agent: Callable[[Job], Agent]
    rules: Rules
    origin: Origin


Save = Callable[[EpisodeRecord], Awaitable[None]]


async def run_many(
    jobs: Sequence[Job],
    stage: Stage,
    save: Save,
    parallel: int,
    watcher: Watcher | None = None,
    stop: asyncio.Event | None = None,
    save_cut_short: bool = False,
) -> None:
    """Play all jobs, at most `parallel` at once, until they are done or `stop` is set.

    Stopping or cancelling loses what is in flight and nothing else; with
    `save_cut_short` that is saved too, as cancelled, because it may have cost money.
    """
    if stop is not None and stop.is_set():
        return
    watch = watcher or Watcher()
    waiting = iter(jobs)
    setting_up = asyncio.Lock()
    stopping = asyncio.Event()

    async def work() -> None:
        # The iterator is shared: each worker takes the next job when it is free.
        for job in waiting:
            if stopping.is_set():
                # An agent can swallow a cancellation, but not make the run go on.
                return
            async with setting_up:
                # One at a time, so that the first have asked their model before the last are made.
                player = _player(job, stage)
                await asyncio.sleep(0)
            watch.started(job)
            try:
                record = await player.play(stage.origin, partial(watch.stepped, job))
            except asyncio.CancelledError:
                remains = player.cut_short(stage.origin) if save_cut_short else None
                if remains is not None:
                    await save(remains)
                raise
            await _finish(save(record))
            watch.finished(job, record)

    workers = [asyncio.create_task(work()) for _ in range(min(parallel, len(jobs)))]
    everything = asyncio.gather(*workers)
    stopped = asyncio.create_task((stop or asyncio.Event()).wait())
    try:
        ends: set[asyncio.Future[Any]] = {everything, stopped}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if everything.done():
            everything.result()
    finally:
        stopping.set()
        stopped.cancel()
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, everything, stopped, return_exceptions=True)


def _player(job: Job, stage: Stage) -> EpisodePlayer:
    return EpisodePlayer(
        stage.new_driver(job.task),
        stage.new_agent(job),
        job.task,
        stage.rules,
        seed=job.seed,
        trial=job.trial,
    )


async def _finish(work: Awaitable[None]) -> None:
    """Do it to its end, and only then be cancelled."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
