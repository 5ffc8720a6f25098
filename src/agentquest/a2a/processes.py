"""An agent in a process of its own, which is gone when we are done with it.

Each runs in its own session, so that Ctrl-C reaches the launcher alone and the
whole group can be ended; and each holds a pipe from the launcher, so that it
ends by itself should the launcher be killed.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from typing import IO

from agentquest.errors import AgentQuestError

_TERM_S = 5.0
_TAIL = 2000


class AgentProcessFailed(AgentQuestError):
    """A launched agent did not start, or ended before its work was done."""


class AgentProcess:
    """`python -m agentquest <arguments>`, started at once; `variables` are added to its
    environment, which others cannot read as they can its arguments."""

    def __init__(self, name: str, arguments: list[str], variables: Mapping[str, str]) -> None:
        self.name = name
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "agentquest", *arguments],
            stdin=subprocess.PIPE,
            stdout=self._said,
            stderr=self._said,
            start_new_session=True,
            env={**os.environ, **variables},
        )

    @property
    def pid(self) -> int:
        """The id that the operating system gave the process."""
        return self._process.pid

    def check(self) -> None:
        """Raise, with its last words, when the process has ended."""
        code = self._process.poll()
        if code is not None:
            raise AgentProcessFailed(f"the {self.name} ended (exit {code}): {self.last_words()}")

    def last_words(self) -> str:
        """The end of what the process has printed, for error messages."""
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - _TAIL))
        return self._said.read().decode("utf-8", "replace").strip() or "it printed nothing"

    async def stop(self) -> None:
        """End the process and whatever it started. Harmless when it has ended."""
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        self._signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(process.wait, _TERM_S)
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        process.wait()
        self._said.close()

    def _signal(self, number: int) -> None:
        try:
            if hasattr(os, "killpg"):
                os.killpg(self.pid, number)
            elif self._process.poll() is None:
                self._process.terminate()
        except (ProcessLookupError, PermissionError):
            return
