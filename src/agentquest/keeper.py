"""Runs a program and ends everything that it has started: `python keeper.py PIPE PROGRAM …`.

A process of its own, which nothing that happens to its starter can stop. Everything ends when
the program does, or when the pipe does: whoever held its other end has closed it or was killed.
On Linux whatever a descendant leaves behind comes to the keeper, also if it has a session of
its own; elsewhere the program's group is ended. Standard library only: it starts in
milliseconds and takes the program's exit code or signal as its own.
"""

import contextlib
import os
import select
import signal
import sys
from types import FrameType

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_HANDLED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_told = False


def _call_prctl(option: int, value: int) -> bool:
    """Ask Linux's kernel for something; False elsewhere."""
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)


def _tell(number: int, frame: FrameType | None) -> None:
    global _told
    _told = number != signal.SIGCHLD or _told


def _start(command: list[str]) -> int:
    """The program's pid; it has a session of its own."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    _call_prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGPIPE, *_HANDLED):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"cannot start {command[0]}: {error.strerror}\n".encode())
    os._exit(127)


def _wait(child: int, pipe: int, wake: int) -> int | None:
    """The status with which the program ended; None if we were told to end it."""
    while not _told:
        ready, _, _ = select.select([pipe, wake], [], [])
        if pipe in ready:
            return None
        os.read(wake, 4096)
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == child:
                return status
            if pid == 0:
                break
    return None


def _find_descendants() -> list[int]:
    """The pids of all processes below this one, by what /proc says of their parents."""
    parents = {}
    with os.scandir("/proc") as entries:
        numbers = [int(entry.name) for entry in entries if entry.name.isdigit()]
    for number in numbers:
        with contextlib.suppress(OSError):
            file = os.open(f"/proc/{number}/stat", os.O_RDONLY)
            content = os.read(file, 4096)
            os.close(file)
            parents[number] = int(content.rpartition(b")")[2].split()[1])
    found, new = [], [os.getpid()]
    while new:
        new = [pid for pid, parent in parents.items() if parent in new]
        found += new
    return found


def _end_all(child: int, adopts: bool) -> int | None:
    """End whatever is left; the program's status if it was among it."""
    ended = None
    while True:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        for pid in _find_descendants() if adopts else ():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return ended
        if pid == child:
            ended = status


def main() -> None:
    """Run the program to its end, or ours."""
    pipe, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(pipe, False)
    wake, woken = os.pipe()
    for number in (wake, woken):
        os.set_blocking(number, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    for handled in _HANDLED:
        signal.signal(handled, _tell)
    adopts = _call_prctl(_PR_SET_CHILD_SUBREAPER, 1)
    # The program may have stopped us when our starter is killed.
    _call_prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)
    child = _start(command)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # the program's alone, so that it can close them
        os.dup2(nothing, stream)
    status = _wait(child, pipe, wake)
    rest = _end_all(child, adopts)
    status = rest if status is None else status
    if status is not None and os.WIFSIGNALED(status):
        if (number := os.WTERMSIG(status)) != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(0 if status is None else os.WEXITSTATUS(status))


if __name__ == "__main__":
    main()
