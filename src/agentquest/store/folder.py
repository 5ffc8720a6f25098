"""The folder of a run: what is in it, and who may write to it.

    config.yaml      the resolved configuration, without keys
    manifest.json    versions, data, task ids, and the fingerprint of all that decides a score
    episodes.jsonl   one whole line per episode, only ever appended to, synced to disk
    live.jsonl       steps of episodes in progress, for watchers (see live.py)
    index.jsonl      one row per episode, for reports and resuming (see index.py)
    results.json     the results in the documented shape, rewritten as episodes finish
    metrics.json     the values of metrics that the configuration names
    run.log          what was said while it ran
    .lock            held by the process that writes
    .heartbeat       that process's machine and the time, renewed while it writes

An episode is in the file or it is not: a line torn by a crash is cut off when
the run is opened for writing, and a damaged one is skipped; their episodes are played again.
"""

import os
import platform
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from agentquest.errors import DataError, UserError
from agentquest.files import (
    explain_errors,
    is_locked,
    open_regular,
    replace_with_draft,
    take_lock,
    write_atomically,
)
from agentquest.metrics.rows import keep_newest
from agentquest.records.base import Record, explain_invalid
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import (
    MANIFEST_VERSION,
    MEASURED_VERSION,
    Manifest,
    MeasuredMetrics,
)
from agentquest.store.lines import EpisodeAppender, EpisodeReader

CONFIG = "config.yaml"
MANIFEST = "manifest.json"
EPISODES = "episodes.jsonl"
METRICS = "metrics.json"
RESULTS = "results.json"
LOG = "run.log"
_LOCK = ".lock"
_HEARTBEAT = ".heartbeat"
_BEAT_S, _SILENT_S = 10.0, 60.0
_LONGEST_BEAT = 1000
R = TypeVar("R", bound=Record)


class _Heartbeat(Record):
    host: str
    at: float


class RunFolder:
    """Reading needs nothing; writing episodes needs the lock (`with folder.lock() as episodes`)."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """What the folder itself is called, also if the path is `.` or a link."""
        return os.path.basename(os.path.realpath(self.path))  # noqa: PTH119  may loop

    @property
    def exists(self) -> bool:
        """Whether there is a run here already."""
        return (self.path / MANIFEST).is_file()

    def create(self, config: str, manifest: Manifest) -> None:
        """Make the folder with its configuration and manifest; UserError if it cannot be made, or
        holds something else."""
        try:
            if not self.exists and (self.path.is_symlink() or self._holds_files()):
                raise UserError(
                    f"{self.path} is there and is not a run directory; use another run_name"
                )
            self.path.mkdir(parents=True, exist_ok=True)
            # First what makes it a run: a folder without it is never written to.
            write_atomically(self.path / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
            write_atomically(self.path / CONFIG, config)
        except OSError as error:
            raise UserError(f"cannot make {self.path}: {error.strerror}") from error

    def _holds_files(self) -> bool:
        """Whether there is more than what a process that was killed at once may leave."""
        return self.path.exists() and any(file.name[0] != "." for file in self.path.iterdir())

    def remove(self) -> None:
        """Take the folder away with all that is in it; raises UserError while it is in use."""
        self.refuse_if_in_use()
        shutil.rmtree(self.path, ignore_errors=True)

    def manifest(self) -> Manifest:
        """What the run is; raises UserError where there is none."""
        file = self.path / MANIFEST
        if not file.is_file():
            inside = min(self.path.glob(f"*/{MANIFEST}"), default=None)
            hint = f"; name one of those in it, such as {inside.parent}" if inside else ""
            raise UserError(f"{self.path} is not a run directory: it has no {MANIFEST}{hint}")
        return _read(file, Manifest, MANIFEST_VERSION)

    def measured(self) -> MeasuredMetrics:
        """The values of the run's own metrics; nothing if it has none, or none yet."""
        file = self.path / METRICS
        if not file.is_file():
            return MeasuredMetrics()
        return _read(file, MeasuredMetrics, MEASURED_VERSION)

    def write_measured(self, metrics: MeasuredMetrics) -> None:
        """Replace the values of the run's own metrics."""
        write_atomically(self.path / METRICS, metrics.model_dump_json() + "\n")

    def records(self) -> list[EpisodeRecord]:
        """The newest record of each episode, in the order in which they first finished."""
        newest: dict[str, EpisodeRecord] = {}
        for record in self.tries():
            keep_newest(newest, record)
        return list(newest.values())

    def tries(self) -> Iterator[EpisodeRecord]:
        """Every record of the file, also of episodes that were played again later."""
        return (record for _, record in EpisodeReader(self.path / EPISODES).read_new())

    def refuse_if_in_use(self) -> None:
        """Raise what `lock` would raise; nothing is changed."""
        take_lock(self.path / _LOCK).release()

    @contextmanager
    def lock(self, packed: bool = False) -> Iterator[EpisodeAppender]:
        """For writing, one process at a time; `packed` lines take a tenth of the space."""
        lock = take_lock(self.path / _LOCK)
        try:
            for name in (RESULTS, _HEARTBEAT):
                for draft in self.path.glob(f".{name}.*"):
                    with suppress(OSError):
                        draft.unlink()
            episodes = EpisodeAppender(self.path / EPISODES, packed)
            try:
                with self._heartbeat():
                    yield episodes
            finally:
                episodes.close()
        finally:
            lock.release()

    @contextmanager
    def _heartbeat(self) -> Iterator[None]:
        """Renew the sign of life from a thread, however long the run waits for a model."""
        file, ended = self.path / _HEARTBEAT, threading.Event()

        def beat() -> None:
            with suppress(OSError), replace_with_draft(file, sync=False) as draft:
                beat = _Heartbeat(host=platform.node(), at=time.time())
                draft.write_text(beat.model_dump_json())

        def keep_beating() -> None:
            while not ended.wait(_BEAT_S):
                beat()

        thread = threading.Thread(target=keep_beating, daemon=True, name="heartbeat")
        beat()
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            with suppress(OSError):
                file.unlink()

    @property
    def in_use(self) -> bool:
        """Whether a process is writing. On this machine its lock tells, which ends with it; of
        another machine, where locks may not reach, its last heartbeat."""
        try:
            with open_regular(self.path / _HEARTBEAT) as opened:
                beat = _Heartbeat.model_validate_json(opened.read(_LONGEST_BEAT))
        except (OSError, ValidationError):
            return False
        if beat.host == platform.node():
            return is_locked(self.path / _LOCK)
        return abs(time.time() - beat.at) < _SILENT_S


def _read(file: Path, model: type[R], version: int) -> R:
    with explain_errors("read", file), open_regular(file) as opened:
        content = opened.read()
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        raise DataError(explain_invalid(content, error, str(file), version)) from None
