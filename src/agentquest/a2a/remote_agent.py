"""An agent of the evaluator that runs elsewhere and is called over A2A.

`agentquest eval agent=a2a agent.url=http://localhost:9002/` evaluates it as any
other agent; the green agent does the same for whoever asks it to.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol
from urllib.parse import urlsplit

from pydantic import field_validator

from agentquest.a2a.action_parsing import INVALID, Understood, understand
from agentquest.a2a.addresses import is_address
from agentquest.a2a.installed import require_a2a
from agentquest.a2a.messages import first_message, next_message, refusal, reminder
from agentquest.errors import ConfigError
from agentquest.lib import Agent, Answer, Episode, Observation, Settings, operational
from agentquest.records.episode import Call
from agentquest.records.messages import Message
from agentquest.words import plural

MAX_REPLY_CHARACTERS = 65_536
_KEPT_OF_TOO_LONG = 2_000
FIRST_ACTION = "first_action"
NO_TEXT = "no_text"


class RemoteAgentSettings(Settings):
    """Where the agent is, and how it is called."""

    url: str
    """Address of the agent or of its card, such as http://localhost:9002/."""

    label: str = operational("")
    """Name of the agent in reports; empty: the name on its card."""

    headers: dict[str, str] = operational({})
    """Headers for every request, each with the environment variable that holds its value, such
    as {Authorization: MY_AGENT_KEY}."""

    invalid_policy: Literal["nothing", "first"] = "nothing"
    """What an unreadable reply does: nothing, or (to compare with a system that did) the first
    action."""

    repeat_goal: bool = False
    """Whether every turn repeats the goal, for agents that forget earlier turns."""

    silence_s: float = operational(600.0, gt=0)
    """Most seconds in which the agent may send nothing; `step_timeout_s` limits a whole answer."""

    patience_s: float = operational(30.0, gt=0)
    """Seconds to wait for an agent that is just starting."""

    @field_validator("url")
    @classmethod
    def _address(cls, value: str) -> str:
        if not is_address(value):
            raise ValueError("must be an address like http://localhost:9002/")
        if "@" in urlsplit(value).netloc:
            raise ValueError("must not contain a user or password; see agent.headers")
        return value


@dataclass(frozen=True)
class RemoteReply:
    """An answer: its words, and the same line by line where they came in pieces.

    `parts` says what the reply was made of, `calls` what it says that it took.
    """

    text: str
    by_lines: str = ""
    parts: str = ""
    calls: tuple[Call, ...] = ()


class Conversation(Protocol):
    """One game's turns with the agent, in order."""

    async def say(self, text: str) -> RemoteReply:
        """Send one message and wait for the agent's answer to it."""
        ...

    async def close(self) -> None:
        """The game is over: let go of the connection."""
        ...


class Party(Protocol):
    """An agent that was found."""

    def connect(self) -> Conversation:
        """Begin the conversation of one game."""
        ...


class RemoteAgent(Agent):
    """Passes every turn on to the agent under test, and reads a command from its answer."""

    Settings: ClassVar[type[Settings]] = RemoteAgentSettings

    def __init__(self, settings: RemoteAgentSettings, shared: Party) -> None:
        self._settings = settings
        self._party = shared
        self._conversation: Conversation | None = None
        self._last: Understood | None = None

    @classmethod
    async def open_shared(cls, settings: RemoteAgentSettings) -> Party:
        """Fetch the agent's card, once for all games."""
        require_a2a()
        # Imported here, because the SDK is an extra.
        from agentquest.a2a.connection import find_agent

        headers = header_values(settings.headers, os.environ)
        return await find_agent(
            settings.url, settings.patience_s, headers, silence_s=settings.silence_s
        )

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._conversation = self._party.connect()

    async def act(self, observation: Observation) -> Answer:
        assert self._conversation is not None, "begin() comes first"
        text = self._message(observation)
        reply = await self._conversation.say(text)
        words, self._last = self._read(reply, observation.admissible)
        return Answer(
            action=self._last.command,
            how=self._last.how,
            reply=_kept(words),
            calls=reply.calls,
            prompt=(Message(role="user", content=text),),
            told=refusal(),
        )

    async def close(self) -> None:
        if self._conversation is not None:
            await self._conversation.close()

    def _message(self, observation: Observation) -> str:
        if self._last is None:
            briefing = self.episode.briefing
            return first_message(briefing, observation.text, observation.admissible)
        again = ""
        if self._settings.repeat_goal:
            again = reminder(self.episode.briefing, self.episode.goal)
        return next_message(self._last.command, observation.text, observation.admissible, again)

    def _read(self, reply: RemoteReply, admissible: tuple[str, ...]) -> tuple[str, Understood]:
        """The words that were understood, or else those that were not, and as what."""
        if not reply.text.strip():
            return f"[no text: {reply.parts or 'empty'}]", self._instead(NO_TEXT, admissible)
        for words in (reply.text, reply.by_lines):
            if 0 < len(words) <= MAX_REPLY_CHARACTERS:
                read = understand(words, admissible)
                if read.command is not None:
                    return words, read
        return reply.text, self._instead(INVALID, admissible)

    def _instead(self, how: str, admissible: tuple[str, ...]) -> Understood:
        """What is done for a reply without an action: nothing, unless the policy says so."""
        if self._settings.invalid_policy == "first" and admissible:
            return Understood(admissible[0], FIRST_ACTION)
        return Understood(None, how)


def header_values(named: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The headers with the values of their environment variables."""
    missing = [variable for variable in named.values() if not environment.get(variable)]
    if missing:
        raise ConfigError(f"agent.headers: {missing[0]} is not set in the environment")
    return {header: environment[variable].strip() for header, variable in named.items()}


def _kept(reply: str) -> str:
    """The reply for the record; an extremely long one is cut, and says so."""
    if len(reply) <= MAX_REPLY_CHARACTERS:
        return reply
    left_out = len(reply) - _KEPT_OF_TOO_LONG
    return f"{reply[:_KEPT_OF_TOO_LONG]} [{left_out:,} more {plural(left_out, 'character')}]"
