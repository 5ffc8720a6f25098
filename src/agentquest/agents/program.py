"""A program that answers in lines, whatever it does: hang, crash, flood its output.

Its standard error is read all the time, so that it never blocks, and the end of it is kept to
say what went wrong. Secrets of our environment are masked in everything it prints. It runs in
its own process group, which ends with it. A program may play one episode, or many at once.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from agentquest.errors import AgentQuestError
from agentquest.lib.settings import is_secret
from agentquest.llms.redaction import Redactor

_CHUNK = 65536
# Bytes of standard error: more is kept than shown, so that no key is cut before masking.
_SHOWN, _KEPT = 2000, 65536
_LEAVE_S = 2.0


class ProgramFailed(AgentQuestError):
    """The program ended, or gave no answer in time; the text says what it said last."""


class Line(NamedTuple):
    """A line that the program printed; empty if it was too long."""

    text: str
    too_long: bool = False


class Program:
    """One process; `on_line` is called with each line that it prints."""

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
        self._last_words = b""
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
        """Send one line. If the program no longer reads, its end will tell."""
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
        said = self._redact.reply(self._last_words.decode("utf-8", "backslashreplace")).strip()
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
        """Pass on whole lines; one that is too long without its text."""
        assert self._process.stdout is not None
        held, skipping = b"", False
        while chunk := await self._process.stdout.read(_CHUNK):
            *lines, held = (held + chunk).split(b"\n")
            for line in lines:
                self._pass_on(line, skipping)
                skipping = False
            if len(held) > self._longest:
                held, skipping = b"", True
        if held or skipping:
            self._pass_on(held, skipping)
        self.ended = True
        self._on_end()

    def _pass_on(self, line: bytes, skipping: bool) -> None:
        if skipping or len(line) > self._longest:
            self._on_line(Line("", too_long=True))
        elif line.strip():
            self._on_line(Line(self._redact.reply(line.decode("utf-8", "backslashreplace"))))

    async def _drain(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(_CHUNK):
            self._last_words = (self._last_words + chunk)[-_KEPT:]


logger = logging.getLogger(__name__)

_MOST_LINES = 1000  # that wait for a question; of a program that prints more, the rest is dropped


class ProgramSession:
    """One program and the episodes it plays, known by their numbers.

    Each line is the answer to the next question of its episode: one line, one answer.
    """

    def __init__(self) -> None:
        self._lines: dict[int, asyncio.Queue[Line | None]] = {}
        self._program: Program | None = None

    @classmethod
    async def begin(cls, command: Sequence[str], longest_line: int) -> "ProgramSession":
        """Start the program; no episode has joined yet."""
        session = cls()
        session._program = await Program.start(
            command, longest_line, session._deliver, session._end
        )
        return session

    @property
    def program(self) -> Program:
        """The program of this session."""
        assert self._program is not None
        return self._program

    async def join(self, episode: int, message: Mapping[str, Any]) -> None:
        """Add an episode and tell the program."""
        self._lines[episode] = asyncio.Queue(_MOST_LINES)
        await self._tell(message)

    async def leave(self, episode: int, message: Mapping[str, Any]) -> None:
        """Tell the program that an episode is over; later lines that name it are dropped."""
        if self._lines.pop(episode, None) is not None:
            await self._tell(message)

    async def ask(self, episode: int, message: Mapping[str, Any], timeout_s: float) -> Line:
        """The program's answer to `message`; raises `ProgramFailed` if there is none."""
        asking = asyncio.ensure_future(self._ask(episode, message))
        try:
            await asyncio.wait({asking}, timeout=timeout_s)
            if not asking.done():
                raise ProgramFailed(f"the program gave no answer within {timeout_s:g} s")
            line = asking.result()
            if line is None:
                raise ProgramFailed(await self.program.why())
            return line
        finally:
            asking.cancel()

    async def close(self) -> None:
        """End the program."""
        await self.program.close()

    async def _ask(self, episode: int, message: Mapping[str, Any]) -> Line | None:
        await self._tell(message)
        lines = self._lines[episode]
        return None if self.program.ended and lines.empty() else await lines.get()

    async def _tell(self, message: Mapping[str, Any]) -> None:
        if not self.program.ended:
            await self.program.send(message)

    def _deliver(self, line: Line) -> None:
        """Pass a line to the episode that it names, or to the only one."""
        number = _episode_of(line.text)
        if number is None and len(self._lines) == 1:
            (number,) = self._lines
        lines = self._lines.get(number) if number is not None else None
        if lines is None:
            logger.warning(
                "the program printed a line that belongs to no episode: %.200r", line.text
            )
        elif not lines.full():
            lines.put_nowait(line)

    def _end(self) -> None:
        for lines in self._lines.values():
            if not lines.full():  # else the end is noticed when the queue is empty
                lines.put_nowait(None)


def _episode_of(text: str) -> int | None:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    number = said.get("episode") if isinstance(said, dict) else None
    return number if isinstance(number, int) else None


class SharedProgram:
    """One program for all episodes of a process; one that has ended is started again."""

    def __init__(self, command: Sequence[str], longest_line: int) -> None:
        self._command = command
        self._longest = longest_line
        self._session: ProgramSession | None = None
        self._starting = asyncio.Lock()

    async def session(self) -> ProgramSession:
        """The session with the program, which is started if it is not running."""
        async with self._starting:
            if self._session is not None and self._session.program.ended:
                await self._session.close()
                self._session = None
            if self._session is None:
                self._session = await ProgramSession.begin(self._command, self._longest)
            return self._session

    async def close(self) -> None:
        """End the program if it was started."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
