"""Data for nodes that have none: what a task needs is sent once, and kept by content.

Nodes that have the data read their own. Ray carries an object to a node once,
whichever of its workers ask for it; on disk it is kept under the task's hash, so
a later run finds it there.
"""

import os
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from agentquest.errors import DataError
from agentquest.lib import Task

Pack = Mapping[str, bytes]
"""The files of a folder, compressed."""


def packed(folder: Path) -> Pack:
    """The files of a folder, each compressed, by name; folders in it are left out."""
    return {
        file.name: zlib.compress(file.read_bytes())
        for file in sorted(folder.iterdir())
        if file.is_file()
    }


def kept_at(task: Task, data_hash: str) -> Path:
    """Where this machine keeps, or would keep, a task that was sent to it."""
    store = Path.home() / ".cache" / "agentquest" / "shipped"
    folder = store / data_hash / task.id
    if ".." in folder.parts or store not in folder.parents:
        raise DataError(f"task id {task.id!r} cannot be used as a folder name")
    return folder


def unpacked(task: Task, data_hash: str, pack: Pack) -> None:
    """Keep a task's files; whole or not at all, as other workers may look for them."""
    folder = kept_at(task, data_hash)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        whole = Path(scratch) / "whole"
        whole.mkdir()
        for name, content in pack.items():
            (whole / Path(name).name).write_bytes(zlib.decompress(content))
        try:
            whole.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another worker was quicker
                raise


def moved(task: Task, data_hash: str) -> Task:
    """The task as this machine opens it."""
    return replace(task, problem=str(kept_at(task, data_hash)))


@contextmanager
def in_turn() -> Iterator[None]:
    """One worker of a machine at a time, so that what the first builds the others find."""
    file = Path(tempfile.gettempdir()) / f"agentquest-opening-{os.getuid()}.lock"
    import fcntl  # here, as this runs on nodes of a cluster only

    with file.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
