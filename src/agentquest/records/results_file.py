"""`results.json` of runs of any size: put together from pieces, never in memory as a whole.

An episode's entry is written to `results.parts` when the episode is finished.
Whoever writes results.json copies the pieces between its head and its foot. They
can be deleted at any time: those that are missing are made again from the records.
"""

import json
import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from agentquest.files import explain_write_errors, open_replacement, to_json

RESULTS = "results.json"
PARTS = "results.parts"
_BUFFER = 1 << 20


class Part(NamedTuple):
    """A piece: where it begins in the file, its length, and its checksum: it is not synced."""

    start: int
    length: int
    crc32: int


class ResultParts:
    """The pieces of one run, for one process at a time."""

    def __init__(self, folder: Path, anew: bool = False) -> None:
        self._folder = folder
        self._file: IO[bytes] = (folder / PARTS).open("w+b" if anew else "a+b", buffering=_BUFFER)
        self._size = self._file.seek(0, os.SEEK_END)

    def add(self, entry: Mapping[str, Any]) -> Part:
        """Append an entry, and say where it is; it may wait in memory until `flush`."""
        content = written(entry)
        with explain_write_errors(self._folder / PARTS):
            self._file.seek(self._size)
            self._file.write(content)
        part = Part(self._size, len(content), zlib.crc32(content))
        self._size += part.length
        return part

    def read(self, part: Part) -> bytes | None:
        """The piece, if it is there and whole."""
        with explain_write_errors(self._folder / PARTS):
            self._file.seek(part.start)
            content = self._file.read(part.length)
        return content if zlib.crc32(content) == part.crc32 else None

    def flush(self) -> None:
        """Hand what was added over to the system."""
        with explain_write_errors(self._folder / PARTS):
            self._file.flush()

    def close(self) -> None:
        """Write what waits and close the file."""
        with explain_write_errors(self._folder / PARTS):
            self._file.close()


def written(entry: Mapping[str, Any]) -> bytes:
    """An entry as it is in results.json."""
    return json.dumps(entry, ensure_ascii=False, allow_nan=False).encode()


def write_results_file(
    folder: Path, document: Mapping[str, Any], lists: Mapping[str, Iterable[bytes]]
) -> None:
    """`results.json`: the document, with the pieces that `lists` names in place of its own."""
    with explain_write_errors(folder / RESULTS), open_replacement(folder / RESULTS) as draft:
        separator = "{\n"
        for name, value in document.items():
            draft.write(f"{separator}{json.dumps(name)}: ")
            if name in lists:
                _write_list(draft, lists[name])
            else:
                draft.write(to_json(value).rstrip())
            separator = ",\n"
        draft.write("\n}\n")


def _write_list(draft: IO[str], pieces: Iterable[bytes]) -> None:
    separator = "["
    for piece in pieces:
        draft.write(f"{separator}\n{piece.decode()}")
        separator = ","
    draft.write("[]" if separator == "[" else "\n]")
