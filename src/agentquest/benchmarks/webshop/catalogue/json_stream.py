"""Reading huge JSON files one element at a time.

The full catalogue is one array of 5 GB. `elements` and `members` yield each
element's own text, so that memory stays bounded and other processes can parse it.
A streaming library (ijson) yields values at the same speed, but writing them as text
again takes two and a half times the CPU in the one process that all others wait for.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from agentquest.errors import DataError

CHUNK = 1 << 22
LARGEST_ELEMENT = 1 << 24
_LONGEST_NUMBER = 5000
_BLANKS = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder().raw_decode


def elements(path: Path) -> Iterator[tuple[object, str, int]]:
    """Each element of the array in `path`: its value, its text, and the characters read."""
    with _open_text(path) as file:
        scanner = _Scanner(path, file)
        for _ in scanner.entries("[", "]", "a list"):
            yield *scanner.value(), scanner.position


def members(path: Path) -> Iterator[tuple[str, str]]:
    """Each member of the object in `path`: its key and its value's text."""
    with _open_text(path) as file:
        scanner = _Scanner(path, file)
        for _ in scanner.entries("{", "}", "an object"):
            key, _ = scanner.value()
            if not isinstance(key, str):
                raise scanner.wrong("a key in quotes was expected")
            scanner.expect(":", "a colon")
            yield key, scanner.value()[1]


def _open_text(path: Path) -> IO[str]:
    try:
        return path.open(encoding="utf-8-sig", errors="strict", newline="")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error


class _Scanner:
    """A window on the file that slides forward, value by value."""

    def __init__(self, path: Path, file: IO[str]) -> None:
        self._path = path
        self._file = file
        self._window = ""
        self._at = 0
        self._behind = 0
        self._exhausted = False

    @property
    def position(self) -> int:
        """How many characters of the file have been passed."""
        return self._behind + self._at

    def wrong(self, what: str) -> DataError:
        return DataError(f"{self._path}: {what} at character {self.position}")

    def _more(self) -> bool:
        if self._exhausted:
            return False
        try:
            chunk = self._file.read(CHUNK)
        except UnicodeDecodeError as error:
            raise self.wrong(f"not UTF-8 ({error.reason}) after the text") from error
        except OSError as error:
            raise self.wrong(f"cannot be read further ({error.strerror})") from error
        self._exhausted = not chunk
        if self._exhausted:
            return False
        self._window = self._window[self._at :] + chunk
        self._behind += self._at
        self._at = 0
        return True

    def _next(self) -> str:
        """The next non-blank character, without consuming it; "" at the end."""
        while True:
            blanks = _BLANKS.match(self._window, self._at)
            self._at = blanks.end() if blanks else self._at
            if self._at < len(self._window) or not self._more():
                return self._window[self._at : self._at + 1]

    def expect(self, character: str, what: str) -> None:
        if self._next() != character:
            raise self.wrong(f"{what} was expected")
        self._at += 1

    def entries(self, opening: str, closing: str, what: str) -> Iterator[None]:
        """Stops at each entry of an array or object, which the caller reads before the next."""
        self.expect(opening, what)
        while self._next() != closing:
            yield
            if self._next() == ",":
                self._at += 1
                if self._next() == closing:
                    raise self.wrong("a value was expected after the comma")
            elif self._next() != closing:
                raise self.wrong(f"a comma or {closing!r} was expected")
        self._at += 1
        if self._next():
            raise self.wrong("nothing more was expected")

    def _may_go_on(self, value: object, end: int) -> bool:
        """Whether what was read is perhaps the beginning of a longer number."""
        if not isinstance(value, int | float) or len(self._window) - end > _LONGEST_NUMBER:
            return False
        return end == len(self._window) or self._window[end] in ".eE+-0123456789"

    def value(self) -> tuple[object, str]:
        if not self._next():
            raise self.wrong("the file ends too early")
        while True:
            try:
                value, end = _decode(self._window, self._at)
            except (ValueError, RecursionError) as error:
                if len(self._window) - self._at > LARGEST_ELEMENT:
                    wrong = f"malformed JSON, or more than {LARGEST_ELEMENT:,} characters of it"
                    raise self.wrong(f"{wrong} ({error})") from error
                # Only of JSON that ends too early may there be more; others fail for good.
                if not isinstance(error, json.JSONDecodeError) or not self._more():
                    raise self.wrong(f"malformed JSON ({error})") from error
                continue
            if self._may_go_on(value, end) and self._more():
                continue
            text = self._window[self._at : end]
            self._at = end
            return value, text
