"""Sealed lines: how JSON becomes a line of a file that can be trusted, and back.

Each line is a JSON object whose last field is a checksum of everything before it. A
crash can tear the last line, and a power loss can damage unsynced ones anywhere:
such lines are skipped and reported, and their episodes are played again. So are complete lines
that are no records, with the reason; only a line of another version is an error, never skipped.

In large runs the object is packed: `{"packed":"…","crc32":"…"}`, where the text is
the record's JSON, deflated (zlib) and in base64. A packed line is still one line, so all
of the above holds, and takes a tenth of the space.
"""

import binascii
import contextlib
import itertools
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from agentquest.errors import DataError
from agentquest.files import (
    explain_errors,
    open_regular,
)
from agentquest.platform import sync_folder
from agentquest.records.base import explain_invalid, read_version, shorten
from agentquest.records.episode import SCHEMA_VERSION, EpisodeRecord

_SEAL = b',"crc32":"'
_SEAL_LENGTH = len(_SEAL) + 8 + len(b'"}')
_PACKED = b'{"packed":"'
_PACKING = 4  # higher levels of zlib take much longer to save little
# What unpacks to more is malicious, and is not written either: texts are cut until it fits.
_LONGEST = 64 << 20
_CUTS = (1_000_000, 100_000, 10_000, 1_000)
_MOST_RATIO = 200
_ANY_RATIO = 1 << 20  # up to this length


class Span(NamedTuple):
    """A line of a file: where it begins, where the next one does, and its checksum."""

    at: int
    next: int
    checksum: int

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.next - self.at


def seal(content: bytes, packed: bool = False) -> bytes:
    """A JSON object as a line with its checksum."""
    body = content[:-1]
    if packed:
        deflated = zlib.compress(content, _PACKING)
        if len(content) <= _most_unpacked(deflated):
            body = b'%b%b"' % (_PACKED, binascii.b2a_base64(deflated, newline=False))
    return b'%b%b%08x"}\n' % (body, _SEAL, zlib.crc32(body))


def unseal(line: bytes) -> bytes | None:
    """The JSON of a line whose checksum is right; None for a damaged line."""
    body = _intact_body(line)
    if body is None:
        return None
    return _unpack(body) if body.startswith(_PACKED) else body + b"}"


def read_checksum(line: bytes) -> int:
    """The checksum at the end of an intact line."""
    return int(line[-11:-3], 16)


def _intact_body(line: bytes) -> bytes | None:
    """What the checksum was made of, if it is right."""
    content = line.rstrip(b"\n")
    body, found = content[:-_SEAL_LENGTH], content[-_SEAL_LENGTH:]
    return body if found == b'%b%08x"}' % (_SEAL, zlib.crc32(body)) else None


def _unpack(body: bytes) -> bytes | None:
    try:
        deflated = binascii.a2b_base64(body[len(_PACKED) : -1])
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(deflated, _most_unpacked(deflated))
    except (binascii.Error, zlib.error):
        return None
    return content if unpacking.eof else None


def _most_unpacked(deflated: bytes) -> int:
    return min(_LONGEST, max(_ANY_RATIO, _MOST_RATIO * len(deflated)))


def has_lines(file: Path, spans: Iterable[Span], whole: bool = False) -> bool:
    """Whether lines with these checksums end where they should; and whether the `whole` lines have
    them, which takes reading all of the file. Nothing is parsed."""
    ending = b'%b%%08x"}\n' % _SEAL
    try:
        with open_regular(file, buffering=0) as lines:
            place, size = 0, os.fstat(lines.fileno()).st_size
            for span in spans:
                # Whoever wrote the spans, no more is read than there is, and nothing twice.
                if not place <= span.at < span.next <= size:
                    return False
                place = span.next
                start = span.at if whole else span.next - _SEAL_LENGTH - 1
                lines.seek(start)
                line = lines.read(span.next - start)
                if not line.endswith(ending % span.checksum):
                    return False
                if whole and _intact_body(line) is None:
                    return False
    except (OSError, ValueError):
        return False
    return True


class EpisodeReader:
    """Reads a growing file of episodes: each call gives what has come since the last."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lines = 0
        self.offset = 0  # where the next line begins
        self.skipped: dict[int, str] = {}  # lines by number: what is wrong with their content
        """Empty where the line is damaged, so that nothing of its content is known."""

    @property
    def damaged(self) -> list[int]:
        """Numbers of the lines whose checksum is wrong."""
        return [number for number, reason in self.skipped.items() if not reason]

    def skip(self, offset: int, skipped: Mapping[int, str] | None = None) -> None:
        """Continue from there: one whole line before it is known, and so are skipped ones."""
        self.skipped.update(skipped or {})
        self._lines += len(skipped or {}) + 1
        self.offset = offset

    def refuse_last(self, reason: str) -> None:
        """Skip the line that was read last, after all."""
        self.skipped[self._lines] = reason

    def read_new(self) -> Iterator[tuple[Span, EpisodeRecord]]:
        """The records of the whole lines after those that were read, and where they are."""
        if not os.path.lexists(self._file):
            return
        with explain_errors("read", self._file), open_regular(self._file) as lines:
            lines.seek(self.offset)
            for line in lines:
                if not line.endswith(b"\n"):
                    return  # torn, or being written
                start = self.offset
                self._lines += 1
                self.offset += len(line)
                if _intact_body(line) is None:
                    self.skipped[self._lines] = ""
                    continue
                try:
                    content = unseal(line)
                    if content is None:
                        raise _NotARecord("it unpacks to too much, or to nothing")
                    record = _parse(content, f"{self._file}:{self._lines}")
                except _NotARecord as error:
                    self.skipped[self._lines] = str(error)
                    continue
                yield Span(start, self.offset, read_checksum(line)), record


def read_contents(file: Path, spans: Iterable[Span]) -> Iterator[bytes]:
    """The JSON of these lines; DataError if a line is no longer what it was."""
    with explain_errors("read", file), open_regular(file) as lines:
        for span in spans:
            lines.seek(span.at)
            line = lines.readline()
            content = unseal(line)
            if content is None or read_checksum(line) != span.checksum:
                raise DataError(f"{file}: no complete record at byte {span.at}")
            yield content


def read_record(file: Path, span: Span) -> EpisodeRecord:
    """The record of a line."""
    (content,) = read_contents(file, [span])
    return _parse(content, f"{file}, byte {span.at}")


class EpisodeAppender:
    """Writes whole lines, synced before it returns."""

    def __init__(self, file: Path, packed: bool = False) -> None:
        self._path = file
        self._packed = packed
        is_new = not file.exists()
        with explain_errors("write", file):
            cut_torn_line(file)
            self._file = open_regular(file, "ab", buffering=0)
        if is_new:
            sync_folder(file.parent)

    def append(self, *records: EpisodeRecord) -> list[tuple[EpisodeRecord, Span]]:
        """Write records and wait until they are on disk; else DataError, and no half line.

        Returns the records as they were written, and where their lines are.
        """
        number = self._file.fileno()
        whole = os.fstat(number).st_size
        written = [_serialize(record) for record in records]
        lines = [seal(content, self._packed) for _, content in written]
        unwritten = memoryview(b"".join(lines))
        try:
            while unwritten:
                unwritten = unwritten[os.write(number, unwritten) :]
            os.fsync(number)
        except OSError as error:
            # No other line may follow a half one.
            with contextlib.suppress(OSError):
                os.ftruncate(number, whole)
            raise DataError(f"cannot write {self._path}: {error.strerror}") from error
        ends = itertools.accumulate(map(len, lines), initial=whole)
        places = zip(written, itertools.pairwise(ends), lines, strict=True)
        return [(one[0], Span(at, end, read_checksum(line))) for one, (at, end), line in places]

    def close(self) -> None:
        """Close the file; nothing is waiting to be written."""
        self._file.close()


def _serialize(record: EpisodeRecord) -> tuple[EpisodeRecord, bytes]:
    """A record that can be read again, and its JSON: a model, an agent or a benchmark can say more
    than anybody could read."""
    content = record.model_dump_json().encode()
    for longest in _CUTS:
        if len(content) <= _LONGEST:
            break
        record = EpisodeRecord.model_validate(shorten(record.model_dump(mode="json"), longest))
        content = record.model_dump_json().encode()
    return record, content


def cut_torn_line(file: Path) -> int:
    """Cut off what follows the last newline; returns the number of bytes cut."""
    if not os.path.lexists(file):
        return 0
    with open_regular(file, "r+b") as handle:
        size = whole = handle.seek(0, os.SEEK_END)
        if size:
            with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as content:
                whole = content.rfind(b"\n") + 1
        if whole < size:
            handle.truncate(whole)
            os.fsync(handle.fileno())
    return size - whole


class _NotARecord(DataError):
    """A complete line of this version that cannot be understood."""


def _parse(content: bytes, where: str) -> EpisodeRecord:
    try:
        return EpisodeRecord.model_validate_json(content)
    except ValidationError as error:
        is_ours = read_version(content) in (None, SCHEMA_VERSION)
        reason = explain_invalid(content, error, where, SCHEMA_VERSION)
        raise (_NotARecord if is_ours else DataError)(reason) from None
