"""A test run that is killed leaves no process behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
# A warm process, one that cannot be asked to leave, and what that has started, one of it without
# our environment.
STARTS = """
import subprocess, sys, time
from pathlib import Path
from warm_python import Process

STUBBORN = '''
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
elif os.fork() == 0:
    os.write(1, b"%d" % os.getpid() + os.linesep.encode())
    os.execve(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(600)"], {})
os.write(1, b"%d" % os.getpid() + os.linesep.encode())
time.sleep(600)
'''

def test_it():
    warm = Process(["-c", "import time; time.sleep(600)"])
    words = [sys.executable, "-c", STUBBORN]
    other = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)
    pids = [warm.pid, *(int(other.stdout.readline()) for _ in range(3))]
    draft = Path(__file__).with_name("draft")
    draft.write_text(" ".join(map(str, pids)))
    draft.rename(Path(__file__).with_name("pids"))
    time.sleep(600)
"""


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
@pytest.mark.parametrize("workers", ["0", "1"])
def test_pytest_killed_at_once(tmp_path: Path, workers: str) -> None:
    (tmp_path / "test_it.py").write_text(STARTS)
    words = ["-p", "conftest", "-p", "no:cacheprovider", "-n", workers, "-c", os.devnull]
    running = subprocess.Popen(
        [sys.executable, "-m", "pytest", *words, "--rootdir", str(tmp_path), "test_it.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.DEVNULL,
    )
    until = time.monotonic() + 120
    while not (tmp_path / "pids").exists():
        assert running.poll() is None, "it ended"
        assert time.monotonic() < until
        time.sleep(0.05)
    running.kill()
    running.wait()
    left = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(left) == 4
    until = time.monotonic() + 60
    while any(map(is_alive, left)):
        assert time.monotonic() < until, f"still there: {[*filter(is_alive, left)]}"
        time.sleep(0.05)
