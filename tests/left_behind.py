"""Whatever tests start ends with them, also where pytest is killed and cleans nothing up.

`end_with_us` puts a mark into the environment, which everything that is started from here
inherits, and starts a process that waits for the end of a pipe. Only we hold its other end. Then
it ends every process that has the mark.
"""

import os
import signal
import sys
import time
import uuid

_FAMILY = "PYTEST_FAMILY"
_SCANS = 200


def end_with_us() -> None:
    """Have everything that is started from now on end with this process; on Linux."""
    if not sys.platform.startswith("linux"):
        return
    mark = uuid.uuid4().hex
    os.environ[_FAMILY] = f"{os.environ.get(_FAMILY, '')} {mark}".strip()
    theirs, _ours = os.pipe()  # open until this process ends
    os.set_inheritable(theirs, True)
    words = [sys.executable, "-I", "-S", __file__, str(theirs), mark]
    os.posix_spawn(sys.executable, words, {}, setsid=True)
    os.close(theirs)


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


def _find(mark: bytes) -> set[int]:
    """Who has the mark, and what these have started: a new title may be written over the mark,
    as Ray's agents do."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    found = new = {pid for pid in pids if mark in _read(pid, "environ")}
    parents = {pid: _read(pid, "stat").rpartition(b")")[2].split()[1:2] for pid in pids}
    while new:
        above = {b"%d" % pid for pid in new}
        new = {pid for pid, parent in parents.items() if above.intersection(parent)} - found
        found = found | new
    return found


def _end_family(mark: bytes) -> None:
    """Until nobody is left: what is ended may just have started something."""
    for _ in range(_SCANS):
        family = _find(mark)
        if not family:
            return
        for pid in family:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.05)


if __name__ == "__main__":
    while os.read(int(sys.argv[1]), 1):
        pass
    _end_family(sys.argv[2].encode())
