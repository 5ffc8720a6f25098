"""Many episodes at once in one event loop, each with a driver and an agent of its own.

Nothing is shared between episodes but the resources, so that a run gives the
same results in any order and at any width. What is finished is safe before the
next begins; what is not is played when the run resumes.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import BaseModel

from agentquest.lib import Settings
from agentquest.running.events import RunEvents
from agentquest.running.factory import Resources
from agentquest.running.play import play_one
from agentquest.running.spec import EpisodeSpec


class LocalExecutor:
    """Plays in the event loop that it is called in."""

    Settings: ClassVar[type[Settings]] = Settings

    def __init__(self, settings: BaseModel | None = None) -> None:
        """There is nothing to set."""

    async def run(
        self,
        specs: Sequence[EpisodeSpec],
        resources: Resources,
        events: RunEvents,
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
                await play_one(spec, resources, events, setting_up=setting_up)

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
