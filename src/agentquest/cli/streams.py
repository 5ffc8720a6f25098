"""Standard streams that every command can use, whatever it was started with.

A sign that the terminal's encoding lacks becomes the nearest it has; a stream that was closed,
as some schedulers do, reads and writes nothing.
"""

import codecs
import io
import os
import sys

_NEAREST = str.maketrans(
    {
        "█": "#",
        "░": ".",
        "━": "-",
        "─": "-",
        "–": "-",
        "·": "|",
        "×": "x",
        "✓": "+",
        "…": "...",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
    }
)
_HANDLER = "agentquest.nearest"


def prepare_streams() -> None:
    """From now on nothing fails because of what a stream is."""
    codecs.register_error(_HANDLER, _nearest)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = error.object[error.start : error.end].translate(_NEAREST)
    return "".join(sign if sign.isascii() else "?" for sign in plain), error.end
