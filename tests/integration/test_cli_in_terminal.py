"""Commands on a terminal, where they draw what they say elsewhere in lines."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = 50


def in_terminal(columns: int, *words: str) -> tuple[int, str]:
    """The exit code of a command and all that it wrote on a terminal of this width."""
    pty = pytest.importorskip("pty")
    fcntl = pytest.importorskip("fcntl")
    termios = pytest.importorskip("termios")
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(
        [sys.executable, "-m", "agentquest", *words],
        stdin=slave, stdout=slave, stderr=slave, env={**environment, "TERM": "xterm"},
    )  # fmt: skip
    os.close(slave)
    written = b""
    try:
        while arrived := os.read(master, 65536):
            written += arrived
    except OSError:  # how Linux says that the other end is closed
        pass
    finally:
        os.close(master)
    return process.wait(timeout=60), written.decode()


def test_an_evaluation_draws_itself_while_it_goes_on(tmp_path: Path) -> None:
    words = ("eval", "benchmark=mastermind", "num_games=3", f"output_dir={tmp_path}")
    code, written = in_terminal(80, *words)
    assert code == 0, written
    assert "━" in written  # the bar
    assert "3/3" in written


def test_the_demo_cuts_no_word_of_its_table_on_a_narrow_terminal(tmp_path: Path) -> None:
    words = ("demo", "alfworld", "--games", "6", "--output-dir", str(tmp_path))
    code, written = in_terminal(50, *words)
    assert code == 0, written
    table = written.partition("player")[2].partition("knows the")[0]
    assert "scripted" in table
    assert "…" not in table
    replayed = written.partition("A win of")[2].partition("A failure")[0]
    lines = [line for line in replayed.splitlines()[1:] if line.strip()]
    assert all("to go" in line for line in lines), replayed
