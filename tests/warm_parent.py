"""A Python that has imported everything and waits: each request becomes a process forked from it.

    python warm_parent.py SOCKET

A request on that socket comes with five open files: the process's input, output and error
output, where to say its pid and how it ended, and a file with its arguments, folder and
environment. See warm_python.py, which sends them.
"""

import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import warnings
from typing import Any, NoReturn

from agentquest.cli.app import COMMANDS

# What commands import while they run. None of these starts a thread or reads the environment.
ALSO = (
    "agentquest.cli.serve",
    "agentquest.a2a.green",
    "agentquest.a2a.launcher",
    "agentquest.a2a.serving",
    "agentquest.a2a.llm_white",
    "agentquest.a2a.white",
    "agentquest.agents.baselines",
    "agentquest.agents.react",
    "agentquest.benchmarks.alfworld.benchmark",
    "agentquest.benchmarks.mastermind.benchmark",
    "agentquest.benchmarks.sudoku.benchmark",
    "agentquest.benchmarks.webshop.benchmark",
    "agentquest.llms.openai_chat",
    "agentquest.llms.scripted",
    "agentquest.viewer.app",
    "agentquest.viewer.export",
    "rich.progress",
    "uvicorn",
)


def import_everything() -> None:
    for name in (
        *(f"agentquest.cli.{place.partition(':')[0]}" for place, _ in COMMANDS.values()),
        *ALSO,
    ):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # so that collecting garbage in a child does not copy what it shares


def next_process(requests: socket.socket) -> dict[str, Any]:
    """Returns in each new process, with what it was asked to be; in the parent, never."""
    while True:
        request, files, _, _ = socket.recv_fds(requests, 1, 5)
        if not request:
            _leave()
        if os.fork() == 0:
            requests.close()
            return _kept(files)
        for number in files:
            os.close(number)


def _leave() -> NoReturn:
    """With what all processes cost added to what this one did."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    os._exit(0)


def _reap(*_: object) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _kept(files: list[int]) -> dict[str, Any]:
    """In a child that only waits for its own, and tells how that ended."""
    *standard, report, asked = files
    with os.fdopen(asked, encoding="utf-8") as file:
        job: dict[str, Any] = json.load(file)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child:
        os.write(report, f"{child}\n".encode())
        for number in standard:
            os.close(number)
        _, status = os.waitpid(child, 0)
        os.write(report, f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os._exit(0)
    os.close(report)
    for number, wanted in zip(standard, (0, 1, 2), strict=True):
        os.dup2(number, wanted)
        os.close(number)
    for number in job["ignored"]:
        signal.signal(number, signal.SIG_IGN)
    if job["new_session"]:
        os.setsid()
    return job


def become(job: dict[str, Any]) -> None:
    """What Python sets up at its start."""
    os.chdir(job["folder"])
    os.environ.clear()
    os.environ.update(job["environment"])
    folders = os.environ.get("PYTHONPATH", "")
    sys.path[:0] = [folder for folder in folders.split(os.pathsep) if folder]
    encoding = os.environ.get("PYTHONIOENCODING") or "utf-8"
    sys.stdin = open(0, encoding=encoding, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding=encoding, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding, "backslashreplace", closefd=False)  # noqa: SIM115
    if os.environ.get("PYTHONWARNINGS") == "error":
        warnings.simplefilter("error")


def run(job: dict[str, Any]) -> None:
    """As `python ARGUMENTS` would."""
    first, *rest = job["arguments"]
    if first == "-m":
        sys.path.insert(0, job["folder"])
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.path.insert(0, "")
        sys.argv = ["-c", *rest[1:]]
        exec(rest[0], {"__name__": "__main__"})  # noqa: S102
    else:
        sys.path.insert(0, os.path.dirname(first))  # noqa: PTH120
        sys.argv = job["arguments"]
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    import_everything()
    signal.signal(signal.SIGCHLD, _reap)
    with socket.socket(fileno=int(sys.argv[1])) as waiting:
        job = next_process(waiting)
    become(job)
    run(job)
