"""Agents in processes of their own, for tests: started, found by their port, and ended."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import warm_python

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
_PORT = re.compile(r"\bport (\d+)")
DEADLINE_S = 180


class Process:
    """A command that says `port <number>` on its output once it listens."""

    def __init__(self, arguments, **environment):
        program, *rest = [str(argument) for argument in arguments]
        how = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "stdin": subprocess.DEVNULL,
            "start_new_session": True,
            "env": {**clean_environment(), **environment},
        }
        if program == sys.executable:
            self._popen = warm_python.Process(rest, **how)
        else:
            self._popen = subprocess.Popen([program, *rest], text=True, **how)
        self.lines = []
        self._listening = threading.Event()
        self.port = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._popen.stdout:
            self.lines.append(line.rstrip("\n"))
            found = _PORT.search(line)
            if found and not self.port:
                self.port = int(found[1])
                self._listening.set()
        self._listening.set()

    def listening(self):
        assert self._listening.wait(DEADLINE_S), "the process said nothing"
        assert self.port, self.lines
        return self

    @property
    def pid(self):
        return self._popen.pid

    @property
    def url(self):
        return f"http://localhost:{self.port}/"

    def signal(self, number):
        os.kill(self.pid, number)

    def wait(self):
        return self._popen.wait(DEADLINE_S)

    def stop(self):
        if self._popen.poll() is None:
            os.killpg(self.pid, signal.SIGTERM)
        try:
            return self._popen.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.pid, signal.SIGKILL)
            return self._popen.wait(10)


@contextmanager
def running(arguments, **environment):
    process = Process(arguments, **environment)
    try:
        yield process.listening()
    finally:
        process.stop()


def agentquest(*arguments, **environment):
    """`agentquest …` in a process that is waited for to listen."""
    return running([sys.executable, "-m", "agentquest", *arguments], **environment)


def script(name, *arguments, python=sys.executable, **environment):
    return running([python, HERE / name, *arguments], **environment)


def clean_environment():
    """No key and no data of the machine's owner decides what a test does."""
    dropped = ("OPENAI_", "WHITE_AGENT_", "LITELLM_", "AGENT_URL", "ALFWORLD_DATA", "AGENTQUEST_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    return {**kept, "PYTHONPATH": str(HERE), "PYTHONUNBUFFERED": "1"}


def processes_with(text):
    """Pids of all processes whose command line holds a text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
            state = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if text in command and state != "Z" and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def eventually(condition):
    """Whether it comes true before a generous deadline."""
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.05)
    return False


def port_is_held(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
