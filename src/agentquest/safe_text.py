"""Text of others made harmless for each place it is shown in, and the one way to print it.

Goals, commands, replies and model names are whatever a data file or a model
says. Nothing of them is ever dropped or cut: what a reader could not see, or
what would act on a terminal, a table or a page, is shown as visible text.
"""

import logging
import re
import sys
import threading
import warnings
from contextlib import suppress
from types import TracebackType
from typing import Any

# Control characters, and those that reorder or hide the text around them or that nobody
# sees: direction marks, soft hyphens, fillers, tags, variation selectors beyond the basic ones.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]"
)
# Most text has nothing else, and bytes are looked through faster than characters.
_ORDINARY = bytes(range(32, 127)) + b"\t\n"
_MARKDOWN = re.compile(r"([\\`*_\[\]<>&|#~$!])")
_format_raw_warning = warnings.formatwarning
# What a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def visible(text: str) -> str:
    """The text over several lines, with what cannot be seen as escapes."""
    if text.isascii() and text.isprintable():
        return text
    others = text.encode("utf-8", "surrogatepass").translate(None, _ORDINARY)
    if not _UNSEEN.search(others.decode("utf-8", "surrogatepass")):
        return text
    return _UNSEEN.sub(_escape, text.replace("\r\n", "\n"))


def say(text: str = "", *, err: bool = False, fg: str | None = None, nl: bool = True) -> None:
    """Print for people. Whatever a run, a model or a server put into the text only shows."""
    shown = visible(text) + ("\n" if nl else "")
    stream = sys.stderr if err else sys.stdout
    if fg is not None:
        import typer  # here, because scripts that only print never need it

        typer.secho(shown, stream, nl=False, fg=fg)
        return
    stream.write(shown)
    stream.flush()


class VisibleLines(logging.Formatter):
    """Lines of a log that do nothing to a terminal on which it is read."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, with what cannot be seen as escapes."""
        return visible(super().format(record))


def clean_messages() -> None:
    """Make what Python itself prints harmless too: warnings, log lines without a handler, the
    traceback of a process or a thread, and errors that it ignores. For our own programs; a
    script keeps its hooks."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(VisibleLines())
    warnings.formatwarning = _format_warning
    sys.excepthook = _say_crash
    threading.excepthook = _say_crash_of_thread
    sys.unraisablehook = _say_unraisable


def _format_warning(*about: Any, **further: Any) -> str:
    return visible(_format_raw_warning(*about, **further))


def _say_crash(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    import traceback  # here, because hardly anything crashes

    say("".join(traceback.format_exception(kind, error, trace)), err=True, nl=False)


def _say_crash_of_thread(crash: threading.ExceptHookArgs) -> None:
    if crash.exc_type is not SystemExit:
        _say_crash(crash.exc_type, crash.exc_value, crash.exc_traceback)


def _say_unraisable(ignored: "sys.UnraisableHookArgs") -> None:
    what = "an object"
    with suppress(Exception):  # it may be half gone
        what = repr(ignored.object)
    say(f"{ignored.err_msg or 'Exception ignored in'}: {what}", err=True)
    _say_crash(ignored.exc_type, ignored.exc_value, ignored.exc_traceback)


def one_line(text: object) -> str:
    """The text on one line, for a terminal or a cell of a table."""
    return visible(str(text)).replace("\n", "\\n").replace("\t", "\\t")


def markdown_text(text: object) -> str:
    """The text on one line, meaning nothing to Markdown."""
    return _MARKDOWN.sub(r"\\\1", one_line(text))


def csv_text(text: object) -> str:
    """The text on one line, for a cell that no spreadsheet computes."""
    line = one_line(text)
    return f"'{line}" if line.startswith(_FORMULA) else line


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
