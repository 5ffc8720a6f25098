"""Fetching one file: resumed after a broken connection, and checked before it gets its name.

The file grows as `<name>.part` and gets its own name when it is whole and sound, so a file
under its own name can be trusted. `<name>.part.json` holds the server's description of the
file. Without it the bytes may belong to another version of the file and are not continued.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from agentquest.downloads.archives import check_zip
from agentquest.downloads.requests import (
    AttemptFailed,
    DownloadFailed,
    FileChanged,
    FileResponse,
    Version,
    request_file,
)
from agentquest.errors import DataError, NetworkError, UserError
from agentquest.files import hash_file, write_atomically
from agentquest.platform import sync_folder

Progress = Callable[[int, int | None], None]
"""Called with the bytes that have arrived and the file's size, None while unknown."""

_CHUNK = 1 << 18
_UNSOUND_LIMIT = 2
MAX_BYTES = 16 << 30


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
    sha256: str | None = None,
    progress: Progress | None = None,
    retry: Retry | None = None,
    force: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Path:
    """Fetch `url` as the file `target`, whole and checked; a sound one is not fetched again.

    The file is checked against `sha256` if that is given, else a zip archive against its own
    checksums, and always against the size that the server announced. A file of more than
    `max_bytes` is refused.
    """
    _require_web_address(url)
    try:
        if target.exists() and not force:
            _accept_existing(target, sha256)
            return target
        _make_folder(target.parent)
        say = progress or (lambda done, total: None)
        _Transfer(url, target, sha256, say, retry or Retry(), max_bytes).run()
    except OSError as error:  # of files: network errors are handled in `requests`
        where = error.filename or target
        raise DataError(f"cannot write {where}: {error.strerror or error}") from error
    return target


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot make the folder {folder}: {error}") from error


class Partial:
    """The two files next to `target` while it is being fetched from `url`."""

    def __init__(self, url: str, target: Path) -> None:
        self.url = url
        self.data = target.with_name(target.name + ".part")
        self.description = target.with_name(target.name + ".part.json")

    @property
    def size(self) -> int:
        """How many bytes have arrived."""
        return self.data.stat().st_size if self.data.is_file() else 0

    def version(self) -> Version | None:
        """Which version the bytes belong to, or None if that is not certain."""
        try:
            saved = json.loads(self.description.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(saved, dict) or saved.get("url") != self.url:
            return None
        etag, modified, total = (saved.get(k) for k in ("etag", "last_modified", "total"))
        if not (_is(etag, str) and _is(modified, str) and _is(total, int)):
            return None
        return Version(etag, modified, total)

    def describe(self, version: Version) -> None:
        """Write down which version of the file the bytes belong to."""
        write_atomically(self.description, json.dumps({"url": self.url, **version._asdict()}))

    def discard(self) -> None:
        """Remove both files, so that the next attempt starts over."""
        self.data.unlink(missing_ok=True)
        self.description.unlink(missing_ok=True)

    def finish(self, target: Path) -> None:
        """Give the whole file its name, in one step."""
        with self.data.open("rb+") as whole:
            os.fsync(whole.fileno())
        self.data.replace(target)
        sync_folder(target.parent)
        self.description.unlink(missing_ok=True)


@dataclass
class _Transfer:
    """The attempts at one file, and when to stop."""

    url: str
    target: Path
    sha256: str | None
    progress: Progress
    retry: Retry
    max_bytes: int
    furthest: int = 0
    unsound: int = 0

    def __post_init__(self) -> None:
        self.partial = Partial(self.url, self.target)

    def run(self) -> None:
        if self.partial.size and self.partial.version() is None:
            self.partial.discard()
        self.furthest = self.partial.size
        failures, reason = 0, "no attempt was made"
        for _ in range(self.retry.connections):
            asked_wait = 0.0
            try:
                self._attempt()
                if self._is_sound():
                    self.partial.finish(self.target)
                    return
                reason = "the data received was damaged and has been discarded"
            except FileChanged as error:
                reason = str(error)
                self.partial.discard()
            except AttemptFailed as error:
                reason, asked_wait = str(error), error.wait
            except DownloadFailed as error:
                raise self._failure(str(error)) from error
            failures = 0 if self._has_grown() else failures + 1
            if failures >= self.retry.failures:
                break
            self._wait(failures, asked_wait)
        raise self._failure(reason)

    def _attempt(self) -> None:
        """Append what one request brings; returns when the file is whole."""
        known, have = self.partial.version(), self.partial.size
        if known is not None and known.total == have and have:
            return
        with request_file(self.url, have, known, self.retry.timeout) as answer:
            if answer.start == 0:
                # Old bytes must be gone before the description says that they are new.
                self.partial.discard()
            self.partial.describe(answer.version)
            total = answer.version.total
            size = self._receive(answer, total)
        if total is not None and size != total:
            raise AttemptFailed(f"the connection closed at {size} of {total} bytes")

    def _receive(self, answer: FileResponse, total: int | None) -> int:
        size = answer.start
        self._bound(total or 0)
        self.progress(size, total)
        with self.partial.data.open("r+b" if size else "wb") as part:
            part.seek(size)
            while chunk := answer.chunk(_CHUNK):
                self._bound(size + len(chunk))
                part.write(chunk)
                size += len(chunk)
                self.progress(size, total)
        return size

    def _bound(self, size: int) -> None:
        if size > self.max_bytes:
            self.partial.discard()
            raise DownloadFailed(f"the file is larger than the limit of {self.max_bytes} bytes")

    def _is_sound(self) -> bool:
        problem = _problem(self.partial.data, self.target.suffix, self.sha256)
        if problem is None:
            return True
        self.unsound += 1
        self.partial.discard()
        if self.unsound >= _UNSOUND_LIMIT:
            raise DownloadFailed(f"the data received is damaged every time: {problem}")
        return False

    def _has_grown(self) -> bool:
        before, self.furthest = self.furthest, max(self.furthest, self.partial.size)
        return self.furthest > before

    def _wait(self, failures: int, asked: float) -> None:
        own = self.retry.first_wait * 2 ** max(failures - 1, 0)
        time.sleep(min(max(own, asked), self.retry.longest_wait))

    def _failure(self, reason: str) -> NetworkError:
        size = self.partial.size
        kept = (
            f"The {size} bytes received are kept in {self.partial.data}; "
            "the next attempt resumes from there.\n"
            if size
            else ""
        )
        return NetworkError(
            f"could not download {self.url}: {reason}.\n{kept}"
            f"To do it by hand: download that address on a machine with network access, save the "
            f"file as {self.target}, and run this again."
        )


def _require_web_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise UserError(f"not an http(s) address: {url}")


def _accept_existing(target: Path, sha256: str | None) -> None:
    if not target.is_file():
        raise DataError(f"{target} exists and is not a file")
    problem = _problem(target, target.suffix, sha256)
    if problem is not None:
        raise DataError(f"{target} exists but is damaged: {problem}. Delete it and try again")


def _problem(path: Path, suffix: str, sha256: str | None) -> str | None:
    """What is wrong with the content of a whole file, or None."""
    if sha256 is not None:
        found = hash_file(path)
        wrong = found != sha256.lower()
        return f"its sha256 is {found}, expected {sha256.lower()}" if wrong else None
    if suffix.lower() == ".zip":
        try:
            check_zip(path)
        except DataError as error:
            return str(error)
    return None


def _is(value: object, kind: type) -> bool:
    return value is None or (isinstance(value, kind) and not isinstance(value, bool))
