"""In a terminal of its own, long work shows how far it is, and leaves no trace of its bars."""

import os
import struct
from pathlib import Path
from subprocess import DEVNULL

import pytest

from warm_python import Process

pty = pytest.importorskip("pty")
fcntl = pytest.importorskip("fcntl")
termios = pytest.importorskip("termios")


def in_a_terminal(
    folder: Path, *words: str, columns: int = 80, stdout: int | None = None
) -> tuple[int, str]:
    """The exit code, and all that was written to the terminal; `stdout` may be elsewhere."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = Process(
        ["-m", "agentquest", *words],
        cwd=folder,
        stdin=slave,
        stdout=slave if stdout is None else stdout,
        stderr=slave,
        env={**environment, "TERM": "xterm", "PYTHONIOENCODING": "utf-8"},
        start_new_session=True,
    )
    os.close(slave)
    written = b""
    try:
        while arrived := os.read(master, 65536):
            written += arrived
    except OSError:  # how Linux says that the other end is closed
        pass
    finally:
        os.close(master)
    return process.wait(timeout=60), written.decode("utf-8", "replace")


def test_an_evaluation_shows_its_bar_and_its_figures(tmp_path: Path) -> None:
    code, text = in_a_terminal(tmp_path, "eval", "benchmark=mastermind", "num_games=3")
    assert code == 0, text
    assert "━" in text
    assert "3/3" in text
    assert "success 100.0%" in text
    assert "next: agentquest report runs/" in text


@pytest.mark.parametrize("words", ["eval nope=1", "play nope", "serve openenv nope", "view nope"])
def test_what_takes_a_while_to_start_says_at_once_that_it_does(tmp_path: Path, words: str) -> None:
    code, text = in_a_terminal(tmp_path, *words.split())
    assert code == 2
    assert text.startswith(f"{words.split()[0]}: starting …\r")
    assert "agentquest: " in text


@pytest.mark.parametrize("option", ["-h", "--dry-run"])
def test_nothing_is_left_on_a_terminal_where_all_is_printed_elsewhere(
    tmp_path: Path, option: str
) -> None:
    words = ("eval", "agent=oracle", "benchmark=mastermind", option)
    assert in_a_terminal(tmp_path, *words, stdout=DEVNULL) == (0, "")


def test_a_sweep_shows_its_bars(tmp_path: Path) -> None:
    sweep = "name: s\nagents: [random]\nrun: {benchmark: mastermind, num_games: 2, max_steps: 2}\n"
    (tmp_path / "s.yaml").write_text(sweep, encoding="utf-8")
    code, text = in_a_terminal(tmp_path, "sweep", "s.yaml")
    assert code == 0, text
    assert "2/2" in text


def test_the_demo_takes_its_bars_back(tmp_path: Path) -> None:
    code, text = in_a_terminal(tmp_path, "demo", "mastermind", "--games", "2", "--max-steps", "3")
    assert code == 0, text
    bars, _, results = text.partition("player")
    assert "mastermind · oracle" in bars
    assert "\x1b[2K" in bars
    assert "━" not in results


def test_the_demo_cuts_no_word_of_its_table_on_a_narrow_terminal(tmp_path: Path) -> None:
    code, text = in_a_terminal(tmp_path, "demo", "alfworld", "--games", "6", columns=50)
    assert code == 0, text
    table = text.partition("player")[2].partition("knows the")[0]
    assert "scripted" in table
    assert "…" not in table
    replayed = text.partition("A win of")[2].partition("A failure")[0]
    lines = [line for line in replayed.splitlines()[1:] if line.strip()]
    assert all("to go" in line for line in lines), replayed
