"""Commands work with what they were started with: closed streams, full disks, plain signs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentquest import load_run

PATIENCE_S = 120
MAIN = Path(__file__).resolve().parents[2] / "main.py"


def shell(folder: Path, line: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """The line as bash runs it, `agentquest` being this one."""
    function = f'agentquest() {{ "{sys.executable}" -m agentquest "$@"; }}'
    return subprocess.run(
        ["bash", "-c", f"{function}\n{line}"],
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_a_run_with_all_streams_closed_is_played(tmp_path: Path) -> None:
    line = "agentquest eval benchmark=mastermind num_games=1 run_name=one >&- 2>&- <&-"
    assert shell(tmp_path, line).returncode == 0
    assert load_run(tmp_path / "runs" / "one").complete


def test_whoever_cannot_type_leaves_the_game(tmp_path: Path) -> None:
    done = shell(tmp_path, "agentquest play mastermind --no-record <&-")
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""


def test_an_error_that_cannot_be_told_has_its_exit_code(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    done = shell(tmp_path, "agentquest report none 2> /dev/full")
    assert done.returncode == 2


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    done = shell(tmp_path, "agentquest tasks mastermind | head -1")
    assert done.stdout.count(b"\n") == 1
    assert b"Traceback" not in done.stderr


def test_a_folder_that_was_removed_is_named_as_the_cause(tmp_path: Path) -> None:
    done = shell(tmp_path, "mkdir gone; cd gone; rmdir ../gone; agentquest eval num_games=1")
    assert done.returncode == 2
    assert done.stderr.startswith(b"agentquest: cannot use the folder you are in")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_blocks_can_tell_a_full_bar_from_an_empty_one(
    tmp_path: Path, encoding: str
) -> None:
    line = "agentquest demo mastermind --games 2 --max-steps 2"
    done = shell(tmp_path, line, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert re.search(rb"########## 100% \d+-100", done.stdout)
    assert re.search(rb"\.{10} +0% 0-\d+", done.stdout)
    assert b"?" not in done.stdout


def test_where_nothing_is_installed_one_line_says_how(tmp_path: Path) -> None:
    without_packages = [sys.executable, "-I", "-S", str(MAIN), "launch"]
    done = subprocess.run(without_packages, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "`make install`" in done.stderr


PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'


@pytest.mark.parametrize(
    ("source", "answers"), [("< ping.json", 1), ("< /dev/null", 0), ("<&-", 0), ("| cat", 1)]
)
def test_messages_are_answered_from_a_file_as_from_a_pipe(
    tmp_path: Path, source: str, answers: int
) -> None:
    (tmp_path / "ping.json").write_bytes(PING)
    line = "agentquest mcp mastermind num_games=1"
    piped = f"cat ping.json | {line}" if source == "| cat" else f"{line} {source}"
    done = shell(tmp_path, piped)
    assert done.stdout.count(b'"id":') == answers, done.stderr
    assert b"Traceback" not in done.stderr
