"""`index.jsonl`: a summary of each line of `episodes.jsonl`, so that each is parsed only once.

The first line says how the entries were made; a file made differently is rewritten, and a
damaged one (every line has its checksum) is cut off at the damage. It can be deleted at any
time. One process at a time writes it: others work without it if it is locked.
"""

import contextlib
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from filelock import BaseFileLock
from pydantic_core import from_json

from agentquest.errors import UserError
from agentquest.files import take_lock

INDEX = "index.jsonl"
_LOCK = ".index.lock"
_CHECKSUM = 9


class LineIndex:
    """Entries in the order of the lines; each is plain data with `at` and `next`, the places where
    its line begins and ends, and where lines before it are damaged, their numbers."""

    def __init__(self, folder: Path, made_of: dict[str, Any]) -> None:
        self._folder = folder
        self._file = folder / INDEX
        self._head = json.dumps(made_of, sort_keys=True).encode() + b"\n"
        self._whole = 0  # bytes that are understood
        self._lock: BaseFileLock | None = None

    def load(self, episodes_size: int) -> Iterator[dict[str, Any]]:
        """The entries on disk that belong to these episodes."""
        self._whole = end = 0
        with contextlib.suppress(OSError), self._file.open("rb") as lines:
            if lines.readline() != self._head:
                return
            self._whole = len(self._head)
            for line in lines:
                entry = _entry(line)
                if entry is None or entry["next"] > episodes_size:
                    return
                if entry["at"] != end and not entry.get("damaged"):
                    return
                end = entry["next"]
                self._whole += len(line)
                yield entry

    def forget(self) -> None:
        """Start over with the next entry that is added."""
        self._whole = 0

    def hold(self) -> None:
        """Let nobody else write until `release`, and cut off what is not understood; without
        effect where somebody else writes."""
        with contextlib.suppress(OSError, UserError):
            self._lock = take_lock(self._folder / _LOCK)
            with self._file.open("ab") as handle:
                handle.truncate(self._whole)

    def release(self) -> None:
        """Let others write it again; without effect where it is not held."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def add(self, entries: Iterable[dict[str, Any]]) -> bool:
        """Whether they are written. Nothing is lost where they cannot be: they save time and
        nothing else. Who could not write once must not do so later, past a gap."""
        lines = [_line(entry) for entry in entries]
        if self._lock is not None:
            return self._append(lines)
        self._hold_if_known()
        try:
            return self._lock is not None and self._append(lines)
        finally:
            self.release()

    def _hold_if_known(self) -> None:
        """Hold it, unless another process has written since it was read."""
        with contextlib.suppress(OSError, UserError):
            lock = take_lock(self._folder / _LOCK)
            size = self._file.stat().st_size if self._file.exists() else 0
            if self._whole in (0, size):
                self._lock = lock
            else:
                lock.release()

    def _append(self, lines: list[bytes]) -> bool:
        try:
            with self._file.open("ab") as handle:
                if not self._whole:
                    handle.truncate(0)
                    lines = [self._head, *lines]
                self._whole += handle.write(b"".join(lines))
        except OSError:
            return False
        return True


def _line(entry: dict[str, Any]) -> bytes:
    content = json.dumps(entry).encode()
    return _checksum(content) + content + b"\n"


def _entry(line: bytes) -> dict[str, Any] | None:
    content = line[_CHECKSUM:-1]
    if not line.endswith(b"\n") or line[:_CHECKSUM] != _checksum(content):
        return None
    entry: dict[str, Any] = from_json(content)
    return entry


def _checksum(content: bytes) -> bytes:
    """Eight digits and a space: figures made of a changed line would be wrong unseen."""
    return b"%08x " % zlib.crc32(content)
