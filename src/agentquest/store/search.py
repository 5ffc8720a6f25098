"""Words in the episodes of a run: each record is read once, however often somebody searches.

The texts wait in a temporary file, in lower case: those of a large run do not fit into memory,
and a file of a few hundred megabytes is looked through in a fraction of a second.
"""

import tempfile
import threading
from array import array
from bisect import bisect_right
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic_core import from_json

from agentquest.store.lines import Span, read_contents

READ_AT_ONCE = 48 * 1024 * 1024  # bytes of records that one search may read
_BLOCK = 4 * 1024 * 1024
_BETWEEN = b"\0"  # parts of an episode, and episodes; in no text
_TEXTS = ("action", "observation", "reply", "reasoning")


class Hits(NamedTuple):
    """The lines that have a text, each with its first step that does, 0 being the start; and all
    lines that were searched."""

    steps: Mapping[Span, int]
    searched: Container[Span]


class TextIndex:
    """The texts of the episodes in a file; searches of it take turns, in any thread."""

    def __init__(self, episodes: Path) -> None:
        self._episodes = episodes
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the index
        self._spans: dict[Span, None] = {}
        self._ends = array("Q", [0])  # of the texts of each line, after the start of the first
        self._turn = threading.Lock()

    def find(self, text: str, spans: Sequence[Span], most_bytes: int = READ_AT_ONCE) -> Hits:
        """Search these lines, or as many of them as are known after reading `most_bytes` more."""
        with self._turn:
            self._read(spans, most_bytes)
            return Hits(self._search(_in_bytes(text)), self._spans)

    def _read(self, spans: Sequence[Span], most_bytes: int) -> None:
        unknown = [span for span in spans if span not in self._spans]
        self._file.seek(self._ends[-1])
        for span, content in zip(unknown, read_contents(self._episodes, unknown), strict=True):
            texts = _texts_of(content)
            self._file.write(texts)
            self._ends.append(self._ends[-1] + len(texts))
            self._spans[span] = None
            most_bytes -= span.size
            if most_bytes < 0:
                break

    def _search(self, wanted: bytes) -> dict[Span, int]:
        found: dict[Span, int] = {}
        spans, ends = list(self._spans), self._ends
        number = 0
        self._file.seek(0)
        while number < len(spans):
            first, start = number, ends[number]
            number = min(bisect_right(ends, start + _BLOCK), len(spans))
            block = self._file.read(ends[number] - start)
            at = block.find(wanted)
            while at >= 0:
                hit = bisect_right(ends, start + at, first) - 1
                found[spans[hit]] = block.count(_BETWEEN, ends[hit] - start, at)
                at = block.find(wanted, ends[hit + 1] - start)
        return found


def _texts_of(content: bytes) -> bytes:
    """The texts of a record, part by part; what an index took for a record may be none."""
    try:
        record = from_json(content)
        parts = [record["first_observation"]]
        parts += ["\n".join(step.get(name) or "" for name in _TEXTS) for step in record["steps"]]
        return b"".join(_in_bytes(part) + _BETWEEN for part in parts)
    except (ValueError, LookupError, TypeError, AttributeError):
        return b""


def _in_bytes(text: str) -> bytes:
    return text.replace("\0", " ").lower().encode("utf-8", "surrogatepass")
