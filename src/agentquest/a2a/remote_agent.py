"""An agent of the evaluator that runs elsewhere and is called over A2A.

`agentquest eval agent=a2a agent.url=http://localhost:9002/` evaluates it like any
other agent; the green agent does the same on request.

A free reply is an action only if it asks for exactly one. Nothing is guessed:
decoration is removed, an option's number or a command inside a sentence is
understood, and everything else is no action; `go to cabinet 1` never becomes
`go to cabinet 10`. Replies come from strangers, so the work of reading one grows
with its length and no faster.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import field_validator

from agentquest.a2a import limits, require_a2a
from agentquest.a2a.addresses import find_fault
from agentquest.a2a.client.wire import RemoteReply
from agentquest.a2a.messages import REFUSAL, first_message, next_message, reminder
from agentquest.errors import ConfigError
from agentquest.lib import Agent, Answer, Episode, Observation, Settings, operational
from agentquest.lib.commands import has_blank
from agentquest.lib.matching import lower_case, matcher
from agentquest.lib.thinking import split_thoughts
from agentquest.records.how import How
from agentquest.records.manifest import AssessedAgent
from agentquest.records.messages import Message
from agentquest.words import plural

if TYPE_CHECKING:
    from agentquest.a2a.client.connection import A2AConnection, A2AEndpoint

_FENCE = re.compile(r"```[A-Za-z]*")
_NUMBER = re.compile(r"([0-9]{1,6})[.)]?")
_BEFORE_ACTION = " \t>*#_-"
_AROUND_COLON = " \t*_"


class TurnRules(Settings):
    """How turns are played; settings that requests to the green agent have too."""

    invalid_policy: Literal["nothing", "first"] = "nothing"
    """What an unreadable reply does: nothing, or (to compare with a system that did) the first
    action."""

    repeat_goal: bool = False
    """Repeat the goal in every turn, for agents that forget earlier turns."""


class RemoteAgentSettings(TurnRules):
    """Where the agent is, and how it is called."""

    url: str
    """Address of the agent or of its card, such as http://localhost:9002/."""

    label: str = operational("")
    """Name of the agent in reports; empty: the name on its card."""

    headers: dict[str, str] = operational({})
    """Headers for every request, each with the environment variable that holds its value, such
    as {Authorization: MY_AGENT_KEY}."""

    silence_s: float = operational(600.0, gt=0)
    """Most seconds in which the agent may send nothing; `step_timeout_s` limits a whole answer."""

    patience_s: float = operational(30.0, gt=0)
    """Seconds to wait for an agent that is just starting."""

    @field_validator("url")
    @classmethod
    def _address(cls, value: str) -> str:
        if fault := find_fault(value):
            raise ValueError(fault)
        if "@" in urlsplit(value).netloc:
            raise ValueError("must not contain a user or password; see agent.headers")
        return value


class RemoteAgent(Agent):
    """Passes every turn on to the agent under test, and reads a command from its answer."""

    Settings: ClassVar[type[Settings]] = RemoteAgentSettings

    def __init__(self, settings: RemoteAgentSettings, shared: "A2AEndpoint") -> None:
        self._settings = settings
        self._endpoint = shared
        self._connection: A2AConnection | None = None
        self._last: ParsedAction | None = None

    @classmethod
    async def open_shared(cls, settings: RemoteAgentSettings) -> "A2AEndpoint":
        """Fetch the agent's card, once for all games."""
        require_a2a()
        # Imported here, because the SDK is an extra.
        from agentquest.a2a.client.connection import find_agent

        headers = read_header_values(settings.headers, os.environ)
        return await find_agent(
            settings.url, settings.patience_s, headers, silence_s=settings.silence_s
        )

    @classmethod
    async def identify(cls, settings: RemoteAgentSettings) -> AssessedAgent:
        """The agent on the card."""
        endpoint = await cls.open_shared(settings)
        return endpoint.card.agent.model_copy(update={"label": settings.label})

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        self._connection = self._endpoint.connect()

    async def act(self, observation: Observation) -> Answer:
        assert self._connection is not None, "begin() comes first"
        text = self._message(observation)
        reply = await self._connection.send(text)
        words, self._last = self._read(reply, observation.admissible)
        return Answer(
            action=self._last.command,
            how=self._last.how,
            reply=_shorten(words),
            calls=reply.calls,
            prompt=(Message(role="user", content=text),),
            told=REFUSAL,
        )

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()

    def _message(self, observation: Observation) -> str:
        if self._last is None:
            briefing = self.episode.briefing
            return first_message(briefing, observation.text, observation.admissible)
        again = ""
        if self._settings.repeat_goal:
            again = reminder(self.episode.briefing, self.episode.goal)
        return next_message(self._last.command, observation.text, observation.admissible, again)

    def _read(self, reply: RemoteReply, admissible: tuple[str, ...]) -> tuple[str, "ParsedAction"]:
        """The text that was understood, or else all of it, and the action in it."""
        if not reply.text.strip():
            return f"[no text: {reply.parts or 'empty'}]", self._substitute(How.NO_TEXT, admissible)
        for text in (reply.text, reply.by_lines):
            if 0 < len(text) <= limits.MAX_REPLY_CHARACTERS:
                parsed = parse_action(text, admissible)
                if parsed.command is not None:
                    return text, parsed
        return reply.text, self._substitute(How.INVALID, admissible)

    def _substitute(self, how: str, admissible: tuple[str, ...]) -> "ParsedAction":
        """What a reply without an action does: nothing, unless the policy says otherwise."""
        if self._settings.invalid_policy == "first" and admissible:
            return ParsedAction(admissible[0], How.FIRST_ACTION)
        return ParsedAction(None, how)


def read_header_values(
    variables: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, str]:
    """The headers with the values of their environment variables."""
    missing = [variable for variable in variables.values() if not environment.get(variable)]
    if missing:
        raise ConfigError(f"agent.headers: {missing[0]} is not set in the environment")
    return {header: environment[variable].strip() for header, variable in variables.items()}


def _shorten(reply: str) -> str:
    """The reply for the record; an extremely long one is cut, and says so."""
    if len(reply) <= limits.MAX_REPLY_CHARACTERS:
        return reply
    rest = len(reply) - limits.KEPT_OF_LONG_REPLY
    return f"{reply[: limits.KEPT_OF_LONG_REPLY]} [{rest:,} more {plural(rest, 'character')}]"


class ParsedAction(NamedTuple):
    """The command to execute, None for none, and how the reply was read."""

    command: str | None
    how: str


def parse_action(reply: str, admissible: Sequence[str]) -> ParsedAction:
    """The action that a reply asks for; `search[<query>]` stands for all its fillings."""
    plain = reply.strip()
    if plain in admissible and not has_blank(plain):
        return ParsedAction(plain, How.EXACT)
    text = _tidy(_find_action_line(split_thoughts(reply).text))
    if not text:
        return ParsedAction(None, How.INVALID)
    command = _find_same(text, admissible)
    if command is not None:
        return ParsedAction(command, How.NORMALIZED)
    number = _NUMBER.fullmatch(text)
    if number is not None:
        position = int(number.group(1))
        if 1 <= position <= len(admissible) and not has_blank(admissible[position - 1]):
            return ParsedAction(admissible[position - 1], How.NUMBER)
        return ParsedAction(None, How.INVALID)
    contained = _find_contained(text, admissible)
    return ParsedAction(contained, How.INVALID if contained is None else How.CONTAINED)


def _find_action_line(text: str) -> str:
    """The text after the last `Action:`, or else the whole text."""
    lines = _FENCE.sub(" ", text).splitlines()
    for place in range(len(lines) - 1, -1, -1):
        after = _read_after_action(lines[place])
        if after is not None:
            rest = [after] if after.strip(" \t*_`\"'") else lines[place + 1 :]
            return next((line for line in rest if line.strip()), "")
    return text


def _read_after_action(line: str) -> str | None:
    """The text after `Action:` at the beginning of a line, decorated or not; None without it."""
    word = line.lstrip(_BEFORE_ACTION)
    if word[:6].lower() != "action":
        return None
    colon = word[6:].lstrip(_AROUND_COLON)
    return colon[1:].lstrip(_AROUND_COLON) if colon.startswith(":") else None


def _tidy(text: str) -> str:
    """One line without fences, quotes, stars, a leading `>` and punctuation at the end."""
    text = " ".join(_FENCE.sub(" ", text).split())
    return text.lstrip(">*_`\"'“”‘’ ").rstrip(".,;:!*_`\"'“”‘’ ")


def _find_same(text: str, admissible: Sequence[str]) -> str | None:
    wanted = text.casefold()
    for command in admissible:
        if has_blank(command):
            if matcher(command).fits(text):
                return text
        elif _tidy(command).casefold() == wanted:
            return command
    return None


def _find_contained(text: str, admissible: Sequence[str]) -> str | None:
    """The longest command that the text contains as whole words, if no other is as long."""
    found: dict[str, int] = {}
    small = lower_case(text)
    for command in admissible:
        wanted = matcher(command)
        for start, end in wanted.occurrences(text, small):
            if not (_is_word(text, start - 1) or _is_word(text, end)):
                found[text[start:end] if wanted.has_blank else command] = end - start
    longest = max(found.values(), default=0)
    fitting = [command for command, length in found.items() if length == longest]
    return fitting[0] if len(fitting) == 1 else None


def _is_word(text: str, place: int) -> bool:
    return 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")
