"""Any program as an agent, in any language: one JSON object per line, see docs/agents.md.

The program receives `begin`, then `act` for each turn, which it answers with
`{"action": "…"}`, and `end`. Nothing is repaired: a line without an action costs a step, and
the program is told. Whatever it does (hang, crash, flood its output) ends only its episodes:
its standard error is read all the time, so that it never blocks, and whatever it has started
ends with it, and with us. Secrets of our environment are masked in all it prints.
"""

import asyncio
import contextlib
import itertools
import json
import logging
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, field_validator

from agentquest.errors import AgentQuestError
from agentquest.lib import Agent, Answer, Episode, Observation, Settings
from agentquest.lib.settings import is_secret, operational
from agentquest.llms.redaction import Redactor
from agentquest.platform import Tree
from agentquest.records.episode import Call, read_call
from agentquest.records.how import How
from agentquest.records.usage import read_json

logger = logging.getLogger(__name__)

_NUMBERS = itertools.count(1)
_CHUNK = 65536
# Bytes of standard error: more is kept than shown, so that no key is cut before masking.
_SHOWN, _KEPT = 2000, 65536
_LEAVE_S = 2.0
_MOST_LINES = 1000  # that wait for a question; of a program that prints more, the rest is dropped
_LONGEST_KEPT = 20_000
_TOLD = {
    How.NOT_JSON: "Your line was no JSON object, so nothing was done.",
    How.NO_ACTION: 'Your line held no "action" in text, so nothing was done.',
    How.TOO_LONG: "Your line was longer than allowed, so nothing was done.",
}


class CommandSettings(Settings):
    """Which program plays, and how it is run."""

    command: tuple[str, ...] = Field(min_length=1)
    """The program and its arguments: a list, or text that is split as a shell would."""

    process: Literal["episode", "shared"] = "episode"
    """One process per episode, or one that plays all of them and repeats the `episode` number in
    its answers."""

    version: str = ""
    """Version of the program, for what the files in its command do not show: change it with the
    program, so that no run mixes two."""

    timeout_s: float = operational(300.0, gt=0)
    """Most seconds for one answer; an agent that takes longer fails its episode."""

    longest_line: int = operational(1024 * 1024, ge=1024)
    """Most bytes per line; a longer line is not an answer."""

    @field_validator("command", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return tuple(shlex.split(value)) if isinstance(value, str) else value

    @field_validator("command")
    @classmethod
    def _exists(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if shutil.which(value[0]) is None:
            raise ValueError(f"no program {value[0]!r} was found")
        return value

    def source_files(self) -> tuple[Path, ...]:
        """The files that the command names, and the module of `-m`; not an interpreter."""
        program, *words = self.command
        if "-m" in words[:-1]:
            module = Path(*words[words.index("-m") + 1].split("."))
            words += [f"{module}.py", str(module / "__main__.py")]
        files = [Path(word) for word in words if Path(word).is_file()]
        found = Path(shutil.which(program) or program).resolve()
        is_own = Path.cwd() in found.parents or (not files and os.sep in program)
        return (*([found] if is_own else []), *files)


class ProgramFailed(AgentQuestError):
    """The program ended, or gave no answer in time; the text says what it said last."""


class Line(NamedTuple):
    """A line that the program printed; empty if it was too long."""

    text: str
    too_long: bool = False


class Program:
    """One process and the episodes it plays, known by their numbers.

    Each line is the answer to the next question of its episode: one line, one answer.
    """

    def __init__(self, tree: Tree, longest_line: int) -> None:
        self._tree = tree
        self._process = tree.process
        self._longest = longest_line
        self._redact = Redactor(*(os.environ[name] for name in os.environ if is_secret(name)))
        self._lines: dict[int, asyncio.Queue[Line | None]] = {}
        self._last_words = b""
        self.ended = False
        self._tasks = [asyncio.ensure_future(work) for work in (self._listen(), self._drain())]

    @classmethod
    async def start(cls, command: Sequence[str], longest_line: int) -> "Program":
        """Start the command, without a shell."""
        pipe = asyncio.subprocess.PIPE
        tree = await Tree.start(command, stdin=pipe, stdout=pipe, stderr=pipe)
        return cls(tree, longest_line)

    async def join(self, episode: int, message: Mapping[str, Any]) -> None:
        """Add an episode and tell the program."""
        self._lines[episode] = asyncio.Queue(_MOST_LINES)
        await self._send(message)

    async def leave(self, episode: int, message: Mapping[str, Any]) -> None:
        """Tell the program that an episode is over; later lines that name it are dropped."""
        if self._lines.pop(episode, None) is not None:
            await self._send(message)

    async def ask(self, episode: int, message: Mapping[str, Any], timeout_s: float) -> Line:
        """The program's answer to `message`; raises `ProgramFailed` if there is none."""
        asking = asyncio.ensure_future(self._ask(episode, message))
        try:
            await asyncio.wait({asking}, timeout=timeout_s)
            if not asking.done():
                raise ProgramFailed(f"the program gave no answer within {timeout_s:g} s")
            line = asking.result()
            if line is None:
                raise ProgramFailed(await self._explain_end())
            return line
        finally:
            asking.cancel()

    async def close(self) -> None:
        """Let the program leave by itself; one that stays is ended with all it has started."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            await asyncio.wait({asyncio.ensure_future(self._process.wait())}, timeout=_LEAVE_S)
        finally:
            await self._tree.end()
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)

    async def _ask(self, episode: int, message: Mapping[str, Any]) -> Line | None:
        await self._send(message)
        lines = self._lines[episode]
        return None if self.ended and lines.empty() else await lines.get()

    async def _send(self, message: Mapping[str, Any]) -> None:
        """Send one line. If the program no longer reads, its end will tell."""
        assert self._process.stdin is not None
        if self.ended:
            return
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        with contextlib.suppress(ConnectionError):
            await self._process.stdin.drain()

    async def _explain_end(self) -> str:
        """How the program ended, and the last lines of its standard error."""
        leaving = asyncio.ensure_future(self._process.wait())
        done, _ = await asyncio.wait({leaving, self._tasks[1]}, timeout=_LEAVE_S)
        how = "closed its output"
        if leaving in done:
            how = f"ended with exit code {leaving.result()}"
        leaving.cancel()
        said = self._redact.reply(self._last_words.decode("utf-8", "backslashreplace")).strip()
        return f"the program {how}" + (f": {said[-_SHOWN:]}" if said else "")

    async def _listen(self) -> None:
        """Deliver whole lines; one that is too long without its text."""
        assert self._process.stdout is not None
        held, skipping = b"", False
        while chunk := await self._process.stdout.read(_CHUNK):
            *lines, held = (held + chunk).split(b"\n")
            for line in lines:
                self._deliver(line, skipping)
                skipping = False
            if len(held) > self._longest:
                held, skipping = b"", True
        if held or skipping:
            self._deliver(held, skipping)
        self.ended = True
        for waiting in self._lines.values():
            if not waiting.full():  # else the end is noticed when the queue is empty
                waiting.put_nowait(None)

    def _deliver(self, raw: bytes, skipping: bool) -> None:
        """Pass a line to the episode that it names, or to the only one."""
        line = Line("", too_long=True)
        if not skipping and len(raw) <= self._longest:
            if not raw.strip():
                return
            line = Line(self._redact.reply(raw.decode("utf-8", "backslashreplace")))
        number = (_read_object(line) or {}).get("episode")
        if type(number) is not int and len(self._lines) == 1:
            (number,) = self._lines
        lines = self._lines.get(number) if type(number) is int else None
        if lines is None:
            logger.warning(
                "the program printed a line that belongs to no episode: %.200r", line.text
            )
        elif not lines.full():
            lines.put_nowait(line)

    async def _drain(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(_CHUNK):
            self._last_words = (self._last_words + chunk)[-_KEPT:]


def _read_object(line: Line) -> dict[str, Any] | None:
    try:
        said = read_json(line.text)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


class SharedProgram:
    """One program for all episodes of a process; one that has ended is started again."""

    def __init__(self, settings: CommandSettings) -> None:
        self._settings = settings
        self._program: Program | None = None
        self._starting = asyncio.Lock()

    async def ensure_running(self) -> Program:
        """The program, which is started if it is not running."""
        async with self._starting:
            if self._program is not None and self._program.ended:
                await self.close()
            if self._program is None:
                self._program = await Program.start(
                    self._settings.command, self._settings.longest_line
                )
            return self._program

    async def close(self) -> None:
        """End the program if it was started."""
        program, self._program = self._program, None
        if program is not None:
            await program.close()


class CommandAgent(Agent):
    """Passes each observation to the program and returns the action that it answers with."""

    Settings = CommandSettings

    def __init__(self, settings: CommandSettings, shared: SharedProgram | None) -> None:
        self._settings = settings
        self._is_own = shared is None
        self._shared = shared or SharedProgram(settings)
        self._program: Program | None = None
        self._number = next(_NUMBERS)
        self._turn = 0

    @classmethod
    async def open_shared(cls, settings: CommandSettings) -> SharedProgram | None:
        return SharedProgram(settings) if settings.process == "shared" else None

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._program = await self._shared.ensure_running()
        await self._program.join(self._number, self._message("begin", **_describe_episode(episode)))

    async def act(self, observation: Observation) -> Answer:
        assert self._program is not None
        self._turn += 1
        message = self._message(
            "act",
            step=self._turn,
            observation=observation.text,
            admissible=list(observation.admissible),
        )
        return read_line(await self._program.ask(self._number, message, self._settings.timeout_s))

    async def close(self) -> None:
        if self._program is not None:
            await self._program.leave(self._number, self._message("end"))
        if self._is_own:
            await self._shared.close()

    def _message(self, kind: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "episode": self._number, **more}


def read_line(line: Line) -> Answer:
    """What a line of the program asks for."""
    if line.too_long:
        return _no_answer(line, How.TOO_LONG)
    said = _read_object(line)
    if said is None:
        return _no_answer(line, How.NOT_JSON)
    call = read_call(said.get("usage"), "complete")
    calls = () if call is None else (call,)
    if said.get("give_up") is True:
        return Answer(action=None, reply=line.text[:_LONGEST_KEPT], calls=calls, give_up=True)
    action, thought = said.get("action"), said.get("thought")
    if not isinstance(action, str):
        return _no_answer(line, How.NO_ACTION, calls)
    reasoning = thought if isinstance(thought, str) else ""
    return Answer(action=action, reply=action, reasoning=reasoning, calls=calls)


def _no_answer(line: Line, how: str, calls: tuple[Call, ...] = ()) -> Answer:
    reply = line.text[:_LONGEST_KEPT]
    return Answer(action=None, how=how, reply=reply, calls=calls, told=_TOLD[how])


def _describe_episode(episode: Episode) -> dict[str, Any]:
    tools = [tool.model_dump(exclude={"command"}) for tool in episode.briefing.tools]
    return {
        "benchmark": episode.benchmark,
        "goal": episode.goal,
        "task_type": episode.task_type,
        "max_steps": episode.max_steps,
        "seed": episode.seed,
        "instructions": episode.briefing.instructions,
        "tools": tools,
        "facts": dict(episode.facts),
    }
