"""What a command is started in: its streams, the terminal's width, and signals that stop it."""

import codecs
import io
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer

from agentquest.platform import handle_signals, stop_signals
from agentquest.safe_text import say

if TYPE_CHECKING:
    import asyncio

_NEAREST = str.maketrans("█░━─–·×✓‘’“”", "#.---|x+''\"\"") | {ord("…"): "..."}
_HANDLER = "agentquest.nearest"
_SLOW_STARTS = (
    *("eval", "rerun", "sweep", "launch", "green", "white"),
    *("demo", "play", "serve", "view", "check-benchmark"),
)
_ONLY_PRINT = frozenset({"-h", "--help", "--dry-run"})
_LEAVING_S = 15.0  # what is done at the end of a process takes a few
_SHOW_CURSOR = "\x1b[?25h\n"


def prepare_streams() -> None:
    """Make every standard stream usable, so that no command fails because of one.

    A character that the terminal's encoding lacks becomes the nearest it has; a stream that was
    closed, as some schedulers do, reads and writes nothing.
    """
    codecs.register_error(_HANDLER, _encode_nearest)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


def _encode_nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = error.object[error.start : error.end].translate(_NEAREST)
    return "".join(sign if sign.isascii() else "?" for sign in plain), error.end


def announce_start(words: Sequence[str]) -> None:
    """Show at once that a command has begun whose imports take a while; its own words replace it.

    Only on a terminal: elsewhere nobody waits for it; and not where all words may go elsewhere.
    """
    command = next((word for word in words if not word.startswith("-")), "")
    if command in _SLOW_STARTS and sys.stderr.isatty() and _ONLY_PRINT.isdisjoint(words):
        sys.stderr.write(f"{command}: starting …\r")
        sys.stderr.flush()


def warn(*texts: object, heading: str = "") -> None:
    """Show what people should notice, each text on its own line."""
    for text in texts:
        say(f"{heading}{text}", fg="yellow", err=True)


def say_json(content: Any) -> None:
    """Print data for programs, in ASCII, so that a terminal shows it as well."""
    typer.echo(json.dumps(content, indent=2, allow_nan=False))


def terminal_width() -> int:
    """The width of the terminal, within what can be read; 80 where there is none."""
    return max(50, min(shutil.get_terminal_size((80, 24)).columns, 120))


class StopSignals:
    """Remembers which signal arrived. The first stops cleanly, the second at once."""

    def __init__(self) -> None:
        self.received: signal.Signals | None = None

    @contextmanager
    def listening(self) -> Iterator["asyncio.Event"]:
        """An event that is set by Ctrl-C, SIGTERM and SIGHUP."""
        import asyncio  # here, because `--version` and `--help` need none

        stop = asyncio.Event()

        def received(number: signal.Signals) -> None:
            self.received = number
            stop.set()
            if not self.has_hung_up:
                say("stopping; press again to stop at once", err=True)

        with handle_signals(stop_signals(), received, _leave):
            yield stop

    @property
    def exit_code(self) -> int | None:
        """As shells report it: 130 after Ctrl-C."""
        return None if self.received is None else 128 + self.received

    @property
    def has_hung_up(self) -> bool:
        """Whether the terminal is gone."""
        return self.received is not None and self.received.name == "SIGHUP"


def _leave(number: int, frame: FrameType | None) -> None:
    """Exit without waiting for any cleanup. Finished episodes are on disk; the rest is resumed."""
    if sys.stderr.isatty():
        sys.stderr.write(_SHOW_CURSOR)
    os._exit(128 + number)


def end_in_time(code: int) -> None:
    """See to it that this process ends. Python waits for all threads, and an agent may have left
    one behind that never does."""

    def leave() -> None:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(code)

    here = threading.main_thread()
    if any(each is not here and not each.daemon for each in threading.enumerate()):
        timer = threading.Timer(_LEAVING_S, leave)
        timer.daemon = True
        timer.start()
