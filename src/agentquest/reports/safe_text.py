"""Text of others made harmless for each place it is shown in.

Goals, commands, replies and model names are whatever a data file or a model
says. Nothing of them is ever dropped or cut: what a reader could not see, or
what would act on a terminal, a table or a page, is shown as visible text.
"""

import html
import re

# Control characters, and those that reorder or hide the text around them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029"
    "\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_MARKDOWN = re.compile(r"([\\`*_\[\]<>&|#~$!])")


def visible(text: str) -> str:
    """The text over several lines, with control and direction characters as escapes."""
    return _UNSEEN.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: object) -> str:
    """The text on one line, for a terminal or a cell of a table."""
    return visible(str(text)).replace("\n", "\\n").replace("\t", "\\t")


def markdown_text(text: object) -> str:
    """The text on one line, meaning nothing to Markdown."""
    return _MARKDOWN.sub(r"\\\1", one_line(text))


def html_text(text: object) -> str:
    """The text for an element's content or a quoted attribute."""
    return html.escape(visible(str(text)), quote=True)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
