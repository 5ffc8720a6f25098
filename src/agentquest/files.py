"""Files that survive a crash: replaced at once, synced with their folder, one writer at a time."""

import contextlib
import errno
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from filelock import BaseFileLock, FileLock, Timeout

from agentquest.errors import DataError, UserError
from agentquest.platform import sync_file, sync_folder


def write_atomically(file: Path, content: str | bytes) -> None:
    """Replace a file's content at once: readers see the old or the new, never a half."""
    with replace_with_draft(file) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


def open_regular(file: Path, mode: str = "rb", **options: Any) -> IO[Any]:
    """`open` for files of a run folder, which may come from anybody: raises OSError for anything
    that is not a file itself, such as a link, which could lead away, or a pipe, which could wait
    for ever, and for what is but holes."""
    return open(file, mode, opener=_open_regular, **options)


def _open_regular(path: str, flags: int) -> int:
    require_regular(path)  # before it is opened, which waits for a pipe and may start a device
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    number = os.open(path, flags, 0o666)
    found = os.fstat(number)
    # A file of holes has any size on no disk space, and would take all memory.
    on_disk = 512 * getattr(found, "st_blocks", found.st_size)
    is_hollow = found.st_size > max(1 << 30, 1000 * on_disk)
    if is_hollow or not stat.S_ISREG(found.st_mode):
        os.close(number)
        raise _not_regular(path)
    return number


def require_regular(path: str | Path) -> None:
    """OSError if there is something that is not a file itself; nothing at all is fine."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise _not_regular(path)


def require_file(named: Path) -> None:
    """OSError for what a configuration names in place of a file: a pipe may wait and a device
    never end. Links are followed; what is missing is noticed when it is read."""
    if named.exists() and not named.is_file():
        raise _not_regular(named)


def _not_regular(path: str | Path) -> OSError:
    return OSError(errno.EINVAL, "not a regular file", str(path))


@contextlib.contextmanager
def explain_errors(doing: str, file: Path) -> Iterator[None]:
    """What keeps a file from being read or written becomes a one-line error: `cannot read …`."""
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot {doing} {file}: {error.strerror}") from error


@contextlib.contextmanager
def replace_with_draft(file: Path, sync: bool = True) -> Iterator[Path]:
    """The path of a draft that replaces the file when it is complete, and is removed if it is not.

    `sync` waits for the disk; do without for many files that can be made again. A link is
    replaced, not followed.
    """
    number, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    os.close(number)
    draft = Path(name)
    try:
        yield draft
        if sync:
            sync_file(draft)
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
    # The short wait is for somebody who only looks (see `is_locked`).
    lock = FileLock(file, timeout=0.3, poll_interval=0.02, thread_local=False)
    with explain_errors("lock", file):
        require_regular(file)
        try:
            lock.acquire()
        except Timeout:
            raise UserError(f"{file.parent} is in use by another process") from None
    return lock


def is_locked(file: Path) -> bool:
    """Whether a process holds the lock of an existing file."""
    lock = FileLock(file, timeout=0, thread_local=False)
    try:
        require_regular(file)
        lock.acquire()
    except Timeout:
        return True
    except OSError:
        return False
    lock.release()
    return False


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
