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


def _find(mark: bytes) -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        try:
            with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123
                if mark in file.read():
                    found.append(int(name))
        except OSError:
            continue
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
