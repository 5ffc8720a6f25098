"""Stopping a run cleanly when the terminal or the system asks for it."""

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
    """Remembers which signal arrived. The first stops cleanly, the second at once."""

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
                typer.echo("stopping; press again to stop at once", err=True)

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
        """As shells report it: 130 after Ctrl-C."""
        return None if self.received is None else 128 + self.received

    @property
    def has_hung_up(self) -> bool:
        """Whether the terminal is gone."""
        return self.received is not None and self.received.name == "SIGHUP"


def _wanted() -> list[signal.Signals]:
    """SIGHUP only where it exists and is not ignored, as under `nohup`."""
    hang_up = getattr(signal, "SIGHUP", None)
    is_wanted = hang_up is not None and signal.getsignal(hang_up) is not signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([hang_up] if hang_up and is_wanted else [])]


def _leave(number: int, frame: FrameType | None) -> None:
    """Exit without waiting for any cleanup. Finished episodes are on disk; the rest is resumed."""
    if sys.stderr.isatty():
        sys.stderr.write(_SHOW_CURSOR)
    os._exit(128 + number)
