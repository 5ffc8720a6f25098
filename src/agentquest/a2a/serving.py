"""Serving one agent over HTTP until it is told to stop: A2A on top of `agentquest.http`.

A server remembers tasks for the client that asked for them. A client is known by
its token or, without one, by its connection. Without a token a task can still be
read and cancelled over another connection, but only by its id, which cannot be
guessed; lists contain only one's own tasks.

A launched agent also stops when its launcher is gone for whatever reason: the
launcher holds the other end of its standard input.
"""

import hashlib
import json
import logging
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from a2a.auth.user import User
from a2a.server.agent_execution import AgentExecutor
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.routes.common import DefaultServerCallContextBuilder
from a2a.server.tasks import InMemoryTaskStore, TaskStore
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentSkill,
    ListTasksRequest,
    ListTasksResponse,
    Task,
    TaskState,
)
from starlette.applications import Starlette
from starlette.requests import Request

from agentquest.a2a import limits
from agentquest.a2a.client.cards import CARD_PATHS, LAUNCH_EXTENSION, MODEL_EXTENSION
from agentquest.http.access import Access
from agentquest.http.connections import ConnectionLimits
from agentquest.http.guard import Names, Refused, Rules, guard_app
from agentquest.http.serving import Served, Serving
from agentquest.http.sessions import SessionStore, Stage
from agentquest.http.sockets import LOOPBACK, write_url
from agentquest.version import __version__

_MODES = ["text", "text/plain"]
_ANONYMOUS = "connection "
# This machine, and an address elsewhere that is reserved for examples.
_EXAMPLES = {socket.AF_INET: (LOOPBACK, "192.0.2.1"), socket.AF_INET6: ("::1", "2001:db8::1")}
_OVER = (
    TaskState.TASK_STATE_COMPLETED,
    TaskState.TASK_STATE_CANCELED,
    TaskState.TASK_STATE_FAILED,
    TaskState.TASK_STATE_REJECTED,
)


@dataclass(frozen=True)
class ServerSettings:
    """Where an agent is served, and for whom.

    `card_url` is how others reach it, if not by host and port. Requests must use the name of
    its address, of its card, or one of the further names (`*` for any), and carry the token,
    if there is one, as `Authorization: Bearer`. `launch_id` is that of the launch, if any.
    """

    access: Access
    port: int = 0
    card_url: str | None = None
    launch_id: str | None = None

    def url(self, sock: socket.socket) -> str:
        """The address on the card: one that other machines can reach, if any can."""
        given = self.card_url or os.environ.get("AGENT_URL")
        if given:
            return given
        bound, port = sock.getsockname()[:2]
        is_everywhere = ip_address(bound).is_unspecified
        host = _find_outward_address(sock.family) if is_everywhere else self.access.host
        return f"{write_url(host, port)}/"

    def rules(self, sock: socket.socket) -> Rules:
        """What requests must have: the right name and token, JSON, and a small enough body."""
        access, on_card = self.access, urlsplit(self.url(sock)).hostname or ""
        return Rules(
            Names(access.host, [on_card, *access.names]),
            max_body=limits.MAX_BODY_BYTES,
            json_only=True,
            token=access.token,
            open_paths=CARD_PATHS,
            check_body=refuse_unsendable,
        )


def refuse_unsendable(body: bytes) -> None:
    """Refuse what the SDK takes for a fault of its own; what is no JSON at all it says itself."""
    try:
        json.dumps(json.loads(body), ensure_ascii=False, allow_nan=False).encode()
    except json.JSONDecodeError:
        return
    except RecursionError:
        raise Refused(400, "the body is nested too deeply") from None
    except ValueError as error:  # such as half a surrogate pair, no UTF-8, a number without end
        raise Refused(400, f"the body cannot be read: {error}") from None


def build_card(
    name: str,
    description: str,
    skill: AgentSkill,
    url: str,
    launch_id: str | None,
    model: str | None = None,
) -> AgentCard:
    """The card of one of our agents: both protocol versions on one URL."""
    said = {LAUNCH_EXTENSION: launch_id, MODEL_EXTENSION: model}
    extensions = [AgentExtension(uri=uri, description=text) for uri, text in said.items() if text]
    return AgentCard(
        name=name,
        description=description,
        version=__version__,
        default_input_modes=_MODES,
        default_output_modes=_MODES,
        capabilities=AgentCapabilities(streaming=True, extensions=extensions),
        skills=[skill],
        # Clients of protocol 0.3, such as AgentBeats, find the second one.
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version)
            for version in ("1.0", "0.3")
        ],
    )


def build_application(card: AgentCard, executor: AgentExecutor) -> Starlette:
    """Both protocol versions on `/`, and the card where either version looks for it."""
    handler = DefaultRequestHandler(
        agent_executor=executor, task_store=OwnedTaskStore(), agent_card=card
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        # Cancels running assessments, so that their documents say so.
        await handler.aclose()

    cards = [create_agent_card_routes(card, card_url=path)[0] for path in CARD_PATHS]
    calls = create_jsonrpc_routes(
        handler, "/", context_builder=_ClientContexts(), enable_v0_3_compat=True
    )
    return Starlette(routes=[*cards, *calls], lifespan=lifespan)


def serve_agent(
    settings: ServerSettings,
    make_card: Callable[[str, str | None], AgentCard],
    executor: AgentExecutor,
    say: Callable[[str], None],
    resources: AbstractAsyncContextManager[None] | None = None,
) -> None:
    """Serve until SIGINT, SIGTERM or, for a launched agent, the launcher's end.

    `make_card` is given the agent's address and the launch's id; `resources` are open meanwhile.
    """
    # The SDK logs a traceback for every malformed request, and clients must not fill a log.
    logging.getLogger("a2a").setLevel(logging.CRITICAL)
    with settings.access.listen(settings.port) as sock:
        url = settings.url(sock)
        card = make_card(url, settings.launch_id)
        app = guard_app(build_application(card, executor), settings.rules(sock))
        serving = Serving([Served(app, sock)], ConnectionLimits(grace_s=limits.SHUTDOWN_S))
        say(f"{card.name} at {url} (port {sock.getsockname()[1]}); Ctrl-C stops it")
        if settings.launch_id is not None:
            threading.Thread(target=_stop_with_launcher, args=(serving,), daemon=True).start()
        serving.run_to_end(resources)


def _find_outward_address(family: socket.AddressFamily) -> str:
    """This machine's address in its network; nothing is sent to find it."""
    here, there = _EXAMPLES[family]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((there, 9))
            return str(probe.getsockname()[0])
        except OSError:
            return here


def _stop_with_launcher(serving: Serving) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    serving.stop()


class TaskOwner(User):
    """The client that sent a request."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def is_authenticated(self) -> bool:
        return not self._name.startswith(_ANONYMOUS)

    @property
    def user_name(self) -> str:
        return self._name


def machine_of(client: str) -> str:
    """The machine of a client that is known by its connection; the same for all with tokens."""
    return client.rpartition(" ")[0]


class _ClientContexts(DefaultServerCallContextBuilder):
    """Knows clients by their Authorization header, or else by their connection."""

    def build_user(self, request: Request) -> User:
        given = request.headers.get("authorization")
        if given:
            return TaskOwner(hashlib.sha256(given.encode()).hexdigest())
        host, port = request.client or ("", 0)
        return TaskOwner(f"{_ANONYMOUS}{host} {port}")


class _OwnedTask(NamedTuple):
    """A task's id, and a context with the client that asked for it."""

    task_id: str
    owner: ServerCallContext

    def is_visible_to(self, client: User) -> bool:
        owner = self.owner.user
        if owner.is_authenticated or client.is_authenticated:
            return bool(owner.user_name == client.user_name)
        return True


class OwnedTaskStore(TaskStore):
    """Keeps tasks in memory, each for its owner; others are answered as if there were none.

    Their number is limited, and for how long each is kept after its end; running tasks stay.
    """

    def __init__(self) -> None:
        self._tasks = InMemoryTaskStore()
        self._owned = SessionStore[str, _OwnedTask](limits.MAX_TASKS, limits.FINISHED_TASK_S)

    def __len__(self) -> int:
        return len(self._owned)

    async def save(self, task: Task, context: ServerCallContext) -> None:
        # Progress messages are part of a task's history. It is shortened in place, because the
        # SDK goes on with this object.
        del task.history[: len(task.history) - limits.MAX_TASK_HISTORY]
        owned, forgotten = self._owned.peek(task.id), self._owned.expire()
        if owned is None:
            owned = _OwnedTask(task.id, ServerCallContext(user=context.user))
            name = context.user.user_name
            forgotten += self._owned.add(task.id, owned, machine_of(name), name)
        is_over = task.status.state in _OVER
        self._owned.mark(task.id, Stage.FINISHED if is_over else Stage.BUSY)
        await self._tasks.save(task, owned.owner)
        for one in forgotten:
            await self._tasks.delete(one.task_id, one.owner)

    async def get(self, task_id: str, context: ServerCallContext) -> Task | None:
        owned = self._find(task_id, context)
        return None if owned is None else await self._tasks.get(task_id, owned.owner)

    async def list(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        return await self._tasks.list(params, context)

    async def delete(self, task_id: str, context: ServerCallContext) -> None:
        owned = self._find(task_id, context)
        if owned is not None:
            self._owned.remove(task_id)
            await self._tasks.delete(task_id, owned.owner)

    def _find(self, task_id: str, context: ServerCallContext) -> _OwnedTask | None:
        owned = self._owned.peek(task_id)
        return owned if owned is not None and owned.is_visible_to(context.user) else None
