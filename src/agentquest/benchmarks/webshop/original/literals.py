"""Lists and dictionaries of texts, as Python writes them, read out of addresses.

The original's addresses hold them and the original evaluates them. Here they
are read, character by character, and can be nothing but texts.
"""

import re

_STRING = re.compile(r"""\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")\s*""")
_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4}|.)"
)
_SINGLE = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"', "0": "\0"}


def read_list(text: str) -> list[str]:
    """The texts of `['a', "b"]`; ValueError for anything else."""
    words: list[str] = []
    at, end = _inside(text, "[]")
    while at < end:
        word, at = _string(text, at)
        words.append(word)
        at = _after_comma(text, at, end)
    return words


def read_dict(text: str) -> dict[str, str]:
    """The texts of `{'a': "b"}`; ValueError for anything else."""
    found: dict[str, str] = {}
    at, end = _inside(text, "{}")
    while at < end:
        key, at = _string(text, at)
        if text[at] != ":":
            raise ValueError("a colon is missing")
        found[key], at = _string(text, at + 1)
        at = _after_comma(text, at, end)
    return found


def _inside(text: str, brackets: str) -> tuple[int, int]:
    """Where the content of the brackets begins and ends."""
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip()) - 1
    if end <= start or text[start] != brackets[0] or text[end] != brackets[1]:
        raise ValueError(f"{brackets} are missing")
    content = text[start + 1 : end]
    return start + 1 + len(content) - len(content.lstrip()), end


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if found is None:
        raise ValueError("a text in quotes is missing")
    inside = found.group(1) if found.group(1) is not None else found.group(2)
    return _ESCAPE.sub(_unescaped, inside), found.end()


def _after_comma(text: str, at: int, end: int) -> int:
    if at == end:
        return at
    if text[at] != ",":
        raise ValueError("a comma is missing")
    rest = text[at + 1 : end]
    return end if not rest.strip() else at + 1


def _unescaped(escape: re.Match[str]) -> str:
    code = escape.group(1)
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _SINGLE.get(code, f"\\{code}")
