"""Keeping the event loop free: searching a large catalogue goes to threads."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

INLINE_PRODUCTS = 20_000  # up to this many, a step costs less than handing it to a thread


class Work:
    """Runs the shop's steps: at once on a small catalogue, in a few threads on a large one."""

    def __init__(self, products: int) -> None:
        self._pool: ThreadPoolExecutor | None = None
        if products > INLINE_PRODUCTS:
            self._pool = ThreadPoolExecutor(os.cpu_count() or 1, "webshop")

    async def run(self, task: Callable[[], T]) -> T:
        """What `task` returns, computed here or in a thread."""
        if self._pool is None:
            return task()
        return await asyncio.get_running_loop().run_in_executor(self._pool, task)

    def close(self) -> None:
        """Wait for what is being computed, and drop what has not begun."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
