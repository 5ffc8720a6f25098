"""Fetching one file: resumed after a broken connection, and checked before it gets its name.

The file grows as `<name>.part` and gets its own name when it is whole and has the published
checksum, so a file under its own name can be trusted. The checksum also notices a part that
belongs to another version of the file: it is discarded, and the file is fetched from the start.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentquest.downloads.requests import (
    AttemptFailed,
    DownloadFailed,
    FileResponse,
    request_file,
)
from agentquest.errors import DataError, NetworkError, UserError
from agentquest.files import hash_file
from agentquest.platform import sync_folder
from agentquest.words import is_web_address

Progress = Callable[[int, int | None], None]
"""Called with the bytes that have arrived and the file's size, None while unknown."""

_CHUNK = 1 << 18
_UNSOUND_LIMIT = 2


@dataclass(frozen=True)
class Retry:
    """How persistent a transfer is.

    `failures` attempts in a row may bring nothing new, `connections` may be made in all; the
    wait doubles from `first_wait` to `longest_wait` seconds.
    """

    failures: int = 4
    connections: int = 100
    first_wait: float = 1.0
    longest_wait: float = 30.0
    timeout: float = 30.0


def fetch(
    url: str,
    target: Path,
    *,
    sha256: str,
    size: int,
    progress: Progress | None = None,
    retry: Retry | None = None,
    force: bool = False,
) -> Path:
    """Fetch `url` as the file `target`, whole and checked; a sound one is not fetched again.

    The file must have the published `sha256`, and no more than the published `size` of bytes.
    """
    if not is_web_address(url):
        raise UserError(f"not an http(s) address: {url}")
    try:
        if target.exists() and not force:
            _accept_existing(target, sha256)
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        say = progress or (lambda done, total: None)
        _Transfer(url, target, sha256, size, say, retry or Retry()).run()
    except OSError as error:  # of files: network errors are handled in `requests`
        where = error.filename or target
        raise DataError(f"cannot write {where}: {error.strerror or error}") from error
    return target


@dataclass
class _Transfer:
    """The attempts at one file, and when to stop."""

    url: str
    target: Path
    sha256: str
    size: int
    progress: Progress
    retry: Retry
    furthest: int = 0
    unsound: int = 0

    def __post_init__(self) -> None:
        self.part = self.target.with_name(self.target.name + ".part")

    @property
    def received(self) -> int:
        """How many bytes have arrived."""
        return self.part.stat().st_size if self.part.is_file() else 0

    def run(self) -> None:
        self.furthest = self.received
        failures, reason = 0, "no attempt was made"
        for _ in range(self.retry.connections):
            asked_wait = 0.0
            try:
                self._attempt()
                if self._is_sound():
                    self._finish()
                    return
                reason = "the data received was damaged and has been discarded"
            except AttemptFailed as error:
                reason, asked_wait = str(error), error.wait
                if error.starts_over:
                    self._discard()
            except DownloadFailed as error:
                raise self._failure(str(error)) from error
            failures = 0 if self._has_grown() else failures + 1
            if failures >= self.retry.failures:
                break
            self._wait(failures, asked_wait)
        raise self._failure(reason)

    def _attempt(self) -> None:
        """Append what one request brings; returns when the file is whole."""
        have = self.received
        if have and have == self.size:
            return
        with request_file(self.url, have, self.retry.timeout) as answer:
            size = self._receive(answer)
        if answer.total is not None and size != answer.total:
            raise AttemptFailed(f"the connection closed at {size} of {answer.total} bytes")

    def _receive(self, answer: FileResponse) -> int:
        size = answer.start
        self._bound(answer.total or 0)
        self.progress(size, answer.total)
        with self.part.open("r+b" if size else "wb") as part:
            part.seek(size)
            while chunk := answer.chunk(_CHUNK):
                self._bound(size + len(chunk))
                part.write(chunk)
                size += len(chunk)
                self.progress(size, answer.total)
        return size

    def _bound(self, size: int) -> None:
        if size > self.size:
            self._discard()
            raise DownloadFailed(f"the file is larger than the limit of {self.size} bytes")

    def _is_sound(self) -> bool:
        problem = _problem(self.part, self.sha256)
        if problem is None:
            return True
        self.unsound += 1
        self._discard()
        if self.unsound >= _UNSOUND_LIMIT:
            raise DownloadFailed(f"the data received is damaged every time: {problem}")
        return False

    def _discard(self) -> None:
        """Remove what has arrived, so that the next attempt starts over."""
        self.part.unlink(missing_ok=True)

    def _finish(self) -> None:
        """Give the whole file its name, in one step."""
        with self.part.open("rb+") as whole:
            os.fsync(whole.fileno())
        self.part.replace(self.target)
        sync_folder(self.target.parent)

    def _has_grown(self) -> bool:
        before, self.furthest = self.furthest, max(self.furthest, self.received)
        return self.furthest > before

    def _wait(self, failures: int, asked: float) -> None:
        own = self.retry.first_wait * 2 ** max(failures - 1, 0)
        time.sleep(min(max(own, asked), self.retry.longest_wait))

    def _failure(self, reason: str) -> NetworkError:
        size = self.received
        kept = (
            f"The {size} bytes received are kept in {self.part}; "
            "the next attempt resumes from there.\n"
            if size
            else ""
        )
        return NetworkError(
            f"could not download {self.url}: {reason}.\n{kept}"
            f"To do it by hand: download that address on a machine with network access, save the "
            f"file as {self.target}, and run this again."
        )


def _accept_existing(target: Path, sha256: str) -> None:
    if not target.is_file():
        raise DataError(f"{target} exists and is not a file")
    problem = _problem(target, sha256)
    if problem is not None:
        raise DataError(f"{target} exists but is damaged: {problem}. Delete it and try again")


def _problem(path: Path, sha256: str) -> str | None:
    """What is wrong with the content of a whole file, or None."""
    found = hash_file(path)
    return None if found == sha256 else f"its sha256 is {found}, expected {sha256}"
