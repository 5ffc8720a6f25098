"""Addresses in the original's pages, and the literals inside them.

The original has two applications with the same pages. In the web site each page
has its own path; in the environment for agents all are at `/`, distinguished by
queries that nobody follows. The escaping is that of its Flask 2.1 and Werkzeug
2.2. Addresses contain lists and dictionaries as Python writes them, which the original
evaluates; here they are parsed, and can hold nothing but texts.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import quote, quote_plus

STYLE = "/static/style.css"
_PATH_SAFE = "!$'()*+,/:;"
_QUERY_SAFE = "!$'()*,;"
_BLANKS = re.compile(r"\s*")
_STRING = re.compile(r"""\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")\s*""")
_ESCAPE = re.compile(
    r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|U0010[0-9a-fA-F]{4}|.)"
)
_SINGLE = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"', "0": "\0"}

Keywords = Sequence[str] | str
"""The site passes the text of an address on as it came; otherwise a list of words."""
Options = Mapping[str, str]


class Links(Protocol):
    """Where a page's links lead."""

    def index(self, session: str) -> str:
        """The search page."""
        ...

    def search_results(self, session: str, keywords: Keywords, page: int | str) -> str:
        """A page of the results of a search."""
        ...

    def item_page(
        self, session: str, asin: str, keywords: Keywords, page: int | str, options: Options
    ) -> str:
        """A product, with the options chosen so far."""
        ...

    def item_sub_page(
        self,
        session: str,
        asin: str,
        keywords: Keywords,
        page: int | str,
        sub_page: str,
        options: Options,
    ) -> str:
        """A product's description, features, reviews or attributes."""
        ...

    def done(self, session: str, asin: str, options: Options) -> str:
        """Buying the product, and what is shown then."""
        ...


class SiteLinks:
    """Paths, as in the original's web site."""

    def index(self, session: str) -> str:
        """The session's name alone."""
        return _path(session)

    def search_results(self, session: str, keywords: Keywords, page: int | str) -> str:
        """`/search_results/…`: the keywords and the page's number are parts of the path."""
        return _path("search_results", session, keywords, page)

    def item_page(
        self, session: str, asin: str, keywords: Keywords, page: int | str, options: Options
    ) -> str:
        """`/item_page/…`: the search it was found by stays in the path."""
        return _path("item_page", session, asin, keywords, page, options)

    def item_sub_page(
        self,
        session: str,
        asin: str,
        keywords: Keywords,
        page: int | str,
        sub_page: str,
        options: Options,
    ) -> str:
        """`/item_sub_page/…`: as `item_page`, with the part's name."""
        return _path("item_sub_page", session, asin, keywords, page, sub_page, options)

    def done(self, session: str, asin: str, options: Options) -> str:
        """`/done/…`: what is bought, no search."""
        return _path("done", session, asin, options)


class EnvironmentLinks:
    """Queries, as in the original's environment for agents."""

    def index(self, session: str) -> str:
        """A query of the session alone."""
        return _query(session_id=session)

    def search_results(self, session: str, keywords: Keywords, page: int | str) -> str:
        """A query of the keywords and the page's number."""
        return _query(session_id=session, keywords=keywords, page=page)

    def item_page(
        self, session: str, asin: str, keywords: Keywords, page: int | str, options: Options
    ) -> str:
        """A query of the product, its options, and the search it was found by."""
        return _query(session_id=session, asin=asin, keywords=keywords, page=page, options=options)

    def item_sub_page(
        self,
        session: str,
        asin: str,
        keywords: Keywords,
        page: int | str,
        sub_page: str,
        options: Options,
    ) -> str:
        """As `item_page`, with the part's name."""
        return _query(
            session_id=session,
            asin=asin,
            keywords=keywords,
            page=page,
            sub_page=sub_page,
            options=options,
        )

    def done(self, session: str, asin: str, options: Options) -> str:
        """A query of what is bought, no search."""
        return _query(session_id=session, asin=asin, options=options)


def _path(*parts: object) -> str:
    return "".join(f"/{quote(_as_python(part), _PATH_SAFE, errors='replace')}" for part in parts)


def _query(**arguments: object) -> str:
    pairs = []
    for name, value in arguments.items():
        values = value if isinstance(value, list | tuple) else [value]
        pairs += [
            f"{name}={quote_plus(_as_python(each), _QUERY_SAFE, errors='replace')}"
            for each in values
        ]
    return f"/?{'&'.join(pairs)}"


def _as_python(value: object) -> str:
    """A value as Python writes it: that is how the original's addresses hold lists and dicts."""
    if isinstance(value, list | tuple):
        return str(list(value))
    return str(dict(value)) if isinstance(value, Mapping) else str(value)


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
    return _ESCAPE.sub(_unescape, inside), found.end()


def _after_comma(text: str, at: int, end: int) -> int:
    if at == end:
        return at
    if text[at] != ",":
        raise ValueError("a comma is missing")
    blanks = _BLANKS.match(text, at + 1)
    return blanks.end() if blanks else at + 1


def _unescape(escape: re.Match[str]) -> str:
    code = escape.group(1)
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return _SINGLE.get(code, f"\\{code}")
