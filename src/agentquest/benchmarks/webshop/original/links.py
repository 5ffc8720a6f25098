"""Addresses in the original's pages, and the literals inside them.

The original has two applications with the same pages. In the web site each page
has its own path; in the environment for agents all are at `/`, distinguished by
queries that nobody follows. The escaping is that of its Flask 2.1 and Werkzeug
2.2. Addresses contain lists and dictionaries as Python writes them, which the original
evaluates; here they are parsed, and can hold nothing but texts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote, quote_plus

STYLE = "/static/style.css"
_PATH_SAFE = "!$'()*+,/:;"
_QUERY_SAFE = "!$'()*,;"
_TEXT = r"""(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4}|.)"
)
_SINGLE = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"', "0": "\0"}

Keywords = Sequence[str] | str
"""The site passes the text of an address on as it came; otherwise a list of words."""
ChosenOptions = Mapping[str, str]
AddressWriter = Callable[..., str]
"""The address of a page, by the original's name for its kind and all that it depends on."""


def site_address(kind: str, **parts: object) -> str:
    """A path, as in the original's web site; the search page is named by its session alone."""
    steps = [*filter(None, [kind]), *map(_as_python, parts.values())]
    return "".join(f"/{quote(step, _PATH_SAFE, errors='replace')}" for step in steps)


def environment_address(kind: str, **parts: object) -> str:
    """A query, as in the original's environment for agents."""
    pairs = [
        f"{name}={quote_plus(_as_python(each), _QUERY_SAFE, errors='replace')}"
        for name, value in parts.items()
        for each in (value if isinstance(value, list | tuple) else [value])
    ]
    return f"/?{'&'.join(pairs)}"


def _as_python(value: object) -> str:
    """A value as Python writes it: that is how the original's addresses hold lists and dicts."""
    if isinstance(value, list | tuple):
        return str(list(value))
    return str(dict(value)) if isinstance(value, Mapping) else str(value)


def _literal(brackets: str, item: str) -> re.Pattern[str]:
    items = rf"(?:{item}\s*(?:,\s*{item}\s*)*(?:,\s*)?)?"
    return re.compile(rf"\s*\{brackets[0]}\s*{items}\{brackets[1]}\s*")


_LIST = _literal("[]", _TEXT)
_DICT = _literal("{}", rf"{_TEXT}\s*:\s*{_TEXT}")


def read_list(text: str) -> list[str]:
    """The texts of `['a', "b"]`; ValueError for anything else."""
    return _read_texts(text, _LIST, "a list")


def read_dict(text: str) -> dict[str, str]:
    """The texts of `{'a': "b"}`; ValueError for anything else."""
    texts = _read_texts(text, _DICT, "a dictionary")
    return dict(zip(texts[::2], texts[1::2], strict=True))


def _read_texts(text: str, literal: re.Pattern[str], kind: str) -> list[str]:
    if literal.fullmatch(text) is None:
        raise ValueError(f"{kind} of texts in quotes was expected")
    return [_ESCAPE.sub(_unescape, found[1:-1]) for found in re.findall(_TEXT, text)]


def _unescape(escape: re.Match[str]) -> str:
    code = escape.group(1)
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _SINGLE.get(code, f"\\{code}")
