"""Telling another server, again and again, that we are here."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp

_log = logging.getLogger(__name__)


@asynccontextmanager
async def heartbeat(url: str, news: Mapping[str, Any], every_s: float) -> AsyncIterator[None]:
    """Post `news` as JSON at once and every so often, for as long as the block runs.

    If a server does not answer, keep trying: it may come back.
    """
    beating = asyncio.create_task(_beat(url, news, every_s))
    try:
        yield
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating


async def _beat(url: str, news: Mapping[str, Any], every_s: float) -> None:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(every_s)) as http:
        while True:
            try:
                async with http.post(url, json=news) as answer:
                    if answer.status != 200:
                        _log.warning("%s answered %s", url, answer.status)
            except (aiohttp.ClientError, asyncio.TimeoutError) as error:
                _log.warning("%s cannot be reached: %r", url, error)
            await asyncio.sleep(every_s)
