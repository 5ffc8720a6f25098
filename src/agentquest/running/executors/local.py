"""Many episodes at once in one event loop, each with a driver and an agent of its own.

Nothing is shared between episodes but the resources, so that a run gives the
same results in any order and at any width. What is finished is safe before the
next begins; what is not is played when the run resumes.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel

from agentquest.lib import Settings
from agentquest.running.factory import Resources
from agentquest.running.play import Sink, make_player
from agentquest.running.spec import EpisodeSpec


class LocalExecutor:
    """Plays in the event loop that it is called in."""

    Settings: ClassVar[type[Settings]] = Settings

    def __init__(self, settings: BaseModel | None = None, worker: str = "") -> None:
        self._worker = worker

    async def run(
        self,
        specs: Sequence[EpisodeSpec],
        resources: Resources,
        sink: Sink,
        parallel: int,
        stop: asyncio.Event,
    ) -> None:
        """Stopping or cancelling loses what is in flight and nothing else."""
        if stop.is_set():
            return
        await resources.open()
        waiting = iter(specs)
        setting_up = asyncio.Lock()
        stopping = asyncio.Event()

        async def work() -> None:
            # The iterator is shared: each worker takes the next spec when it is free.
            for spec in waiting:
                if stopping.is_set():
                    # An agent can swallow a cancellation, but not make the run go on.
                    return
                async with setting_up:
                    # One at a time, so that the first have asked their model before the last
                    # are made.
                    player = make_player(spec, resources, self._worker)
                    await asyncio.sleep(0)
                sink.started(spec, self._worker)
                try:
                    record = await player.play(sink.stepped(spec, self._worker))
                except asyncio.CancelledError:
                    remains = player.cut_short()
                    if remains is not None:
                        await sink.cut_short(remains)
                    raise
                await _finish(sink.finished(spec, record))

        workers = [asyncio.create_task(work()) for _ in range(min(parallel, len(specs)))]
        everything = asyncio.gather(*workers)
        stopped = asyncio.create_task(stop.wait())
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


async def _finish(work: Awaitable[None]) -> None:
    """Do it to its end, and only then be cancelled."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
