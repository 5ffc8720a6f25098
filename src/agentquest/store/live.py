"""Steps of the episodes in progress, for watchers: `live.jsonl`.

One line per step, appended without syncing: a crash may lose lines without harm,
because finished episodes are in `episodes.jsonl`. The file is rewritten whenever a run
is resumed and stops growing at a limit, so it never fills a disk.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

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
        self._number: int | None = None
        try:
            self._number = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        except OSError:
            self._number = None

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
        if self._number is None or self._written > _MOST_BYTES:
            return
        line = content + b"\n"
        self._waiting.append(line)
        self._waiting_bytes += len(line)
        if self._waiting_bytes >= _FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand what is waiting to the operating system."""
        if self._number is None or not self._waiting:
            return
        content = b"".join(self._waiting)
        self._waiting, self._waiting_bytes = [], 0
        try:
            os.write(self._number, content)
            self._written += len(content)
        except OSError:
            self.close()

    def close(self) -> None:
        """Close the file; what was not flushed, or is appended later, is dropped."""
        if self._number is not None:
            number, self._number = self._number, None
            os.close(number)


def read_live(folder: Path, offset: int = 0) -> tuple[list[LiveEvent], int]:
    """The whole lines from `offset` on, and where to read on; lines that cannot be read are
    skipped. A file that was rewritten is read from its start."""
    file = folder / LIVE
    try:
        with file.open("rb") as handle:
            size = handle.seek(0, os.SEEK_END)
            handle.seek(offset if offset <= size else 0)
            content = handle.read()
            start = handle.tell() - len(content)
    except OSError:
        return [], 0
    whole = content.rfind(b"\n") + 1
    return list(_events(content[:whole])), start + whole


def _events(content: bytes) -> Iterator[LiveEvent]:
    for line in content.splitlines():
        try:
            yield LiveEvent.model_validate(json.loads(line))
        except (ValidationError, ValueError):
            continue
