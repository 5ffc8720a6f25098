"""Talking to the agent under test: one connection per game, one card for all of them.

The card is fetched once. Each game has a client and a context id of its own, so
that games at once do not queue behind each other and no agent has to make up
ids. Time limits are the caller's: an HTTP read timeout starts anew with every
byte that arrives.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

import httpx

from agentquest.a2a.addresses import AllowList, same_place
from agentquest.a2a.card_reading import (
    Card,
    Interface,
    agent_address,
    card_addresses,
    reachable,
    read_card,
)
from agentquest.a2a.remote_agent import RemoteReply
from agentquest.a2a.replies import AgentError, Said, Turn, kinds_of, read_result, take_in
from agentquest.a2a.transport import AccessDenied, AgentBroken, AgentHttp, AgentUnreachable
from agentquest.a2a.usage import read_calls
from agentquest.a2a.wire import Call, MessageIds, send_call, task_call
from agentquest.errors import AgentQuestError
from agentquest.reports.safe_text import one_line

BUSY_WAITS_S = (0.5, 1.0, 2.0, 4.0, 8.0)
_POLL_S = (0.05, 0.1, 0.2, 0.5, 1.0)
_UNFINISHED = ("submitted", "working", "")
_ANSWERED = ("completed", "input-required")
# JSON-RPC codes and HTTP statuses of an agent that only streams.
_NO_SUCH_METHOD = (-32601, -32004)
_NO_SUCH_PATH = (404, 405, 501)
_SILENT_GAMES = 5


class SilentAgent(AgentBroken):
    """The agent left so many games unanswered that no further game is started."""


class RemoteParty:
    """An agent that was found: its card, and what all its games share."""

    def __init__(self, url: str, card: Card, new_http: Callable[[], AgentHttp]) -> None:
        self.url = url
        self.card = card
        self.new_http = new_http
        self._silent_games = 0
        self.streams_only = False
        self.denied: str | None = None

    def connect(self) -> "A2AConversation":
        """Raises if continuing is pointless: each further game would only waste its time."""
        if self.denied is not None:
            raise AccessDenied(f"not called again: {self.denied}")
        if self._silent_games >= _SILENT_GAMES:
            raise SilentAgent(f"not called again: no answer in {_SILENT_GAMES} games in a row")
        return A2AConversation(self)

    @property
    def interface(self) -> Interface:
        """Where, and in which version of the protocol, the agent is asked."""
        return self.card.interfaces[0]

    def game_over(self, silent: bool) -> None:
        """A game has ended; `silent` when it waited in vain."""
        self._silent_games = self._silent_games + 1 if silent else 0


async def find_agent(
    url: str,
    patience_s: float,
    headers: Mapping[str, str] | None = None,
    allowed: AllowList | None = None,
    busy_waits_s: tuple[float, ...] = BUSY_WAITS_S,
    silence_s: float | None = None,
) -> RemoteParty:
    """Fetch the card; an agent that is just starting is waited for.

    The card may name other addresses than `url`: those on its own server are asked, others
    only if they are `allowed`.
    """
    tls = httpx.create_ssl_context()
    new_http = partial(AgentHttp, url, tls, dict(headers or {}), busy_waits_s, silence_s)
    http = new_http()
    try:
        content = await asyncio.wait_for(_fetched(http, url, patience_s), patience_s)
    except asyncio.TimeoutError:
        raise AgentUnreachable(f"{url}: no agent card within {patience_s:g} s") from None
    finally:
        await http.close()
    try:
        card = reachable(read_card(content), url)
    except ValueError as error:
        raise AgentBroken(f"{url}: not a usable A2A agent card: {error}") from None
    return RemoteParty(url, _allowed(card, url, allowed or AllowList([url])), new_http)


def _allowed(card: Card, url: str, allowed: AllowList) -> Card:
    """The card with addresses that may be asked.

    Behind a gateway, and in containers, cards name addresses that only their own machine
    can use. Where no address of a card's may be asked, the one that was given is.
    """
    interfaces = card.interfaces
    spoken = [one for one in interfaces if same_place(one.url, url) or allowed.allows(one.url)]
    if not spoken:
        spoken = [replace(one, url=agent_address(url)) for one in interfaces]
    return replace(card, interfaces=tuple(spoken))


async def _fetched(http: AgentHttp, url: str, patience_s: float) -> Any:
    """The content of the first card there is."""
    deadline = asyncio.get_running_loop().time() + patience_s
    while True:
        try:
            return await card_content(http, url)
        except AgentUnreachable as error:
            if deadline - asyncio.get_running_loop().time() < 0.5:
                raise AgentUnreachable(f"{url}: {error}") from None
        await asyncio.sleep(0.25)


async def card_content(http: AgentHttp, url: str) -> Any:
    """What is where a card should be; raises AgentBroken, AgentUnreachable."""
    problems = []
    for address in card_addresses(url):
        try:
            return await http.json(Call("GET", address, {"Accept": "application/json"}))
        except AccessDenied as error:
            raise AccessDenied(f"{url}: no A2A agent card: {error}", error.status) from None
        except AgentBroken as error:
            problems.append(error)
    raise AgentBroken(f"{url}: no A2A agent card: {problems[0]}")


class A2AConversation:
    """One game's turns with the agent."""

    def __init__(self, party: RemoteParty) -> None:
        self._party = party
        self._interface = party.interface
        self._http = party.new_http()
        self._context_id = str(uuid4())
        self._task_id = ""
        self._known: dict[str, Said] = {}
        self._is_silent = False

    async def say(self, text: str) -> RemoteReply:
        """Send one turn; what was answered."""
        ids = MessageIds(str(uuid4()), self._context_id, self._task_id)
        # Stays so where whoever sets the time limit gives up.
        self._is_silent = True
        try:
            turn = await self._finished(await self._sent(ids, text), ids)
        except AgentError as error:
            self._is_silent = False
            raise AgentBroken(one_line(str(error)[:1000])) from None
        except AgentQuestError as error:
            self._is_silent = False
            if isinstance(error, AccessDenied):
                self._party.denied = str(error)
            raise
        self._is_silent = False
        return self._read(turn)

    async def close(self) -> None:
        """Tell the party that this game is over, and close its connection."""
        self._party.game_over(self._is_silent)
        await self._http.close()

    async def _sent(self, ids: MessageIds, text: str) -> Turn:
        if not self._party.streams_only:
            try:
                content = await self._http.json(send_call(self._interface, ids, text))
                return _turn(content, ids)
            except (AgentError, AgentBroken) as error:
                if not (self._party.card.streaming and _is_missing(error)):
                    raise
                self._party.streams_only = True
        turn = Turn()
        async for event in self._http.events(send_call(self._interface, ids, text, stream=True)):
            take_in(turn, read_result(event), ids.message)
            if turn.message is not None or turn.state not in _UNFINISHED:
                break
        return turn

    async def _finished(self, turn: Turn, ids: MessageIds) -> Turn:
        """The task once it is answered, for agents that answer before they are done."""
        polls = 0
        began = asyncio.get_running_loop().time()
        while turn.message is None and turn.task_id and turn.state in _UNFINISHED:
            await asyncio.sleep(_POLL_S[min(polls, len(_POLL_S) - 1)])
            polls += 1
            self._http.check_silence(asyncio.get_running_loop().time() - began)
            content = await self._http.json(task_call(self._interface, turn.task_id))
            take_in(turn, read_result(content), ids.message)
        return turn

    def _read(self, turn: Turn) -> RemoteReply:
        if turn.message is None and turn.state not in _ANSWERED:
            told = "".join(turn.status.pieces)[:500] if turn.status else ""
            named = turn.state or "nothing"
            raise AgentBroken(
                f"the agent's task ended as {one_line(named[:50])}:"
                f" {one_line(told) or 'no reason given'}"
            )
        said = self._words(turn)
        goes_on = turn.message is None and turn.state == "input-required"
        self._task_id = turn.task_id if goes_on else ""
        return RemoteReply(
            text="".join(said.pieces),
            by_lines="\n".join(said.pieces),
            parts=kinds_of(said.seen),
            calls=read_calls(turn.metadata),
        )

    def _words(self, turn: Turn) -> Said:
        """Where the answer is: a message, new artifacts, the status, else the task's history."""
        if turn.message is not None:
            # The parts of a message are separate things; those of an artifact may be pieces.
            return Said(("\n".join(turn.message.pieces),), turn.message.seen)
        if turn.task_id != self._task_id:
            self._known = {}
        # A task that goes on keeps the artifacts of its earlier turns.
        new = [said for key, said in turn.artifacts.items() if self._known.get(key) != said]
        self._known = dict(turn.artifacts)
        texts = [said for said in new if said]
        if len(texts) == 1:
            return texts[0]
        if texts:
            return Said(("\n".join("".join(said.pieces) for said in texts),), ())
        seen = tuple(kind for said in new for kind in said.seen)
        return turn.status or turn.spoken or Said((), seen)


def _turn(content: Any, ids: MessageIds) -> Turn:
    turn = Turn()
    for one in content if isinstance(content, list) else [content]:
        take_in(turn, read_result(one), ids.message)
    return turn


def _is_missing(error: Exception) -> bool:
    if isinstance(error, AgentError):
        return error.code in _NO_SUCH_METHOD
    return isinstance(error, AgentBroken) and error.status in _NO_SUCH_PATH
