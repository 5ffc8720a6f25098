"""Files that survive a crash: replaced at once, synced with their folder, one writer at a time."""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from filelock import BaseFileLock, FileLock, Timeout

from agentquest.errors import DataError, UserError


def write_atomically(file: Path, content: str | bytes) -> None:
    """Replace a file's content at once: readers see the old or the new, never a half."""
    with replace_with_draft(file) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def explain_write_errors(file: Path) -> Iterator[None]:
    """A full disk and the like become a one-line error that names the file."""
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot write {file}: {error.strerror}") from error


@contextlib.contextmanager
def open_replacement(file: Path) -> Iterator[IO[str]]:
    """An open text file that replaces `file` when it is complete."""
    with replace_with_draft(file) as draft, draft.open("w", encoding="utf-8") as handle:
        yield handle


@contextlib.contextmanager
def replace_with_draft(file: Path, sync: bool = True) -> Iterator[Path]:
    """The path of a draft that replaces the file when it is complete, and is removed if it is not.

    `sync` waits for the disk; do without for many files that can be made again. Anything that
    is not a file (a device, a pipe) is written to, not replaced.
    """
    if file.exists() and not file.is_file():
        yield file
        return
    number, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    os.close(number)
    draft = Path(name)
    try:
        yield draft
        if sync:
            _sync(draft)
        draft.chmod(0o666 & ~_umask())
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        if error.errno is not None:
            error.filename = str(file)  # readers of the error do not know the draft
        raise
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    if sync:
        sync_folder(file.parent)


def sync_folder(folder: Path) -> None:
    """Have a new or renamed file's name on disk too; nothing where a system cannot."""
    with contextlib.suppress(OSError):  # some systems cannot open or sync folders
        _sync(folder)


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def hash_file(file: Path) -> str:
    """The SHA-256 of a file's content, which may be larger than memory."""
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def to_json(content: Any) -> str:
    """JSON for people to read; raises ValueError for what JSON has no word for, such as NaN."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def take_lock(file: Path) -> BaseFileLock:
    """A lock that is held until it is released, or the process ends; UserError if it is taken."""
    # Not bound to the thread: a run that ends may be closed by another one.
    lock = FileLock(file, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise UserError(f"{file.parent} is in use by another process") from None
    return lock


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
