"""Processes that run in Python, and are there in milliseconds.

Most of what a short command costs is Python reading modules, some hundreds of times in these
tests. `Process` and `run` are like those of `subprocess`, but the process is forked from one that
has read them (warm_parent.py). It has a pid, files, signals, a folder, an environment and an exit
code of its own. What happens before a program's first line is not there: tests of what is
imported, of Python's own variables and of installed commands start `sys.executable`.
"""

import atexit
import contextlib
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

Run = subprocess.CompletedProcess[str]
# As under nohup: a process ignores what the one that starts it ignores.
_INHERITED = (signal.SIGHUP, signal.SIGINT)
_PARENT = Path(__file__).with_name("warm_parent.py")


class Process:
    """`python ARGUMENTS`. Output that is asked for with PIPE is text."""

    def __init__(
        self,
        arguments: Sequence[object],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        stdin: Any = None,
        stdout: Any = None,
        stderr: Any = None,
        start_new_session: bool = False,
    ) -> None:
        job = {
            "arguments": [str(argument) for argument in arguments],
            "folder": str(Path(cwd or ".").resolve()),
            "environment": dict(os.environ if env is None else env),
            "new_session": start_new_session,
            "ignored": [n for n in _INHERITED if signal.getsignal(n) == signal.SIG_IGN],
        }
        self.args, self.returncode = job["arguments"], None
        with contextlib.ExitStack() as handed:
            self.stdin, for_input = _end(stdin, 0, handed)
            self.stdout, for_output = _end(stdout, 1, handed)
            self.stderr, for_errors = _end(stderr, 2, handed, for_output)
            self._report, told = os.pipe()
            handed.callback(os.close, told)
            asked = handed.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
            json.dump(job, asked)
            asked.seek(0)
            files = [for_input, for_output, for_errors, told, asked.fileno()]
            socket.send_fds(_parent(), [b"x"], files)
        self.pid = int(self._line())

    def poll(self) -> int | None:
        """The exit code, as `subprocess` gives it, or None while the process lives."""
        if self.returncode is None and select.select([self._report], [], [], 0)[0]:
            self._ended()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._report], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self._ended()
        assert self.returncode is not None
        return self.returncode

    def communicate(self, input: str = "", timeout: float | None = None) -> tuple[str, str]:
        """Type something, and read what is still to be read when it has ended."""
        with ThreadPoolExecutor() as pool:
            pool.submit(self._type, input)
            said = [
                pool.submit(stream.read if stream and not stream.closed else str)
                for stream in (self.stdout, self.stderr)
            ]
            try:
                self.wait(timeout)
            except BaseException:
                self.kill()  # otherwise its outputs would be read for ever
                raise
            out, errors = (each.result() for each in said)
        self._close()
        return out, errors

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _type(self, text: str) -> None:
        if self.stdin:
            with contextlib.suppress(BrokenPipeError), self.stdin:
                self.stdin.write(text)

    def _close(self) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream:
                stream.close()

    def _ended(self) -> None:
        self.returncode = int(self._line())
        os.close(self._report)

    def _line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            got = os.read(self._report, 1)
            if not got:
                raise RuntimeError("the process that others are forked from has ended")
            line += got
        return line


def run(
    arguments: Sequence[object],
    *,
    input: str = "",
    timeout: float,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Run:
    """`python ARGUMENTS` to its end: its exit code and what it said."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = Process(arguments, cwd=cwd, env=env, **pipes)
    out, errors = process.communicate(input, timeout)
    return Run(process.args, process.wait(), out, errors)


def agentquest(*arguments: object, timeout: float = 240, **more: Any) -> Run:
    """`agentquest ARGUMENTS` to its end; further arguments are those of `run`."""
    return run(["-m", "agentquest", *arguments], timeout=timeout, **more)


def _end(
    wanted: Any, number: int, handed: contextlib.ExitStack, output: int = 1
) -> tuple[IO[str] | None, int]:
    """Our end of a pipe where one is wanted, and the file to hand over."""
    if wanted is None:
        return None, number
    if wanted == subprocess.STDOUT:
        return None, output
    if wanted == subprocess.DEVNULL:
        device = os.open(os.devnull, os.O_RDWR)
        handed.callback(os.close, device)
        return None, device
    if wanted != subprocess.PIPE:
        return None, wanted if isinstance(wanted, int) else wanted.fileno()
    reading, writing = os.pipe()
    ours, theirs = (writing, reading) if number == 0 else (reading, writing)
    handed.callback(os.close, theirs)
    return os.fdopen(ours, "w" if number == 0 else "r", encoding="utf-8"), theirs


def _parent() -> socket.socket:
    return _started_parent()[0]


@functools.cache
def _started_parent() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Started with the first process; it ends when this one does and closes the socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # The threads of a linear algebra library would not survive a fork.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": ""}
    process = subprocess.Popen(
        [sys.executable, str(_PARENT), str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    theirs.close()
    atexit.register(process.wait)
    atexit.register(ours.close)  # the last one registered is the first one called
    return ours, process
