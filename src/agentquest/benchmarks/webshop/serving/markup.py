"""HTML that cannot be written unescaped: text is escaped, only elements are not."""

from html import escape

_EMPTY = frozenset({"br", "img", "input", "link", "meta"})


class Markup(str):
    """HTML made by `element`; safe as it stands."""

    __slots__ = ()


def element(name: str, /, *content: str, **attributes: str | bool | None) -> Markup:
    """One element. Content that is not Markup is text and is escaped, as are attributes.

    An attribute that is True stands alone, one that is False or None is left out;
    `class_` is class, and `aria_label` is aria-label.
    """
    opening = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY:
        return Markup(f"<{name}{opening}>")
    return Markup(f"<{name}{opening}>{joined(*content)}</{name}>")


def joined(*content: str) -> Markup:
    """Several pieces one after the other."""
    return Markup("".join(c if isinstance(c, Markup) else escape(c) for c in content))


def document(*content: str) -> bytes:
    """A whole page as it is sent; half a surrogate pair, which no page can hold, is shown as ?."""
    return f"<!DOCTYPE html>\n{joined(*content)}\n".encode("utf-8", "replace")


def _attribute(key: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(value)}"'
