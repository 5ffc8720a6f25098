"""An agent of the evaluator that lives elsewhere and is asked over A2A."""

from collections.abc import Callable
from typing import Protocol

from agentquest.a2a_agents.action_parsing import INVALID, Understood, understand
from agentquest.a2a_agents.messages import first_message, next_message, refusal
from agentquest.lib import Agent, Answer, Episode, Observation, Turn

MAX_REPLY_CHARACTERS = 65_536
_KEPT_OF_TOO_LONG = 2_000
FIRST_ACTION = "first_action"


class Line(Protocol):
    """A conversation with the agent; turns go in order."""

    async def say(self, text: str) -> str: ...

    async def close(self) -> None: ...


class RemoteAgent(Agent):
    """`first_if_invalid` plays the first action for an unreadable reply, for comparisons only."""

    def __init__(
        self, benchmark: str, connect: Callable[[], Line], first_if_invalid: bool = False
    ) -> None:
        self._benchmark = benchmark
        self._connect = connect
        self._first_if_invalid = first_if_invalid
        self._line: Line | None = None
        self._last: Understood | None = None

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._line = self._connect()

    async def act(self, observation: Observation) -> Answer:
        assert self._line is not None, "begin() comes first"
        text = self._message(observation)
        reply = await self._line.say(text)
        self._last = self._read(reply, observation.admissible)
        return Answer(
            action=self._last.command,
            how=self._last.how,
            reply=_kept(reply),
            prompt=(Turn("user", text),),
            told=refusal(),
        )

    async def close(self) -> None:
        if self._line is not None:
            await self._line.close()

    def _message(self, observation: Observation) -> str:
        if self._last is None:
            return first_message(self._benchmark, observation.text, observation.admissible)
        return next_message(self._last.command, observation.text, observation.admissible)

    def _read(self, reply: str, admissible: tuple[str, ...]) -> Understood:
        read = Understood(None, INVALID)
        if len(reply) <= MAX_REPLY_CHARACTERS:
            read = understand(reply, admissible)
        if read.command is None and self._first_if_invalid and admissible:
            return Understood(admissible[0], FIRST_ACTION)
        return read


def _kept(reply: str) -> str:
    """The reply for the record; one beyond all reason is cut, and says so."""
    if len(reply) <= MAX_REPLY_CHARACTERS:
        return reply
    left_out = len(reply) - _KEPT_OF_TOO_LONG
    return f"{reply[:_KEPT_OF_TOO_LONG]} [{left_out:,} more characters]"
