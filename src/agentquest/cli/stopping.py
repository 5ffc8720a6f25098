"""Stopping a run in an orderly way when the terminal or the system asks for it."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

_SHOW_CURSOR = "\x1b[?25h\n"


class StopSignals:
    """Remembers which signal came. The first stops in an orderly way, the second at once."""

    def __init__(self) -> None:
        self.received: signal.Signals | None = None

    @contextmanager
    def listening(self) -> Iterator[asyncio.Event]:
        """An event that is set by Ctrl-C, SIGTERM and SIGHUP."""
        loop, stop, signals = asyncio.get_running_loop(), asyncio.Event(), _wanted()

        def received(number: signal.Signals) -> None:
            self.received = number
            stop.set()
            for each in signals:
                loop.remove_signal_handler(each)
                signal.signal(each, _leave)
            if not self.has_hung_up:
                typer.echo("stopping; once more stops at once", err=True)

        for number in signals:
            loop.add_signal_handler(number, received, number)
        try:
            yield stop
        finally:
            for number in signals:
                if not loop.remove_signal_handler(number):
                    default = signal.default_int_handler if number == signal.SIGINT else None
                    signal.signal(number, default or signal.SIG_DFL)

    @property
    def exit_code(self) -> int | None:
        """As shells give it: 130 after Ctrl-C."""
        return None if self.received is None else 128 + self.received

    @property
    def has_hung_up(self) -> bool:
        """Whether there is nobody left to tell."""
        return self.received is not None and self.received.name == "SIGHUP"


def _wanted() -> list[signal.Signals]:
    """SIGHUP is left alone where it is ignored, as `nohup` has it, and where there is none."""
    hang_up = getattr(signal, "SIGHUP", None)
    is_wanted = hang_up is not None and signal.getsignal(hang_up) is not signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([hang_up] if hang_up and is_wanted else [])]


def _leave(number: int, frame: FrameType | None) -> None:
    """Without waiting for anybody's code. What is finished is on disk, and the rest is owed."""
    if sys.stderr.isatty():
        sys.stderr.write(_SHOW_CURSOR)
    os._exit(128 + number)
