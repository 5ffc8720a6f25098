"""A run whose agents call in: every episode is played and recorded as in any other run.

`CallerExecutor` holds the pending episodes and hands them to callers. Between a caller's
calls the episode waits in `Agent.act`, so the step limit, the score and the record are the
runner's own, whatever the caller claims.
"""

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, ClassVar

from agentquest.errors import ParseError, UserError
from agentquest.lib import Answer, Episode, LoopAgent, Observation, Settings
from agentquest.lib.commands import command_of
from agentquest.lib.loop_agent import Act, GameOver
from agentquest.records.episode import EpisodeRecord
from agentquest.records.how import How
from agentquest.records.messages import ToolCall, ToolSpec
from agentquest.running.events import RunEvents
from agentquest.running.factory import Resources
from agentquest.running.play import play_one
from agentquest.running.spec import EpisodeSpec

AGENT = "mcp"
NO_EPISODE = "no episode is going on: call `start`"


class CallerSettings(Settings):
    """What callers are told, and which tools they have."""

    show_admissible: bool = True
    """Whether callers are told the commands that are possible now."""

    tools: str = "one"
    """`one`: a single tool that takes a command; `typed`: a tool for each kind of command, where
    the benchmark has them."""


class CallerAgent(LoopAgent):
    """Whoever calls the tools; `agentquest mcp` says who that is."""

    Settings: ClassVar[type[Settings]] = CallerSettings
    called_by = "agentquest mcp"

    def __init__(self, shared: "Caller") -> None:
        self._caller = shared

    async def play(self, episode: Episode, first: str, act: Act) -> None:
        await self._caller.attend(self)


class CallerLeft(Exception):
    """The caller went away in the middle of an episode: the agent's own fault."""


class Caller:
    """One caller, with at most one episode going on.

    `connection` is where the newest call came from; `lock` lets calls wait for each other.
    """

    def __init__(self, executor: "CallerExecutor", key: str) -> None:
        self.key = key
        self.connection = ""
        self.lock = asyncio.Lock()
        self.spec: EpisodeSpec | None = None
        self.record: EpisodeRecord | None = None
        self._executor = executor
        self._agent: CallerAgent | None = None
        self._attending: asyncio.Future[Any]
        self._left = asyncio.Event()
        self._playing: asyncio.Task[EpisodeRecord] | None = None
        self._numbers = count(1)
        executor.callers.add(self)

    @property
    def is_playing(self) -> bool:
        """Whether an episode is going on."""
        return self._playing is not None and not self._playing.done()

    @property
    def goal(self) -> str:
        """The goal of the newest episode."""
        return self._agent.episode.goal if self._agent is not None else ""

    @property
    def observation(self) -> Observation | None:
        """What the caller sees now."""
        return self._agent.observation if self._agent is not None else None

    async def start(self, task_id: str | None = None) -> EpisodeSpec | None:
        """Begin a pending episode; None when there is none."""
        if self.is_playing:
            raise UserError("the episode goes on; `give_up` would end it as lost")
        spec = self._executor.take(task_id)
        if spec is None:
            return None
        self.spec, self.record, self._agent = spec, None, None
        self._attending = asyncio.get_running_loop().create_future()
        self._playing = asyncio.create_task(self._executor.play(spec, self))
        await asyncio.wait({self._attending, self._playing}, return_when=asyncio.FIRST_COMPLETED)
        if self._agent is None:
            self.record = await self._playing
        return spec

    async def call(
        self, name: str, arguments: Mapping[str, Any], tools: Sequence[ToolSpec]
    ) -> bool:
        """Play one tool call and say whether it was one; a malformed call costs a step, as it does
        for every agent."""
        written = json.dumps(dict(arguments))
        call = ToolCall(id=f"call_{next(self._numbers)}", name=name, arguments=written)
        how, told, action = How.TOOL_CALL, "", None
        try:
            action = command_of(call, tools)
        except ParseError as error:
            how, told = How.MALFORMED_CALL, f"{error} Nothing was done."
        answer = Answer(action, how=how, tool_calls=(call,), told=told, tools=tuple(tools))
        await self._submit(answer)
        return how is How.TOOL_CALL

    async def give_up(self) -> None:
        """End the episode as given up; raises UserError if none is going on."""
        await self._submit(Answer(action=None, give_up=True))

    async def leave(self) -> None:
        """The caller has gone; what was going on ends as its fault."""
        if self._playing is not None and self.is_playing:
            self._left.set()
            with contextlib.suppress(asyncio.CancelledError):
                await self._playing
        self._executor.callers.discard(self)

    async def stop(self) -> None:
        """End without a verdict, when the server stops: the episode is played again."""
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.gather(self._playing, return_exceptions=True)

    async def attend(self, agent: CallerAgent) -> None:
        """The agent's side: be there until the caller leaves."""
        self._agent = agent
        self._attending.set_result(None)
        await self._left.wait()
        raise CallerLeft("the caller left")

    async def _submit(self, answer: Answer) -> None:
        if self._agent is None or self._playing is None or not self.is_playing:
            raise UserError(NO_EPISODE)
        try:
            await self._agent.submit(answer)
        except GameOver:
            self.record = await self._playing


class CallerExecutor:
    """Hands out the pending episodes of a run, each to one caller at a time."""

    def __init__(self) -> None:
        self.opened: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.callers: set[Caller] = set()
        self._pending: dict[str, EpisodeSpec] = {}

    async def run(
        self,
        specs: Sequence[EpisodeSpec],
        resources: Resources,
        events: RunEvents,
        parallel: int,
        stop: asyncio.Event,
    ) -> None:
        """Be open until `stop`."""
        self._pending = {spec.key: spec for spec in specs}
        self._resources, self._events = resources, events
        self.opened.set_result(None)
        try:
            await stop.wait()
        finally:
            await asyncio.gather(*(caller.stop() for caller in self.callers))

    def take(self, task_id: str | None) -> EpisodeSpec | None:
        """The next pending episode, of any task or of this one; None when there is none.

        Raises UserError if a task is named and no episode of it is pending.
        """
        for key, spec in self._pending.items():
            if task_id is None or spec.task.id == task_id:
                return self._pending.pop(key)
        if task_id is not None:
            raise UserError(f"no episode of task {task_id[:200]!r} is left to play here")
        return None

    async def play(self, spec: EpisodeSpec, caller: Caller) -> EpisodeRecord:
        """From the first observation to the saved record."""
        shared = self._resources
        resources = Resources(shared.context, shared.benchmark, caller)
        record = await play_one(spec, resources, self._events, caller.key[:8])
        if not record.scored:
            self._pending[spec.key] = spec
        return record
