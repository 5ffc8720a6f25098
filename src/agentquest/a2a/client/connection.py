"""Talking to the agent under test: one card for all games, one connection for each.

Each game has its own HTTP client and context id, so that games at once do not
queue behind each other and no agent has to make up ids. Time limits are the
caller's: an HTTP read timeout starts again with every byte that arrives.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

import httpx

from agentquest.a2a import limits
from agentquest.a2a.addresses import AllowList, origin_of
from agentquest.a2a.client.cards import (
    Card,
    Interface,
    agent_address,
    card_addresses,
    make_reachable,
    read_card,
)
from agentquest.a2a.client.transport import (
    AccessDenied,
    AgentBroken,
    AgentHttp,
    AgentUnreachable,
)
from agentquest.a2a.client.wire import (
    AgentError,
    HttpRequest,
    MessageIds,
    PartsContent,
    PendingReply,
    RemoteReply,
    add_result,
    describe_kinds,
    read_result,
    write_message,
    write_task_query,
)
from agentquest.a2a.messages import read_usage
from agentquest.safe_text import one_line

_UNFINISHED = ("submitted", "working", "")
_ANSWERED = ("completed", "input-required")
# JSON-RPC codes and HTTP statuses of an agent that only streams.
_NO_SUCH_METHOD = (-32601, -32004)
_NO_SUCH_PATH = (404, 405, 501)


class SilentAgent(AgentBroken):
    """The agent left so many games unanswered that no further game is started."""


class A2AEndpoint:
    """An agent that was found: its card, and what all its games share."""

    def __init__(self, card: Card, new_http: Callable[[], AgentHttp]) -> None:
        self.card = card
        self.new_http = new_http
        self.streams_only = False
        self.denial: str | None = None
        self._silent_games = 0

    def connect(self) -> "A2AConnection":
        """A connection for one game; raises if every further game would only waste its time."""
        if self.denial is not None:
            raise AccessDenied(f"not called again: {self.denial}")
        if self._silent_games >= limits.SILENT_GAMES:
            raise SilentAgent(
                f"not called again: no answer in {limits.SILENT_GAMES} games in a row"
            )
        return A2AConnection(self)

    @property
    def interface(self) -> Interface:
        """Where, and in which version of the protocol, the agent is asked."""
        return self.card.interfaces[0]

    def count_game(self, silent: bool) -> None:
        """Note that a game has ended; `silent` if it waited in vain."""
        self._silent_games = self._silent_games + 1 if silent else 0


async def find_agent(
    url: str,
    patience_s: float,
    headers: Mapping[str, str] | None = None,
    allowed: AllowList | None = None,
    silence_s: float | None = None,
) -> A2AEndpoint:
    """Fetch the agent's card, waiting for an agent that is just starting.

    The card may name other addresses than `url`: those of its origin are used, others only if
    they are `allowed` by name, and then without the headers.
    """
    tls = httpx.create_ssl_context()
    new_http = partial(AgentHttp, url, tls, dict(headers or {}), silence_s)
    http = new_http()
    try:
        content = await asyncio.wait_for(_wait_for_card(http, url, patience_s), patience_s)
    except asyncio.TimeoutError:
        raise AgentUnreachable(f"{url}: no agent card within {patience_s:g} s") from None
    finally:
        await http.close()
    try:
        card = make_reachable(read_card(content), url)
    except ValueError as error:
        raise AgentBroken(f"{url}: not a usable A2A agent card: {error}") from None
    return A2AEndpoint(restrict_card(card, url, allowed or AllowList()), new_http)


def restrict_card(card: Card, url: str, allowed: AllowList) -> Card:
    """The card with only those addresses that may be called.

    Behind a gateway and in containers, cards name addresses that only their own machine can
    use. If none of a card's addresses may be called, the one that was given is.
    """
    interfaces = card.interfaces
    callable_ones = [
        one for one in interfaces if origin_of(one.url) == origin_of(url) or allowed.names(one.url)
    ]
    if not callable_ones:
        callable_ones = [replace(one, url=agent_address(url)) for one in interfaces]
    return replace(card, interfaces=tuple(callable_ones))


async def _wait_for_card(http: AgentHttp, url: str, patience_s: float) -> Any:
    deadline = asyncio.get_running_loop().time() + patience_s
    while True:
        try:
            return await _fetch_card(http, url)
        except AgentUnreachable as error:
            if deadline - asyncio.get_running_loop().time() < 0.5:
                raise AgentUnreachable(f"{url}: {error}") from None
        await asyncio.sleep(0.25)


async def _fetch_card(http: AgentHttp, url: str) -> Any:
    """The content of the first card there is; raises AgentBroken, AgentUnreachable."""
    problems = []
    for address in card_addresses(url):
        try:
            return await http.json(HttpRequest("GET", address, {"Accept": "application/json"}))
        except AccessDenied as error:
            raise AccessDenied(f"{url}: no A2A agent card: {error}", error.status) from None
        except AgentBroken as error:
            problems.append(error)
    raise AgentBroken(f"{url}: no A2A agent card: {problems[0]}")


class A2AConnection:
    """One game's turns with the agent."""

    def __init__(self, endpoint: A2AEndpoint) -> None:
        self._endpoint = endpoint
        self._interface = endpoint.interface
        self._http = endpoint.new_http()
        self._context_id = str(uuid4())
        self._task_id = ""
        self._known_artifacts: dict[str, PartsContent] = {}
        self._is_silent = False

    async def send(self, text: str) -> RemoteReply:
        """Send one turn and wait for its answer."""
        ids = MessageIds(str(uuid4()), self._context_id, self._task_id)
        try:
            reply = await self._finish(await self._send(ids, text), ids)
        except asyncio.CancelledError:
            self._is_silent = True  # the caller's time limit
            raise
        except AgentError as error:
            raise AgentBroken(one_line(str(error)[:1000])) from None
        except AccessDenied as error:
            self._endpoint.denial = str(error)
            raise
        return self._read(reply)

    async def close(self) -> None:
        """End this game and close its connection."""
        self._endpoint.count_game(self._is_silent)
        await self._http.close()

    async def _send(self, ids: MessageIds, text: str) -> PendingReply:
        endpoint = self._endpoint
        try:
            return await self._send_once(ids, text, endpoint.streams_only)
        except (AgentError, AgentBroken) as error:
            if isinstance(error, AgentError):
                is_missing = error.code in _NO_SUCH_METHOD
            else:
                is_missing = error.status in _NO_SUCH_PATH
            if not is_missing or not endpoint.card.streaming or endpoint.streams_only:
                raise
        endpoint.streams_only = True
        return await self._send_once(ids, text, stream=True)

    async def _send_once(self, ids: MessageIds, text: str, stream: bool) -> PendingReply:
        reply = PendingReply()
        request = write_message(self._interface, ids, text, stream=stream)
        async with aclosing(self._http.events(request)) as events:
            async for event in events:
                add_result(reply, read_result(event), ids.message)
                if reply.message is not None or reply.state not in _UNFINISHED:
                    break
        return reply

    async def _finish(self, reply: PendingReply, ids: MessageIds) -> PendingReply:
        """Poll the task of an agent that answers before it is done."""
        polls = 0
        start = asyncio.get_running_loop().time()
        while reply.message is None and reply.task_id and reply.state in _UNFINISHED:
            await asyncio.sleep(limits.POLL_WAITS_S[min(polls, len(limits.POLL_WAITS_S) - 1)])
            polls += 1
            self._http.check_silence(asyncio.get_running_loop().time() - start)
            content = await self._http.json(write_task_query(self._interface, reply.task_id))
            add_result(reply, read_result(content), ids.message)
        return reply

    def _read(self, reply: PendingReply) -> RemoteReply:
        if reply.message is None and reply.state not in _ANSWERED:
            reason = "".join(reply.status.pieces)[:500] if reply.status else ""
            state = reply.state or "nothing"
            raise AgentBroken(
                f"the agent's task ended as {one_line(state[:50])}:"
                f" {one_line(reason) or 'no reason given'}"
            )
        content = self._find_content(reply)
        continues = reply.message is None and reply.state == "input-required"
        self._task_id = reply.task_id if continues else ""
        return RemoteReply(
            text="".join(content.pieces),
            by_lines="\n".join(content.pieces),
            parts=describe_kinds(content.kinds),
            calls=read_usage(reply.metadata),
        )

    def _find_content(self, reply: PendingReply) -> PartsContent:
        """The answer: a message, new artifacts, the status, or else the task's history."""
        if reply.message is not None:
            # The parts of a message are separate things; those of an artifact may be pieces.
            return PartsContent(("\n".join(reply.message.pieces),), reply.message.kinds)
        if reply.task_id != self._task_id:
            self._known_artifacts = {}
        # A task that continues keeps the artifacts of its earlier turns.
        known, self._known_artifacts = self._known_artifacts, dict(reply.artifacts)
        new = [content for key, content in reply.artifacts.items() if known.get(key) != content]
        texts = [content for content in new if content]
        if len(texts) == 1:
            return texts[0]
        if texts:
            return PartsContent(("\n".join("".join(content.pieces) for content in texts),), ())
        kinds = tuple(kind for content in new for kind in content.kinds)
        return reply.status or reply.history or PartsContent((), kinds)
