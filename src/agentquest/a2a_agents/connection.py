"""Talking to the agent under test: one connection a game, one card for all of them.

The card is fetched once. Each game has a client and a context id of its own, so
that games at once do not queue behind each other and no agent has to make up
ids. Time limits are the caller's: an HTTP read timeout starts anew with every
byte that arrives.
"""

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator
from typing import cast
from urllib.parse import SplitResult, urlsplit, urlunsplit
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.client.errors import AgentCardResolutionError
from a2a.helpers import get_artifact_text, get_message_text
from a2a.types import (
    AgentCard,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from a2a.utils.constants import TransportProtocol
from a2a.utils.errors import A2AError

from agentquest.errors import AgentQuestError

MAX_RESPONSE_BYTES = 8 * 1024 * 1024
_CONNECT_S = 10.0
_RETRY_WAITS_S = (0.2, 0.8)
_POLL_S = (0.05, 0.1, 0.2, 0.5, 1.0)
_UNFINISHED = (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)
_ANSWERED = (TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_INPUT_REQUIRED)


class AgentUnreachable(AgentQuestError):
    """No connection to the agent."""


class AgentBroken(AgentQuestError):
    """The agent answered, but not in the protocol, or with a failure."""


class RemoteParty:
    """An agent that was found: its card, and what all connections to it share."""

    def __init__(self, url: str, card: AgentCard, tls: ssl.SSLContext) -> None:
        self.url = url
        self.card = card
        self._tls = tls

    def connect(self) -> "Conversation":
        http = _http_client(self._tls)
        factory = ClientFactory(
            ClientConfig(
                streaming=False,
                httpx_client=http,
                supported_protocol_bindings=[
                    TransportProtocol.JSONRPC,
                    TransportProtocol.HTTP_JSON,
                ],
            )
        )
        return Conversation(factory.create(self.card), http)


async def find_agent(url: str, patience_s: float) -> RemoteParty:
    """Fetch the card; an agent that is just starting is waited for."""
    tls = httpx.create_ssl_context()
    deadline = asyncio.get_running_loop().time() + patience_s
    async with _http_client(tls) as http:
        while True:
            left = deadline - asyncio.get_running_loop().time()
            try:
                fetch = A2ACardResolver(http, url).get_agent_card()
                card = await asyncio.wait_for(fetch, max(left, 0.1))
                break
            except asyncio.TimeoutError:
                raise AgentUnreachable(f"{url}: no agent card within {patience_s:g} s") from None
            except AgentCardResolutionError as error:
                if not isinstance(error.__cause__, httpx.ConnectError):
                    raise AgentBroken(f"{url}: no A2A agent card: {error}") from None
                if left < 0.5:
                    raise AgentUnreachable(f"{url}: {error.__cause__}") from None
                await asyncio.sleep(0.25)
    party = RemoteParty(url, _reachable(card, url), tls)
    try:
        await party.connect().close()
    except ValueError as error:
        raise AgentBroken(f"{url}: the card offers no transport we speak: {error}") from None
    return party


class Conversation:
    """One game's turns with the agent."""

    def __init__(self, client: Client, http: httpx.AsyncClient) -> None:
        self._client = client
        self._http = http
        self._context_id = str(uuid4())
        self._task_id = ""
        self._known_artifacts: dict[str, str] = {}

    async def say(self, text: str) -> str:
        """Send one turn; the text of the answer."""
        message = Message(
            role=Role.ROLE_USER,
            message_id=str(uuid4()),
            context_id=self._context_id,
            task_id=self._task_id,
            parts=[Part(text=text)],
        )
        response = await self._send(SendMessageRequest(message=message))
        if response.HasField("message"):
            self._task_id = ""
            return get_message_text(response.message)
        return self._read(await self._finished(response.task))

    async def close(self) -> None:
        await self._http.aclose()

    async def _send(self, request: SendMessageRequest) -> StreamResponse:
        """Retried only while no connection was made: a turn must never be played twice."""
        for wait in (*_RETRY_WAITS_S, None):
            try:
                # One answer: the client was told not to stream.
                return [response async for response in self._client.send_message(request)][-1]
            except (A2AError, ValueError) as error:
                if not isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout):
                    raise AgentBroken(_short(error)) from error
                if wait is None:
                    raise AgentUnreachable(_short(error)) from error
            await asyncio.sleep(wait)
        raise AssertionError("unreachable")

    async def _finished(self, task: Task) -> Task:
        """The task once it is answered, for agents that answer before they are done."""
        turn = 0
        while task.status.state in _UNFINISHED:
            await asyncio.sleep(_POLL_S[min(turn, len(_POLL_S) - 1)])
            turn += 1
            try:
                task = await self._client.get_task(GetTaskRequest(id=task.id))
            except (A2AError, ValueError) as error:
                raise AgentBroken(_short(error)) from error
        return task

    def _read(self, task: Task) -> str:
        state = task.status.state
        said = get_message_text(task.status.message) if task.status.HasField("message") else ""
        if state not in _ANSWERED:
            name = TaskState.Name(state).removeprefix("TASK_STATE_").lower()
            raise AgentBroken(
                f"the agent's task ended as {name}: {said[:500] or 'no reason given'}"
            )
        if task.id != self._task_id:
            self._known_artifacts = {}
        # A task that goes on keeps the artifacts of its earlier turns.
        texts = {artifact.artifact_id: get_artifact_text(artifact) for artifact in task.artifacts}
        new = [text for key, text in texts.items() if self._known_artifacts.get(key) != text]
        self._known_artifacts = texts
        self._task_id = task.id if state == TaskState.TASK_STATE_INPUT_REQUIRED else ""
        return "\n".join(new) if new else said


class _Bounded(httpx.AsyncHTTPTransport):
    """Ends a response that goes on beyond all reason."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        stream = cast(httpx.AsyncByteStream, response.stream)
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_Counted(stream),
            extensions=response.extensions,
        )


class _Counted(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_RESPONSE_BYTES:
                raise httpx.ReadError(f"the answer is longer than {MAX_RESPONSE_BYTES:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _http_client(tls: ssl.SSLContext) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=_Bounded(verify=tls), timeout=httpx.Timeout(None, connect=_CONNECT_S)
    )


def _reachable(card: AgentCard, url: str) -> AgentCard:
    """A card that names an address only its own machine understands, with ours instead."""
    given = urlsplit(url)
    for interface in card.supported_interfaces:
        named = urlsplit(interface.url)
        if _is_anywhere(named) or (_is_here(named) and not _is_here(given)):
            interface.url = urlunsplit(
                (given.scheme, given.netloc, named.path or "/", named.query, "")
            )
    return card


def _is_anywhere(parts: SplitResult) -> bool:
    return parts.hostname in ("0.0.0.0", "::")


def _is_here(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:1000]
