"""Steps of the episodes in progress, for watchers: `live.jsonl`.

One line per step, appended without syncing: a crash may lose lines without harm,
because finished episodes are in `episodes.jsonl`. The file is rewritten whenever a run
is resumed and stops growing at a limit, so it never fills a disk.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from agentquest.files import open_regular
from agentquest.records.episode import LiveEvent, Step

LIVE = "live.jsonl"
_MOST_BYTES = 64 * 1024 * 1024
_FLUSH_BYTES = 32 * 1024
_LEFT_OUT = {"prompt", "admissible"}


def head_of(key: str, task_id: str, trial: int, worker: str) -> str:
    """What every event of an episode begins with, as JSON."""
    return json.dumps({"key": key, "task_id": task_id, "trial": trial, "worker": worker})


class LiveLog:
    """Appends events; never raises: watching must not stop a run."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LIVE
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._written = 0
        self._file: IO[bytes] | None = None
        with contextlib.suppress(OSError):
            self._file = open_regular(self.path, "wb", buffering=0)

    def append(self, event: LiveEvent) -> None:
        """Keep an event for the next flush, unless the file is full."""
        self._add(event.model_dump_json(exclude_defaults=True).encode())

    def append_step(self, head: str, step: Step) -> None:
        """A step of the episode that `head` (see `head_of`) tells of.

        Written by hand, because every step of every episode waits for it.
        """
        text = step.model_dump_json(exclude=_LEFT_OUT, exclude_defaults=True)
        self._add(f'{head[:-1]},"event":"step","step":{text}}}'.encode())

    def _add(self, content: bytes) -> None:
        line = content + b"\n"
        size = self._written + self._waiting_bytes + len(line)
        if self._file is None or size > _MOST_BYTES:
            return
        self._waiting.append(line)
        self._waiting_bytes += len(line)
        if self._waiting_bytes >= _FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand what is waiting to the operating system."""
        if self._file is None or not self._waiting:
            return
        content = b"".join(self._waiting)
        self._waiting, self._waiting_bytes = [], 0
        try:
            self._file.write(content)
            self._written += len(content)
        except OSError:
            self.close()

    def close(self) -> None:
        """Close the file; what was not flushed, or is appended later, is dropped."""
        if self._file is not None:
            self._file.close()
            self._file = None


def read_live(folder: Path, offset: int = 0) -> tuple[list[LiveEvent], int]:
    """The whole lines from `offset` on, and where to read on; lines that cannot be read are
    skipped. A file that was rewritten is read from its start."""
    try:
        with open_regular(folder / LIVE) as handle:
            size = handle.seek(0, os.SEEK_END)
            handle.seek(offset if offset <= size else 0)
            content = handle.read()
            start = handle.tell() - len(content)
    except OSError:
        return [], 0
    whole = content.rfind(b"\n") + 1
    return list(_events(content[:whole])), start + whole


def count_playing(folder: Path) -> int:
    """How many episodes have begun and not ended. Lists ask often, so nothing is parsed: within
    a JSON string no quotation mark stands without a backslash."""
    try:
        with open_regular(folder / LIVE, "rb") as file:
            content: bytes = file.read()
    except OSError:
        return 0
    return content.count(b'"event":"start"') - content.count(b'"event":"end"')


def _events(content: bytes) -> Iterator[LiveEvent]:
    for line in content.splitlines():
        try:
            yield LiveEvent.model_validate(json.loads(line))
        except (ValidationError, ValueError, RecursionError):
            continue
