"""`agentquest play` in a terminal of its own: completion, and leaving by the keyboard."""

import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

MAIN = "from agentquest.cli import main; main()"
WITHOUT_TOOLKIT = f"import sys; sys.modules['prompt_toolkit'] = None; {MAIN}"
BUILTIN = ["alfworld", "--data-path", "builtin"]
HOT = (
    "valid_unseen/pick_heat_then_place_in_recep-Apple-None-Fridge-28/trial_T20191019_023545_909634"
)
ROWS, COLUMNS = 40, 100
WHERE_IS_THE_CURSOR = "\x1b[6n"


class Terminal:
    """A process in a terminal of its own."""

    def __init__(self, code: str, *args: str, **settings: str) -> None:
        pty = pytest.importorskip("pty")
        fcntl = pytest.importorskip("fcntl")
        termios = pytest.importorskip("termios")
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "play", "--no-record", *args],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "xterm", **settings},
            start_new_session=True,
        )
        os.close(slave)
        self.output = ""
        self._read = 0

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def wait_for(self, text: str, seconds: float = 30) -> None:
        """Until `text` is printed, after what was waited for before."""
        deadline = time.monotonic() + seconds
        while text not in self.output[self._read :]:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.master], [], [], max(left, 0))
            assert ready, f"{text!r} did not come; there was: {self.output[self._read :]!r}"
            try:
                arrived = os.read(self.master, 65536).decode(errors="replace")
            except OSError as ended:  # how Linux says that the other end is closed
                raise AssertionError(f"ended without {text!r}: {self.output!r}") from ended
            self.output += arrived
            if WHERE_IS_THE_CURSOR in arrived:
                self.type("\x1b[1;1R")
        self._read = self.output.index(text, self._read) + len(text)

    def wait_until_it_waits(self) -> None:
        """Until the process sleeps: a signal just before it reads would be noticed only after."""
        status = Path(f"/proc/{self.process.pid}/stat")
        if not status.exists():
            time.sleep(1)
            return
        for _ in range(500):
            if status.read_text().rpartition(")")[2].split()[0] == "S":
                return
            time.sleep(0.02)
        raise AssertionError("the process never came to wait for input")

    def ends(self) -> int:
        return self.process.wait(timeout=60)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=60)
        os.close(self.master)


@pytest.fixture
def terminal() -> Iterator[type[Terminal]]:
    opened: list[Terminal] = []

    class Kept(Terminal):
        def __init__(self, code: str, *args: str, **settings: str) -> None:
            super().__init__(code, *args, **settings)
            opened.append(self)

    yield Kept
    for one in opened:
        one.close()


def test_tab_completes_in_a_terminal(terminal: type[Terminal]) -> None:
    pytest.importorskip("prompt_toolkit")
    here = terminal(MAIN, *BUILTIN, "--task", HOT)
    here.wait_for("Tab completes")
    here.type("fri\t")
    here.wait_for("go to fridge 1")
    here.type("\r")
    here.wait_for("You arrive at")
    here.wait_for("1 step")
    here.wait_for("Tab completes")
    here.type("op fr\t")
    here.wait_for("open fridge 1")
    here.type("\r")
    here.wait_for("You open the")
    here.wait_for("2 steps")
    here.wait_for("Tab completes")
    here.type("\x04")
    here.wait_for("Left after 2 steps")
    assert here.ends() == 0


def test_tab_goes_through_the_commands_that_fit(terminal: type[Terminal]) -> None:
    pytest.importorskip("prompt_toolkit")
    here = terminal(MAIN, *BUILTIN, "--task", HOT)
    here.wait_for("Tab completes")
    here.type("go to sto")
    for number in "1234":
        here.wait_for(f"go to stoveburner {number}")
    here.type("\t\t\r")
    here.wait_for("go to stoveburner 2")
    here.wait_for("You arrive at")
    here.wait_for("Tab completes")
    here.type("\x04")
    here.wait_for("Left after 1 step")
    assert here.ends() == 0


def test_ctrl_c_leaves_a_terminal_with_completion(terminal: type[Terminal]) -> None:
    pytest.importorskip("prompt_toolkit")
    here = terminal(MAIN, *BUILTIN, "--task", HOT)
    here.wait_for("Tab completes")
    here.type("go to\x03")
    here.wait_for("Left after 0 steps")
    assert here.ends() == 0


@pytest.mark.parametrize("leave", ["\x04", "SIGINT"])
def test_a_terminal_without_the_extra_works_plainly(terminal: type[Terminal], leave: str) -> None:
    here = terminal(WITHOUT_TOOLKIT, *BUILTIN, "--task", HOT)
    here.wait_for("For Tab completion: pip install ")
    here.wait_for("\n> ")
    here.type("go to fridge 1\n")
    here.wait_for("1 step")
    here.wait_for("\n> ")
    if leave == "SIGINT":
        here.wait_until_it_waits()
        here.process.send_signal(signal.SIGINT)
    else:
        here.type(leave)
    here.wait_for("Left after 1 step")
    assert here.ends() == 0


def test_a_dumb_terminal_gets_plain_lines(terminal: type[Terminal]) -> None:
    here = terminal(MAIN, *BUILTIN, "--task", HOT, TERM="dumb")
    here.wait_for("\n> ")
    here.type("quit\n")
    here.wait_for("Left after 0 steps")
    assert "\x1b" not in here.output
    assert here.ends() == 0
