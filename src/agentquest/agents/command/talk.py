"""Which of a program's answers belongs to which episode: it may play one, or many at once."""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from agentquest.agents.command.program import Line, Program, ProgramFailed

logger = logging.getLogger(__name__)

_MOST_LINES = 1000  # that wait for a question; a program that babbles on is not kept


class Talk:
    """One program and the episodes it plays, known by their numbers.

    Each line is the answer to the next question of its episode: one line, one answer.
    """

    def __init__(self) -> None:
        self._lines: dict[int, asyncio.Queue[Line | None]] = {}
        self._program: Program | None = None

    @classmethod
    async def begin(cls, command: Sequence[str], longest_line: int) -> "Talk":
        """Start the program; no episode has joined yet."""
        talk = cls()
        talk._program = await Program.start(command, longest_line, talk._heard, talk._end)
        return talk

    @property
    def program(self) -> Program:
        """The program that is talked to."""
        assert self._program is not None
        return self._program

    async def join(self, episode: int, message: Mapping[str, Any]) -> None:
        """Take an episode in and tell the program of it."""
        self._lines[episode] = asyncio.Queue(_MOST_LINES)
        await self._tell(message)

    async def leave(self, episode: int, message: Mapping[str, Any]) -> None:
        """Tell the program that an episode is over; lines that still name it belong to nobody."""
        if self._lines.pop(episode, None) is not None:
            await self._tell(message)

    async def ask(self, episode: int, message: Mapping[str, Any], timeout_s: float) -> Line:
        """The program's answer to `message`; raises `ProgramFailed` where there is none."""
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

    def _heard(self, line: Line) -> None:
        """To the episode that it names, or to the only one there is."""
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
            if not lines.full():  # else it is found out when they are used up
                lines.put_nowait(None)


def _episode_of(text: str) -> int | None:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    number = said.get("episode") if isinstance(said, dict) else None
    return number if isinstance(number, int) else None


class Shared:
    """One program for all episodes of a process; one that has ended is started again."""

    def __init__(self, command: Sequence[str], longest_line: int) -> None:
        self._command = command
        self._longest = longest_line
        self._talk: Talk | None = None
        self._starting = asyncio.Lock()

    async def talk(self) -> Talk:
        """The talk with the program, which is started if it does not run."""
        async with self._starting:
            if self._talk is not None and self._talk.program.ended:
                await self._talk.close()
                self._talk = None
            if self._talk is None:
                self._talk = await Talk.begin(self._command, self._longest)
            return self._talk

    async def close(self) -> None:
        """End the program if it was started."""
        talk, self._talk = self._talk, None
        if talk is not None:
            await talk.close()
