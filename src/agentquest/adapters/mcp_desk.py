"""A run whose agents call in: every episode is played and recorded as in any other run.

`Desk` stands where an executor stands: it holds the episodes that the run owes and
hands them to callers. A `Seat` is one caller. Between its calls the episode
waits in `Agent.act`, so the step limit, the score and the record are the runner's
own, whatever the caller claims.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any, ClassVar

from agentquest.errors import ConfigError, ParseError, UserError
from agentquest.lib import Agent, Answer, Episode, Observation, Settings
from agentquest.lib.commands import command_of
from agentquest.records.episode import EpisodeRecord
from agentquest.records.messages import ToolCall, ToolSpec
from agentquest.running.events import RunEvents
from agentquest.running.factory import Resources
from agentquest.running.play import play_one
from agentquest.running.spec import EpisodeSpec

AGENT = "mcp"


class CallerSettings(Settings):
    """What callers are told, and which tools they have."""

    show_admissible: bool = True
    """Whether callers are told the commands that are possible now."""

    tools: str = "one"
    """`one`: a single tool that takes a command; `typed`: a tool for each kind of command, where
    the benchmark has them."""


class CallerAgent(Agent):
    """Whoever calls the tools; `agentquest mcp` gives it a seat."""

    Settings: ClassVar[type[Settings]] = CallerSettings

    def __init__(self, shared: "Seat") -> None:
        self._seat = shared

    @classmethod
    async def open_shared(cls, settings: Any) -> None:
        raise ConfigError(f"the agent {AGENT!r} is whoever calls `agentquest mcp`")

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._seat.episode = episode

    async def act(self, observation: Observation) -> Answer:
        return await self._seat.answer_to(observation)


class CallerLeft(Exception):
    """The caller went away in the middle of an episode: the agent's own fault."""


class Seat:
    """One caller, with at most one episode going on."""

    def __init__(self, desk: "Desk", name: str) -> None:
        self.name = name
        self.spec: EpisodeSpec | None = None
        self.episode: Episode | None = None
        self.record: EpisodeRecord | None = None
        self.observation: Observation | None = None
        self._desk = desk
        self._questions: asyncio.Queue[Observation] = asyncio.Queue()
        self._answers: asyncio.Queue[Answer | CallerLeft] = asyncio.Queue()
        self._playing: asyncio.Task[EpisodeRecord] | None = None

    @property
    def is_playing(self) -> bool:
        """Whether an episode is going on."""
        return self._playing is not None and not self._playing.done()

    async def start(self, task_id: str | None = None) -> EpisodeSpec | None:
        """Begin an episode that is owed; None when there is none left."""
        if self.is_playing:
            raise UserError("the episode goes on; `give_up` would end it as lost")
        spec = self._desk.take(task_id)
        if spec is None:
            return None
        self._questions, self._answers = asyncio.Queue(), asyncio.Queue()
        self.spec, self.record, self.observation = spec, None, None
        self._playing = asyncio.create_task(self._desk.play(spec, self))
        await self._wait()
        return spec

    async def call(self, call: ToolCall, tools: Sequence[ToolSpec]) -> None:
        """Play one call; a malformed one costs a step, as it does for every agent."""
        how, told, action = "tool_call", "", None
        try:
            action = command_of(call, tools)
        except ParseError as error:
            how, told = "malformed_call", f"{error} Nothing was done."
        await self._say(Answer(action=action, how=how, tool_calls=(call,), told=told))

    async def give_up(self) -> None:
        """End the episode as given up; raises UserError if none is going on."""
        await self._say(Answer(action=None, give_up=True))

    async def leave(self) -> None:
        """The caller has gone; what was going on ends as its fault."""
        if self._playing is not None and self.is_playing:
            self._answers.put_nowait(CallerLeft("the caller left"))
            with contextlib.suppress(asyncio.CancelledError):
                await self._playing
        self._desk.seats.discard(self)

    async def stop(self) -> None:
        """The server ends: the episode is owed."""
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.gather(self._playing, return_exceptions=True)

    async def answer_to(self, observation: Observation) -> Answer:
        """The agent's side: what the caller does next."""
        self._questions.put_nowait(observation)
        answer = await self._answers.get()
        if isinstance(answer, CallerLeft):
            raise answer
        return answer

    async def _say(self, answer: Answer) -> None:
        if not self.is_playing:
            raise UserError("no episode is going on: call `start`")
        self._answers.put_nowait(answer)
        await self._wait()

    async def _wait(self) -> None:
        """Until the environment has answered, or the episode is over."""
        assert self._playing is not None
        question = asyncio.ensure_future(self._questions.get())
        try:
            await asyncio.wait({question, self._playing}, return_when=asyncio.FIRST_COMPLETED)
            if question.done():
                self.observation = question.result()
            else:
                self.record = await self._playing
        finally:
            question.cancel()


class Desk:
    """Hands out what a run owes, each episode to one caller at a time."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.seats: set[Seat] = set()
        self._owed: dict[str, EpisodeSpec] = {}

    async def run(
        self,
        specs: Sequence[EpisodeSpec],
        resources: Resources,
        events: RunEvents,
        parallel: int,
        stop: asyncio.Event,
    ) -> None:
        """Be open until `stop`."""
        self._owed = {spec.key: spec for spec in specs}
        self._resources, self._events = resources, events
        self.opened.set()
        try:
            await stop.wait()
        finally:
            await asyncio.gather(*(seat.stop() for seat in self.seats))

    @property
    def left(self) -> int:
        """How many episodes nobody has begun."""
        return len(self._owed)

    def take(self, task_id: str | None) -> EpisodeSpec | None:
        """The next episode owed, of any task or of this one; None when nothing is left.

        Raises UserError if a task is named and no episode of it is owed.
        """
        for key, spec in self._owed.items():
            if task_id is None or spec.task.id == task_id:
                return self._owed.pop(key)
        if task_id is not None:
            raise UserError(f"no episode of task {task_id[:200]!r} is owed here")
        return None

    async def play(self, spec: EpisodeSpec, seat: Seat) -> EpisodeRecord:
        """From the first observation to the saved record."""
        shared = self._resources
        resources = Resources(shared.context, shared.benchmark, seat)
        record = await play_one(spec, resources, self._events, seat.name)
        if not record.scored:
            self._owed[spec.key] = spec
        return record
