"""Small functions of texts: counts with the right plural, names as file names, numbers, times,
web addresses."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

_MOST_NAMED = 3


def counted(number: int, noun: str) -> str:
    """`1 episode`, `12 episodes`, `1,200 episodes`."""
    return f"{number:,} {plural(number, noun)}"


def plural(number: int, noun: str) -> str:
    """The noun alone: `episode` for 1, else `episodes`; `retry` becomes `retries`."""
    if number == 1:
        return noun
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def enumerate_words(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b, c and 2 others`."""
    shown = list(words[:_MOST_NAMED])
    if len(words) > _MOST_NAMED:
        shown.append(counted(len(words) - _MOST_NAMED, "other"))
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def duration(seconds: float) -> str:
    """As a clock shows it: `0:07`, `2:05`, `1:02:05`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def slug(name: str) -> str:
    """A name as part of a file name or address: letters, digits, dots, dashes, underscores."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)


def is_writable(text: str) -> bool:
    """Whether UTF-8 can hold it: names of files, too, can have bytes that are half a character."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def parse_whole_number(text: str, digits: int = 9) -> int | None:
    """The number that a text is, if it is plain digits and not too many of them; else None."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


def is_web_address(url: str) -> bool:
    """Whether something can be requested there over HTTP or HTTPS."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
