"""Any program as an agent, in any language: one JSON object per line, see docs/agents.md.

The program receives `begin`, then `act` for each turn, which it answers with
`{"action": "…"}`, and `end`. Nothing is repaired: a line without an action costs a step, and
the program is told.
"""

import itertools
import json
import shlex
import shutil
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from agentquest.agents.program import Line, ProgramSession, SharedProgram
from agentquest.lib import Agent, Answer, Episode, Observation, Settings
from agentquest.lib.settings import operational
from agentquest.records.episode import Call
from agentquest.records.how import How
from agentquest.records.messages import Usage

_NUMBERS = itertools.count(1)
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
    """Version of the program: change it with the program, so that no run mixes two."""

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


class CommandAgent(Agent):
    """Passes each observation to the program and returns the action that it answers with."""

    Settings = CommandSettings

    def __init__(self, settings: CommandSettings, shared: SharedProgram | None) -> None:
        self._settings = settings
        self._shared = shared
        self._session: ProgramSession | None = None
        self._number = next(_NUMBERS)
        self._turn = 0

    @classmethod
    async def open_shared(cls, settings: CommandSettings) -> SharedProgram | None:
        if settings.process == "episode":
            return None
        return SharedProgram(settings.command, settings.longest_line)

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        if self._shared is not None:
            self._session = await self._shared.session()
        else:
            self._session = await ProgramSession.begin(
                self._settings.command, self._settings.longest_line
            )
        await self._session.join(self._number, self._message("begin", **_describe_episode(episode)))

    async def act(self, observation: Observation) -> Answer:
        assert self._session is not None
        self._turn += 1
        message = self._message(
            "act",
            step=self._turn,
            observation=observation.text,
            admissible=list(observation.admissible),
        )
        return read_line(await self._session.ask(self._number, message, self._settings.timeout_s))

    async def close(self) -> None:
        if self._session is None:
            return
        await self._session.leave(self._number, self._message("end"))
        if self._shared is None:
            await self._session.close()

    def _message(self, kind: str, **more: Any) -> dict[str, Any]:
        return {"type": kind, "episode": self._number, **more}


def read_line(line: Line) -> Answer:
    """What a line of the program asks for."""
    if line.too_long:
        return _no_answer(line, How.TOO_LONG)
    try:
        said = json.loads(line.text)
    except (ValueError, RecursionError):
        return _no_answer(line, How.NOT_JSON)
    if not isinstance(said, dict):
        return _no_answer(line, How.NOT_JSON)
    calls = _calls(said.get("usage"))
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


def _calls(usage: object) -> tuple[Call, ...]:
    """The model usage that the program reports; unknown if it is malformed."""
    if not isinstance(usage, dict):
        return ()
    try:
        counted = Usage(
            prompt_tokens=usage.get("prompt_tokens"),  # type: ignore[arg-type]
            completion_tokens=usage.get("completion_tokens"),  # type: ignore[arg-type]
        )
        named = str(usage.get("model") or "")
        return (Call(model=named, kind="complete", usage=counted, cost=usage.get("cost")),)
    except ValidationError:
        return ()


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
