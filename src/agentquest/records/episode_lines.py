"""`episodes.jsonl`: how a record becomes a line that can be trusted, and back.

Each line is a JSON object whose last field is a checksum over all before it. A
crash can tear the last line, and a power loss can damage unsynced ones anywhere:
such lines are skipped and reported, and their episodes are played again. A line that
is complete but not understood (another version's) is an error, never skipped.

In large runs the object is packed: `{"packed":"…","crc32":"…"}`, where the text is
the record's JSON, deflated (zlib) and in base64. A line stays a line, so that all
of the above holds, and takes a tenth of the room.
"""

import binascii
import contextlib
import itertools
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from pydantic import ValidationError

from agentquest.errors import DataError
from agentquest.files import sync_folder
from agentquest.records.episode import SCHEMA_VERSION, EpisodeRecord
from agentquest.records.explaining import explain_invalid

_SEAL = b',"crc32":"'
_SEAL_LENGTH = len(_SEAL) + 8 + len(b'"}')
_CHUNK = 1 << 16
_PACKED = b'{"packed":"'
_PACKING = 4  # beyond, zlib takes much longer to save little
_LONGEST = 1 << 30  # no record is this long: what unpacks to more is malicious


class Place(NamedTuple):
    """Where a line begins, and where the next one does."""

    at: int
    next: int


def sealed(record: EpisodeRecord, packed: bool = False) -> bytes:
    """The record as a line with its checksum."""
    body = record.model_dump_json().encode()
    if packed:
        text = binascii.b2a_base64(zlib.compress(body, _PACKING), newline=False)
        body = b'%b%b"' % (_PACKED, text)
    else:
        body = body[:-1]
    return b'%b%b%08x"}\n' % (body, _SEAL, zlib.crc32(body))


def unsealed(line: bytes) -> bytes | None:
    """The JSON of a line whose checksum is right; None for a damaged line."""
    body = _intact(line)
    if body is None:
        return None
    return _unpacked(body) if body.startswith(_PACKED) else body + b"}"


def _intact(line: bytes) -> bytes | None:
    """What the checksum was made of, if it is right."""
    content = line.rstrip(b"\n")
    body, seal = content[:-_SEAL_LENGTH], content[-_SEAL_LENGTH:]
    return body if seal == b'%b%08x"}' % (_SEAL, zlib.crc32(body)) else None


def _unpacked(body: bytes) -> bytes | None:
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(binascii.a2b_base64(body[len(_PACKED) : -1]), _LONGEST)
    except (binascii.Error, zlib.error):
        return None
    return content if unpacking.eof else None


def damaged_lines(file: Path, end: int, start: int = 0) -> list[int]:
    """Numbers of the damaged ones among the lines from `start` to `end`. Nothing is understood,
    so this is as fast as the disk."""
    damaged, place = [], start
    with file.open("rb") as lines:
        lines.seek(start)
        for number, line in enumerate(lines, start=1):
            place += len(line)
            if place > end:
                break
            if _intact(line) is None:
                damaged.append(number)
    return damaged


class EpisodeReader:
    """Reads a growing file of episodes: each call gives what has come since the last."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lines = 0
        self._offset = 0
        self.damaged: list[int] = []  # numbers of skipped lines

    @property
    def offset(self) -> int:
        """Where the next line begins."""
        return self._offset

    @property
    def lines(self) -> int:
        """How many lines are before it."""
        return self._lines

    def passed_over(self, lines: Sequence[int]) -> None:
        """Damaged lines that are known already."""
        self.damaged += lines
        self._lines += len(lines)

    def skip(self, offset: int, lines: int) -> None:
        """Continue from there; this many complete lines before it are already known."""
        self._offset, self._lines = offset, lines

    def further(self) -> Iterator[EpisodeRecord]:
        """The records of the whole lines behind those that were read."""
        for _, record in self.located():
            yield record

    def located(self) -> Iterator[tuple[int, EpisodeRecord]]:
        """The same, each with the place in the file where its line begins."""
        if not self._file.is_file():
            return
        with self._file.open("rb") as lines:
            lines.seek(self._offset)
            for line in lines:
                if not line.endswith(b"\n"):
                    return  # torn, or being written
                start = self._offset
                self._lines += 1
                self._offset += len(line)
                content = unsealed(line)
                if content is None:
                    self.damaged.append(self._lines)
                    continue
                yield start, _parsed(content, f"{self._file}:{self._lines}")


def read_at(file: Path, offset: int) -> EpisodeRecord:
    """The record whose line begins there."""
    with file.open("rb") as lines:
        lines.seek(offset)
        content = unsealed(lines.readline())
    if content is None:
        raise DataError(f"{file}: no complete record at byte {offset}")
    return _parsed(content, f"{file}, byte {offset}")


class EpisodeAppender:
    """Writes whole lines, synced before it returns."""

    def __init__(self, file: Path, packed: bool = False) -> None:
        self._path = file
        self._packed = packed
        is_new = not file.exists()
        cut_torn_line(file)
        self._file = file.open("ab", buffering=0)
        if is_new:
            sync_folder(file.parent)

    def append(self, records: Iterable[EpisodeRecord]) -> list[Place]:
        """Write records and wait until they are on disk; else DataError, and no half line.

        Returns where the lines stand.
        """
        number = self._file.fileno()
        whole = os.fstat(number).st_size
        lines = [sealed(record, self._packed) for record in records]
        left = memoryview(b"".join(lines))
        try:
            while left:
                left = left[os.write(number, left) :]
            os.fsync(number)
        except OSError as error:
            # No other line may follow a half one.
            with contextlib.suppress(OSError):
                os.ftruncate(number, whole)
            raise DataError(f"cannot write {self._path}: {error.strerror}") from error
        ends = list(itertools.accumulate(map(len, lines), initial=whole))
        return [Place(at, end) for at, end in itertools.pairwise(ends)]

    def close(self) -> None:
        """Close the file; nothing is waiting to be written."""
        self._file.close()


def cut_torn_line(file: Path) -> int:
    """Cut off what follows the last newline; returns the number of bytes cut."""
    if not file.is_file():
        return 0
    with file.open("r+b") as handle:
        size = handle.seek(0, os.SEEK_END)
        whole = _after_last_newline(handle, size)
        if whole < size:
            handle.truncate(whole)
            os.fsync(handle.fileno())
    return size - whole


def _after_last_newline(handle: IO[bytes], size: int) -> int:
    """Looked for from the end: a run's file can be far larger than memory."""
    end = size
    while end > 0:
        start = max(0, end - _CHUNK)
        handle.seek(start)
        found = handle.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _parsed(content: bytes, where: str) -> EpisodeRecord:
    try:
        return EpisodeRecord.model_validate_json(content)
    except ValidationError as error:
        raise DataError(explain_invalid(content, error, where, SCHEMA_VERSION)) from None
