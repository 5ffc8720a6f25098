"""Finding a command in free text, blanks filled or not, by plain scanning.

Commands come from games and texts from models: the work grows with the length
of the text, whatever either of them holds. Upper and lower case, and how many
spaces there are, do not matter.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from agentquest.lib.commands import BLANK

LONGEST_FILLING = 1000
_NOT_IN_FILLING = re.compile(r"[\[\]\n]|<(?=[A-Za-z/])|(?<=[A-Za-z])>")
_DIGITS = re.compile(r"[0-9]*")
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


class Matcher:
    """One command, ready to be looked for."""

    def __init__(self, command: str) -> None:
        # Split at a group, every second part is the name of a blank.
        parts = BLANK.split(" ".join(command.split()))
        self._words = [lower_case(part) for part in parts[::2]]
        self._blanks = parts[1::2]

    @property
    def has_blank(self) -> bool:
        """Whether the command has a part that the text fills in."""
        return bool(self._blanks)

    def fits(self, text: str) -> bool:
        """Whether the whole text is the command."""
        return self._end(text, lower_case(text), 0) == len(text)

    def occurrences(self, text: str, small: str) -> Iterator[tuple[int, int]]:
        """The places of the command in a text, from the left, none within another.

        `small` is the text as `lower_case` makes it. A command that begins with a blank could
        begin anywhere; it is looked for at the beginning only.
        """
        first = self._words[0]
        start = small.find(first)
        while 0 <= start < len(text):
            end = self._end(text, small, start)
            if end is not None:
                yield start, end
            start = small.find(first, max(end or 0, start + 1)) if first else -1

    def _end(self, text: str, small: str, start: int) -> int | None:
        """The end of the command that begins at `start`; None where none does."""
        if not small.startswith(self._words[0], start):
            return None
        place = start + len(self._words[0])
        for number, (blank, word) in enumerate(
            zip(self._blanks, self._words[1:], strict=True), start=1
        ):
            last = number == len(self._blanks) and not word
            end = _filling_end(blank, word, last, text, small, place)
            if end is None:
                return None
            place = end + len(word)
        return place


@lru_cache(maxsize=4096)
def matcher(command: str) -> Matcher:
    """A matcher for the command; the last few thousand are kept, as games repeat their commands."""
    return Matcher(command)


def lower_case(text: str) -> str:
    """Lower-cased, without changing its length."""
    small = text.lower()
    return small if len(small) == len(text) else text.translate(_ASCII_LOWER)


def _filling_end(
    blank: str, word: str, last: bool, text: str, small: str, start: int
) -> int | None:
    """Where the filling of a blank ends, which begins at `start` and is followed by `word`.

    Free text is of one line and without brackets, as short as can be, and at the end
    of a command (`last`) as long as can be.
    """
    least, most = _lengths(blank)
    if most is None:
        reach = _reach(text, start)
        end = reach if last else small.find(word, start + least, reach + len(word))
        return end if end >= start + least else None
    digits = _DIGITS.match(text, start, min(len(text), start + most))
    there = digits.end() - start if digits else 0
    lengths = range(there, least - 1, -1)
    return next((start + n for n in lengths if small.startswith(word, start + n)), None)


def _lengths(blank: str) -> tuple[int, int | None]:
    """The least and most digits of a filling; free text has one character or more."""
    number, _, rest = blank.partition(" ")
    if rest == "digits":
        return int(number), int(number)
    low, dash, high = blank.partition("-")
    return (1, len(high)) if dash and low.isdigit() else (1, None)


def _reach(text: str, start: int) -> int:
    """How far free text can go."""
    end = min(len(text), start + LONGEST_FILLING)
    found = _NOT_IN_FILLING.search(text, start, end)
    return found.start() if found else end
