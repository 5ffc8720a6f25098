"""Files that survive a crash: replaced at once, synced with their folder, one writer at a time."""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from agentquest.errors import DataError, UserError


def write_atomically(file: Path, text: str) -> None:
    """Replace a file's content at once: readers see the old or the new, never a half."""
    with replacing(file) as draft:
        draft.write(text)


@contextlib.contextmanager
def writing(file: Path) -> Iterator[None]:
    """A full disk and the like become a one-line error that names the file."""
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot write {file}: {error.strerror}") from error


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[IO[str]]:
    """A draft that replaces the file when it is complete, and is removed when it is not.

    Anything that is not a file (a device, a pipe) is written to, not replaced.
    """
    if file.exists() and not file.is_file():
        with file.open("w", encoding="utf-8") as special:
            yield special
        return
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=file.parent, prefix=f".{file.name}.", delete=False
    ) as draft:
        finished = Path(draft.name)
        try:
            yield draft
            draft.flush()
            os.fsync(draft.fileno())
            finished.chmod(0o666 & ~_umask())
            finished.replace(file)
        except OSError as error:
            finished.unlink(missing_ok=True)
            if error.errno is not None:
                error.filename = str(file)  # readers of the error do not know the draft
            raise
        except BaseException:
            finished.unlink(missing_ok=True)
            raise
    sync_folder(file.parent)


def sync_folder(folder: Path) -> None:
    """Have a new or renamed file's name on disk too; nothing where a system cannot."""
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(number)
    except OSError:
        pass  # some file systems cannot sync folders
    finally:
        os.close(number)


def to_json(content: Any) -> str:
    """JSON for people to read; raises ValueError for what JSON has no word for, such as NaN."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def take_lock(file: Path) -> IO[str]:
    """Held until the handle is closed, or the process ends."""
    handle = file.open("a")
    try:
        import fcntl
    except ImportError:  # not a POSIX system: avoiding two writers is then up to the user
        return handle
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        raise UserError(f"{file.parent} is in use by another process") from None
    return handle


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
