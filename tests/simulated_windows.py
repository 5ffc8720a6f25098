"""A system that lacks what Windows lacks, for tests on others.

    python simulated_windows.py ARGUMENTS        runs `agentquest ARGUMENTS` on it

Event loops that know no signals and cannot wait for standard input, no process groups, masks,
limits or SIGHUP, folders that cannot be opened, files that cannot be synced unless they can be
written, `os.kill` that ends at once.
"""

import asyncio
import os
import signal
import sys
from multiprocessing.popen_fork import Popen
from pathlib import Path
from typing import Any, NoReturn

_MISSING = {
    os: ("fork", "forkpty", "getuid", "killpg", "setsid"),
    signal: ("SIGHUP", "SIGKILL", "SIGUSR1", "pthread_sigmask"),
}
_MODULES = ("fcntl", "grp", "pwd", "resource", "termios")
_open, _sync, _kill = os.open, os.fsync, os.kill
_connect_pipe = asyncio.SelectorEventLoop.connect_read_pipe
_opened: dict[int, int] = {}


def _refuse(*_: Any) -> NoReturn:
    raise NotImplementedError


async def _connect(loop: Any, protocol: Any, pipe: Any) -> Any:
    """Only pipes that were made for a loop can be waited for, such as a subprocess has."""
    if pipe is sys.stdin:
        raise OSError(6, "The handle is invalid")
    return await _connect_pipe(loop, protocol, pipe)


def _open_file(path: Any, flags: int, *more: Any, **named: Any) -> int:
    if not isinstance(path, int) and Path(os.fsdecode(path)).is_dir():
        raise PermissionError(13, "Permission denied", str(path))
    number = _open(path, flags, *more, **named)
    _opened[number] = flags
    return number


def _sync_file(number: int) -> None:
    if _opened.get(number, os.O_RDWR) & (os.O_WRONLY | os.O_RDWR) == 0:
        raise OSError(9, "Bad file descriptor")
    _sync(number)


def _end(pid: int, number: int) -> None:
    assert number, "this is Ctrl-C there, and no question"
    _kill(pid, 9 if number == signal.SIGTERM and pid != os.getpid() else number)


def simulate(patch: Any) -> None:
    """Take everything away; `patch` is pytest's monkeypatch."""
    from agentquest import platform

    loop = asyncio.SelectorEventLoop
    patch.setattr(loop, "add_signal_handler", _refuse)
    patch.setattr(loop, "remove_signal_handler", _refuse)
    patch.setattr(loop, "connect_read_pipe", _connect)
    for module, names in _MISSING.items():
        for name in names:
            patch.delattr(module, name, raising=False)
    for name in _MODULES:
        patch.setitem(sys.modules, name, None)
    patch.setattr(os, "open", _open_file)
    patch.setattr(os, "fsync", _sync_file)
    patch.setattr(os, "kill", _end)
    patch.setattr(Popen, "kill", Popen.terminate)  # what it is there
    patch.setattr(platform, "IS_WINDOWS", True)
    patch.setattr(platform, "_NEW_GROUP", 0)


if __name__ == "__main__":
    import pytest

    import agentquest.cli.demo
    import agentquest.cli.eval  # noqa: F401
    from agentquest.cli import main

    if "mcp" in sys.argv:  # its authors ask what system it is
        import mcp.server.stdio  # noqa: F401
    simulate(pytest.MonkeyPatch())
    main(sys.argv[1:])
