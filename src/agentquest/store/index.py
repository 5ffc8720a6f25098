"""`index.jsonl`: the row of each line of `episodes.jsonl`, so that each is parsed only once.

The file consists of sealed lines. The first says how the rows were made; a file made
differently is rewritten. Each other line holds a row and the place and checksum of the
episode's line, so an index that does not fit its episodes, line by line, is noticed and
made anew. The last line may hold the figures that a list of runs shows. The file can be
deleted at any time. One process at a time writes it; others work without writing.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from filelock import BaseFileLock
from pydantic import ConfigDict, Field, ValidationError

from agentquest.errors import UserError, explain
from agentquest.files import open_regular, take_lock
from agentquest.metrics.rows import (
    EpisodeRow,
    Spent,
    Whole,
    keep_newest,
    row_of,
    total,
)
from agentquest.metrics.summary import RunFigures
from agentquest.metrics.table import Metric
from agentquest.records.base import Many, Record
from agentquest.records.episode import EpisodeRecord
from agentquest.store.folder import EPISODES, MANIFEST
from agentquest.store.lines import (
    EpisodeReader,
    Span,
    has_lines,
    seal,
    unseal,
)
from agentquest.version import __version__
from agentquest.words import plural

INDEX = "index.jsonl"
_LOCK = ".index.lock"
_VERSION = 9
_TOGETHER = 16
_LONGEST_FIGURES = 4096
_FIGURES = b'{"of":'


class _Entry(Record):
    """A row, where its line is, and which lines before it were skipped since the last one."""

    model_config = ConfigDict(
        strict=True,
        cache_strings="all",
        ser_json_bytes="base64",
        val_json_bytes="base64",
        defer_build=True,
    )
    at: Whole
    next: Whole
    crc: Whole
    row: EpisodeRow
    skipped: Many[tuple[int, str]] = Field(default_factory=list)


class _SavedFigures(Record):
    """What a list shows, while the episodes are as this stamp says."""

    model_config = ConfigDict(strict=True, defer_build=True)
    of: list[Any]
    figures: RunFigures


class RowIndex:
    """The rows of one run; `refresh` reads what has come since.

    `verify` checks every line that is known already against its checksum, which whoever
    decides what is still to play must do.
    """

    def __init__(self, folder: Path, table: Sequence[Metric], *, verify: bool = False) -> None:
        self._table = table
        self._verify = verify
        self._episodes = folder / EPISODES
        # A user's own code may have changed since: then every record is measured anew.
        self._saves = not any(metric.path for metric in table)
        self._keys = {metric.key for metric in table}
        self._index = _IndexFile(folder, sorted(self._keys))
        self._unsaved: list[_Entry] = []
        self._load()

    @property
    def rows(self) -> list[EpisodeRow]:
        """The newest of each episode, in the order in which they first finished."""
        return list(self._rows.values())

    @property
    def damage(self) -> str:
        """A warning about lines that cannot be read; empty when there are none."""
        lines = self._reader.damaged
        reasons = [reason for reason in self._reader.skipped.values() if reason]
        if not (lines or reasons):
            return ""
        shown = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
        found = [f"{len(lines)} damaged {plural(len(lines), 'line')} ({shown})"] if lines else []
        if reasons:
            such = f"{len(reasons)} that cannot be used, such as" if reasons[1:] else "a line,"
            found.append(f"{such} {reasons[0]}")
        skipped = " and ".join(found)
        return f"{self._episodes}: skipped {skipped}; run again to play their episodes"

    @property
    def replaced(self) -> Spent:
        """What the attempts took that do not count: they were paid for all the same."""
        return total(self._replaced)

    def find(self, key: str) -> Span | None:
        """Where the record that counts for a key is; None if no such episode was recorded."""
        return self._places.get(key)

    def refresh(self) -> None:
        """Read what was recorded since the last call, and save the index."""
        if self._spans and not has_lines(self._episodes, [self._spans[-1]]):
            self._load()  # the file was replaced or cut
        for span, record in self._reader.read_new():
            self._add(record, span)
        self.flush()

    def add(self, record: EpisodeRecord, span: Span) -> None:
        """Take in an episode that was just written there."""
        self._reader.skip(span.next)
        self._add(record, span)
        if len(self._unsaved) >= _TOGETHER:
            self.flush()

    def hold(self) -> None:
        """Be the only one who writes the index, until `release`."""
        if self._saves:
            self._index.hold()

    def release(self) -> None:
        """Save what is left, and let others write again."""
        self.flush()
        self._index.release()

    def save_figures(self, stamp: list[Any], figures: RunFigures) -> None:
        """Keep what a list shows, for `load_figures`, while the episodes are as the stamp says."""
        if self._saves and self._rows:
            self._saves = self._index.append([_SavedFigures(of=stamp, figures=figures)])

    def flush(self) -> None:
        """Save the rows that wait. After one failed write the index stays closed; later lines
        would leave a gap."""
        if self._unsaved:
            self._saves = self._index.append(self._unsaved)
            self._unsaved = []

    def _load(self) -> None:
        self._begin_anew()
        fits = self._take_index() and has_lines(self._episodes, self._spans, self._verify)
        if not fits or (self._verify and self._reader.damaged):  # they may have been restored
            self._index.forget()
            self._begin_anew()

    def _take_index(self) -> bool:
        """Take what the index has; False if it was not written by us, whatever its checksums."""
        try:
            for entry in self._index.load() if self._saves else ():
                if entry.row.values.keys() != self._keys:
                    return False
                self._reader.skip(entry.next, dict(entry.skipped))
                self._keep(entry.row, Span(entry.at, entry.next, entry.crc))
        except ValidationError:
            return False
        self._known_damage = len(self._reader.skipped)
        return True

    def _begin_anew(self) -> None:
        self._rows: dict[str, EpisodeRow] = {}
        self._places: dict[str, Span] = {}  # of the lines that count, by key
        self._spans: list[Span] = []  # of all lines
        self._reader = EpisodeReader(self._episodes)
        self._known_damage = 0  # skipped lines that the index has
        self._unsaved = []
        self.revision = 0
        """Grows with every attempt that is taken in; another one means other figures."""
        self._replaced: list[Spent] = []

    def _add(self, record: EpisodeRecord, span: Span) -> None:
        try:
            row = row_of(record, self._table)
        except Exception as error:
            # A record of anybody's: what cannot be added up must not cost the others.
            self._reader.refuse_last(f"{record.key}: {explain(error)}")
            return
        self._keep(row, span)
        if self._saves:
            skipped = list(self._reader.skipped.items())[self._known_damage :]
            self._known_damage += len(skipped)
            self._unsaved.append(
                _Entry(at=span.at, next=span.next, crc=span.checksum, row=row, skipped=skipped)
            )

    def _keep(self, row: EpisodeRow, span: Span) -> None:
        self.revision += 1
        before = self._rows.get(row.key)
        if keep_newest(self._rows, row):
            self._places[row.key] = span
            self._replaced += [before.spent] if before is not None else []
        else:
            self._replaced.append(row.spent)
        self._spans.append(span)


def identify(folder: Path, *names: str) -> list[Any]:
    """What differs where one of these files was changed or replaced, or this program was."""
    found: list[Any] = [__version__]
    for name in names:
        try:
            file = os.stat(f"{folder}/{name}")  # noqa: PTH116  lists ask often
            found += [file.st_ino, file.st_size, file.st_mtime_ns]
        except OSError:
            found += [0, 0, 0]
    return found


def stamp_figures(folder: Path) -> list[Any]:
    """What the figures of a run depend on: its episodes, and its price."""
    return identify(folder, EPISODES, MANIFEST)


def load_figures(folder: Path, stamp: list[Any]) -> RunFigures | None:
    """The figures of a run whose episodes have this stamp; None if they are not in its index."""
    try:
        with open_regular(folder / INDEX) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _LONGEST_FIGURES))
            content = unseal(file.read().splitlines(keepends=True)[-1])
        saved = _SavedFigures.model_validate_json(content or b"")
    except (OSError, LookupError, ValidationError):
        return None
    return saved.figures if saved.of == stamp else None


class _IndexFile:
    """The lines on disk. Nothing is lost if they cannot be written: they only save time."""

    def __init__(self, folder: Path, keys: Sequence[str]) -> None:
        self._folder = folder
        self._file = folder / INDEX
        head = {"rows": _VERSION, "by": __version__, "metrics": list(keys)}
        self._head = seal(json.dumps(head).encode())
        self._whole = 0  # bytes that are understood
        self._lock: BaseFileLock | None = None

    def load(self) -> Iterator[_Entry]:
        """The entries of consecutive lines of the episodes, from the first on."""
        self._whole = end = 0
        with contextlib.suppress(OSError), open_regular(self._file) as lines:
            if lines.readline() != self._head:
                return
            self._whole = len(self._head)
            for line in lines:
                content = unseal(line) if line.endswith(b"\n") else None
                if content is None:
                    return
                if not content.startswith(_FIGURES):
                    entry = _Entry.model_validate_json(content)
                    if entry.at != end and not entry.skipped:
                        return
                    end = entry.next
                    yield entry
                self._whole += len(line)

    def forget(self) -> None:
        """Start over with the next entry that is added."""
        self._whole = 0

    def hold(self) -> None:
        """Let nobody else write until `release`, and cut off what is not understood; without
        effect where somebody else writes."""
        with contextlib.suppress(OSError, UserError):
            self._lock = take_lock(self._folder / _LOCK)
            with open_regular(self._file, "ab") as handle:
                handle.truncate(self._whole)

    def release(self) -> None:
        """Let others write it again; without effect where it is not held."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def append(self, entries: Iterable[Record]) -> bool:
        """Add lines, and say whether they are written."""
        lines = [seal(entry.model_dump_json(exclude_defaults=True).encode()) for entry in entries]
        if self._lock is not None:
            return self._write(lines)
        self._hold_if_unchanged()
        try:
            return self._lock is not None and self._write(lines)
        finally:
            self.release()

    def _hold_if_unchanged(self) -> None:
        """Hold it, unless another process has written since it was read."""
        with contextlib.suppress(OSError, UserError):
            lock = take_lock(self._folder / _LOCK)
            size = self._file.stat().st_size if self._file.exists() else 0
            if self._whole in (0, size):
                self._lock = lock
            else:
                lock.release()

    def _write(self, lines: list[bytes]) -> bool:
        try:
            with open_regular(self._file, "ab") as handle:
                if not self._whole:
                    handle.truncate(0)
                    lines = [self._head, *lines]
                self._whole += handle.write(b"".join(lines))
        except OSError:
            return False
        return True
