"""`index.jsonl`: the row of each line of `episodes.jsonl`, so that each is parsed only once.

The file consists of sealed lines. The first says how the rows were made; a file made
differently is rewritten. Each other line holds a row and the place and checksum of the
episode's line, so an index that does not fit its episodes, line by line, is noticed and
made anew. The last line may hold the figures that a list of runs shows. The file can be
deleted at any time. One process at a time writes it; others work without writing.
"""

import contextlib
import gc
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import BaseFileLock
from pydantic import TypeAdapter
from pydantic_core import from_json

from agentquest.errors import UserError, explain
from agentquest.files import open_regular, take_lock
from agentquest.metrics.measured import RecalledValue
from agentquest.metrics.rows import (
    EpisodeRow,
    Setting,
    Spent,
    keep_newest,
    measure,
    progress_curve,
    row_of,
    shared_setting,
    total,
)
from agentquest.metrics.summary import RunFigures
from agentquest.metrics.table import Metric
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.store.folder import EPISODES, MANIFEST
from agentquest.store.lines import (
    EpisodeReader,
    Span,
    Spans,
    find_damaged_lines,
    has_lines,
    seal,
    unseal,
)
from agentquest.version import __version__
from agentquest.words import plural

INDEX = "index.jsonl"
_LOCK = ".index.lock"
_VERSION = 8
_TOGETHER = 16
_LONGEST_FIGURES = 4096
_SETTING = [one.name for one in fields(Setting)]
_SPENT = [one.name for one in fields(Spent)]
_APART = ("setting", "spent", "end", "values", "failed", "latencies", "goal", "progress_curve")
_ROW = [one.name for one in fields(EpisodeRow) if one.name not in _APART]
_ENDS = {end.value: end for end in End}


class RowIndex:
    """The rows of one run; `refresh` reads what has come since.

    `verify` checks every line that is known already against its checksum, which whoever
    decides what is still to play must do. `light` rows have no goals and progress curves.
    """

    def __init__(
        self, folder: Path, table: Sequence[Metric], *, verify: bool = False, light: bool = False
    ) -> None:
        self._table = table
        self._verify = verify
        self._light = light
        self._episodes = folder / EPISODES
        # Metrics that only look up their values add them to rows of the index. A user's own
        # code may have changed since: then every record is measured anew.
        self._built_in = [metric.key for metric in table if not metric.path]
        self._recalled = [one for one in table if isinstance(one.value, RecalledValue)]
        self._saves = len(self._built_in) + len(self._recalled) == len(table)
        self._index = _IndexFile(folder, self._built_in)
        self._unsaved: list[dict[str, Any]] = []
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
        number = self._numbers.get(key)
        return None if number is None else self._spans[number]

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
            entry = {"of": stamp, "figures": asdict(figures)}
            self._saves = self._index.append([entry])

    def flush(self) -> None:
        """Save the rows that wait. After one failed write the index stays closed; later lines
        would leave a gap."""
        if self._unsaved:
            self._saves = self._index.append(self._unsaved)
            self._unsaved = []

    def _load(self) -> None:
        self._begin_anew()
        with _without_collections():
            if not (self._take_index() and self._fits()):
                self._index.forget()
                self._begin_anew()

    def _take_index(self) -> bool:
        """Take what the index has; False if it was not written by us, whatever its checksums."""
        try:
            for entry in self._index.load() if self._saves else ():
                span = Span(entry["at"], entry["next"], entry["crc"])
                self._reader.skip(span.next, dict(entry.get("damaged", ())))
                self._keep(self._recall(entry), span)
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError):
            return False
        self._known_damage = len(self._reader.skipped)
        return True

    def _begin_anew(self) -> None:
        self._rows: dict[str, EpisodeRow] = {}
        self._numbers: dict[str, int] = {}  # of the lines that count, in `_spans`
        self._spans = Spans()
        self._reader = EpisodeReader(self._episodes)
        self._known_damage = 0  # skipped lines that the index has
        self._unsaved = []
        self.revision = 0
        """Grows with every attempt that is taken in; another one means other figures."""
        self._replaced: list[Spent] = []

    def _fits(self) -> bool:
        if not has_lines(self._episodes, self._spans):
            return False
        if not self._verify or not self._spans:
            return True
        return find_damaged_lines(self._episodes, self._reader.offset) == self._reader.damaged

    def _add(self, record: EpisodeRecord, span: Span) -> None:
        try:
            row = row_of(record, self._table, self._light)
        except Exception as error:
            # A record of anybody's: what cannot be added up must not cost the others.
            self._reader.refuse_last(f"{record.key}: {explain(error)}")
            return
        self._keep(row, span)
        if self._saves:
            skipped = list(self._reader.skipped.items())[self._known_damage :]
            self._known_damage += len(skipped)
            self._unsaved.append(self._entry(record, row, span, skipped))

    def _keep(self, row: EpisodeRow, span: Span) -> None:
        self.revision += 1
        before = self._rows.get(row.key)
        if keep_newest(self._rows, row):
            self._numbers[row.key] = len(self._spans)
            self._replaced += [before.spent] if before is not None else []
        else:
            self._replaced.append(row.spent)
        self._spans.append(span)

    def _entry(
        self,
        record: EpisodeRecord,
        row: EpisodeRow,
        span: Span,
        skipped: Sequence[tuple[int, str]],
    ) -> dict[str, Any]:
        """Flat, with what many rows share or few readers want as text: 100,000 are read at once."""
        entry: dict[str, Any] = {
            "at": span.at,
            "next": span.next,
            "crc": span.checksum,
            "goal": record.goal,
            "progress": " ".join(map(str, progress_curve(record))),
            "setting": json.dumps([getattr(row.setting, name) for name in _SETTING]),
            "end": row.end.value,
            "spent": [getattr(row.spent, name) for name in _SPENT],
            "latencies": b64encode(row.latencies).decode(),
            "values": [row.values[key] for key in self._built_in],
            "failed": {key: row.failed[key] for key in self._built_in if key in row.failed},
            "row": [getattr(row, name) for name in _ROW],
        }
        if skipped:
            entry["damaged"] = skipped
        return entry

    def _recall(self, entry: Mapping[str, Any]) -> EpisodeRow:
        row = EpisodeRow(
            setting=_setting(entry["setting"]),
            spent=Spent(*entry["spent"]),
            end=_ENDS[entry["end"]],
            values=dict(zip(self._built_in, entry["values"], strict=True)),
            failed=entry["failed"],
            latencies=b64decode(entry["latencies"]),
            goal="" if self._light else entry["goal"],
            progress_curve=() if self._light else tuple(map(float, entry["progress"].split())),
            **dict(zip(_ROW, entry["row"], strict=True)),
        )
        if not self._recalled:
            return row
        values, failed = measure(row, self._recalled)
        return replace(row, values={**row.values, **values}, failed={**row.failed, **failed})


def stamp_episodes(folder: Path) -> list[Any]:
    """What changes whenever an episode is written, a file is replaced, or the price is."""
    stamp: list[Any] = [__version__]
    for name in (EPISODES, MANIFEST):
        try:
            found = os.stat(f"{folder}/{name}")  # noqa: PTH116  lists ask often
            stamp += [found.st_size, found.st_mtime_ns]
        except OSError:
            stamp += [0, 0]
    return stamp


def load_figures(folder: Path, stamp: list[Any]) -> RunFigures | None:
    """The figures of a run whose episodes have this stamp; None if they are not in its index."""
    try:
        with open_regular(folder / INDEX) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _LONGEST_FIGURES))
            entry = _parse(file.read().splitlines(keepends=True)[-1])
        if entry is None or entry.get("of") != stamp:
            return None
        return _figures().validate_python(entry["figures"])
    except (OSError, LookupError, AttributeError, ValueError):
        return None


@lru_cache(maxsize=1)
def _figures() -> TypeAdapter[RunFigures]:
    return TypeAdapter(RunFigures)


class _IndexFile:
    """The lines on disk. Nothing is lost if they cannot be written: they only save time."""

    def __init__(self, folder: Path, keys: Sequence[str]) -> None:
        self._folder = folder
        self._file = folder / INDEX
        head = {"rows": _VERSION, "by": __version__, "metrics": list(keys)}
        self._head = seal(json.dumps(head).encode())
        self._whole = 0  # bytes that are understood
        self._lock: BaseFileLock | None = None

    def load(self) -> Iterator[dict[str, Any]]:
        """The entries of consecutive lines of the episodes, from the first on."""
        self._whole = end = 0
        with contextlib.suppress(OSError), open_regular(self._file) as lines:
            if lines.readline() != self._head:
                return
            self._whole = len(self._head)
            for line in lines:
                entry = _parse(line)
                if entry is None:
                    return
                if "row" in entry:
                    if entry["at"] != end and not entry.get("damaged"):
                        return
                    end = entry["next"]
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

    def append(self, entries: Iterable[Mapping[str, Any]]) -> bool:
        """Add lines, and say whether they are written."""
        lines = [seal(json.dumps(entry).encode()) for entry in entries]
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


def _parse(line: bytes) -> dict[str, Any] | None:
    content = unseal(line) if line.endswith(b"\n") else None
    if content is None:
        return None
    entry: dict[str, Any] = from_json(content)
    return entry


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """Many small objects, none of them garbage: looking for some would double the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@lru_cache(maxsize=1024)
def _setting(text: str) -> Setting:
    values = json.loads(text)
    values[-1] = tuple((name, value) for name, value in values[-1])
    return shared_setting(Setting(*values))
