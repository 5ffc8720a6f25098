"""A program that is talked to in lines, whatever it does: hang, crash, babble, fill its pipes.

Its standard error is read all the time, so that it never blocks, and its end is kept to say
what went wrong; what looks like a key in our environment is masked in all it says. It runs in
a process group of its own, which ends with it.
"""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from agentquest.errors import AgentQuestError
from agentquest.lib.settings import is_secret
from agentquest.llms.redaction import Redactor

_CHUNK = 65536
# Of its standard error; more is kept than shown, so that a key is not cut before masking.
_SHOWN, _KEPT = 2000, 65536
_LEAVE_S = 2.0


class ProgramFailed(AgentQuestError):
    """The program ended, or gave no answer in time; the text says what it said last."""


class Line(NamedTuple):
    """A line that the program said; of one that was too long, only that it was."""

    text: str
    too_long: bool = False


class Program:
    """One process, started and spoken to; `on_line` is called with each line it says."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        longest_line: int,
        on_line: Callable[[Line], None],
        on_end: Callable[[], None],
    ) -> None:
        self._process = process
        self._longest = longest_line
        self._on_line = on_line
        self._on_end = on_end
        self._redact = Redactor(*(os.environ[name] for name in os.environ if is_secret(name)))
        self._said_last = b""
        self.ended = False
        self._tasks = [asyncio.ensure_future(work) for work in (self._listen(), self._drain())]

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        longest_line: int,
        on_line: Callable[[Line], None],
        on_end: Callable[[], None],
    ) -> "Program":
        """Start the command, without a shell and in a process group of its own."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        return cls(process, longest_line, on_line, on_end)

    async def send(self, message: Mapping[str, Any]) -> None:
        """One line to the program; that it no longer reads is found out by its end."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        with contextlib.suppress(ConnectionError):
            await self._process.stdin.drain()

    async def why(self) -> str:
        """How the program ended, and the last lines of its standard error."""
        leaving = asyncio.ensure_future(self._process.wait())
        done, _ = await asyncio.wait({leaving, self._tasks[1]}, timeout=_LEAVE_S)
        how = "closed its output"
        if leaving in done:
            how = f"ended with exit code {leaving.result()}"
        leaving.cancel()
        said = self._redact.reply(self._said_last.decode("utf-8", "backslashreplace")).strip()
        return f"the program {how}" + (f": {said[-_SHOWN:]}" if said else "")

    async def close(self) -> None:
        """Let the program leave by itself; one that stays is ended with all it has started."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            await asyncio.wait({asyncio.ensure_future(self._process.wait())}, timeout=_LEAVE_S)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)

    async def _listen(self) -> None:
        """Hand on whole lines; of one that is too long, only that it was."""
        assert self._process.stdout is not None
        held, skipping = b"", False
        while chunk := await self._process.stdout.read(_CHUNK):
            *lines, held = (held + chunk).split(b"\n")
            for line in lines:
                self._hand_on(line, skipping)
                skipping = False
            if len(held) > self._longest:
                held, skipping = b"", True
        if held or skipping:
            self._hand_on(held, skipping)
        self.ended = True
        self._on_end()

    def _hand_on(self, line: bytes, skipping: bool) -> None:
        if skipping or len(line) > self._longest:
            self._on_line(Line("", too_long=True))
        elif line.strip():
            self._on_line(Line(self._redact.reply(line.decode("utf-8", "backslashreplace"))))

    async def _drain(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(_CHUNK):
            self._said_last = (self._said_last + chunk)[-_KEPT:]
