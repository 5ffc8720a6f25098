"""Which client plays which session.

A client is recognised by the X-Session header, by a text it sends as `session`, by the
cookie that a reset gives it, or by its connection. A number says what is played and not
by whom, so two clients with the same number have a session each. A client that sends
only numbers, over a new connection each time, is served as long as no other plays that
number; then the two cannot be distinguished, and are asked to identify themselves. All
clients that name nothing are one client, as on the original server.

A client has one session at a time. A number plays the goal of that number, a name
keeps the goal that was drawn for it, nothing draws the next of the server's sequence.
"""

import asyncio
import secrets
from collections import defaultdict
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException
from starlette.requests import Request

from agentquest.benchmarks.webshop.client import SESSION_HEADER
from agentquest.benchmarks.webshop.serving.requests import (
    SessionLimits,
    add_session,
    connection_of,
    read_session_name,
)
from agentquest.benchmarks.webshop.shop.sessions import Sessions
from agentquest.benchmarks.webshop.shop.shop import Shop, ShoppingSession
from agentquest.http.sessions import SessionStore, Stage

SessionName = int | str | None
Key = tuple[str, str]

COOKIE = "webshop_client"
_UNNAMED: Key = ("unnamed", "")


class _Sender:
    """What a request says about who sent it."""

    def __init__(self, request: Request) -> None:
        header = request.headers.get(SESSION_HEADER)
        self.name = read_session_name(header, f"the header {SESSION_HEADER}")
        self.cookie = request.cookies.get(COOKIE, "")
        self.connection = connection_of(request)


@dataclass
class ClientSession:
    """One client's session; `lock` keeps its steps in order."""

    key: Key
    session: ShoppingSession
    name: SessionName
    connection: str
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Clients:
    """All clients of one server, and their sessions."""

    def __init__(self, shop: Shop, limits: SessionLimits) -> None:
        self.shop = shop
        self._drawn = Sessions(shop, limits.max_sessions)  # the sequence of goals
        self._store = SessionStore[Key, ClientSession](limits.max_sessions, limits.session_ttl_s)
        # Clients that sent a number and nothing else, by the number and by their connection.
        self._by_number: dict[int, set[Key]] = defaultdict(set)
        self._by_connection: dict[str, Key] = {}

    def __len__(self) -> int:
        return len(self._store)

    def expire_regularly(self) -> AbstractAsyncContextManager[None]:
        """While this is open, idle sessions are dropped without a request."""
        return self._store.expire_regularly(self._forget_all)

    async def start(
        self, request: Request, name: SessionName
    ) -> tuple[ShoppingSession, str | None]:
        """The client's session, (re)started at the search page; and a cookie, if it needs one."""
        sender = _Sender(request)
        key = self._key(sender, name) or self._by_connection.get(sender.connection) or _new_key()
        known = self._store.get(key)
        if known is not None and known.name == name and isinstance(name, str):
            async with known.lock:
                known.session.restart()
            return known.session, None
        client = ClientSession(key, self._session(name), name, sender.connection)
        if known is not None:
            self._forget(known)
        await self._forget_all(add_session(self._store, key, client, request))
        if key[0] != "cookie":
            return client.session, None
        if isinstance(name, int):
            self._by_number[name].add(key)
        self._set_connection(client, sender.connection)
        return client.session, key[1]

    def find(self, request: Request, name: SessionName) -> ClientSession:
        """The session that a step is for."""
        sender = _Sender(request)
        key = self._key(sender, name) or self._find_anonymous(sender, name)
        client = None if key is None else self._store.get(key)
        if client is None:
            raise _no_session(sender, name)
        if name is not None and name not in (client.key[1], client.name):
            who = f"client {sender.name!r}" if sender.name else "this client"
            raise HTTPException(
                409,
                f"{who} plays session {client.name!r}, not {name!r};"
                " POST /reset with this session starts it",
            )
        self._set_connection(client, sender.connection)
        return client

    def mark_used(self, client: ClientSession) -> None:
        """Note that a step was made: sessions in use outlast those that were only started."""
        finished = client.session.bought is not None
        self._store.mark(client.key, Stage.FINISHED if finished else Stage.IN_USE)

    def _key(self, sender: _Sender, name: SessionName) -> Key | None:
        """The client that a request itself identifies; None if it does not."""
        if sender.name is not None:
            return "named", str(sender.name)
        cookie = ("cookie", sender.cookie)
        if cookie in self._store:
            return cookie
        if isinstance(name, str):
            return "named", name
        return _UNNAMED if name is None else None

    def _find_anonymous(self, sender: _Sender, name: SessionName) -> Key | None:
        """The anonymous client that plays this number: by its connection, or the only one."""
        if not isinstance(name, int):
            return None
        keys = self._by_number.get(name, set())
        here = self._by_connection.get(sender.connection)
        if here in keys:
            return here
        clients = [client for key in keys if (client := self._store.peek(key)) is not None]
        unfinished = [client for client in clients if client.session.bought is None]
        if len(unfinished) > 1:
            raise HTTPException(
                409,
                f"{len(unfinished)} clients play session {name}, and this request does not say"
                " which it is: send an X-Session header, or keep the cookie of /reset",
            )
        return next((client.key for client in unfinished or clients), None)

    def _set_connection(self, client: ClientSession, connection: str) -> None:
        """Remember over which connection an anonymous client asks now."""
        if client.key[0] == "cookie" and connection:
            if self._by_connection.get(client.connection) == client.key:
                del self._by_connection[client.connection]
            client.connection = connection
            self._by_connection[connection] = client.key

    async def _forget_all(self, clients: Iterable[ClientSession]) -> None:
        for client in clients:
            self._forget(client)

    def _forget(self, client: ClientSession) -> None:
        if self._by_connection.get(client.connection) == client.key:
            del self._by_connection[client.connection]
        if isinstance(client.name, int):
            self._by_number[client.name].discard(client.key)

    def _session(self, name: SessionName) -> ShoppingSession:
        if not isinstance(name, int):
            session = self._drawn.reset(name)
            if name is None:
                self._drawn.forget(session.id)
            return session
        count = len(self.shop.goals)
        if not 0 <= name < count:
            raise HTTPException(422, f"session {name}: goals are numbered 0 to {count - 1}")
        # Not kept with the others: there, session 5 would be the one whose name is the text "5".
        return self._drawn.make(str(name), self.shop.goals[name])


def _new_key() -> Key:
    return "cookie", secrets.token_urlsafe(16)


def _no_session(sender: _Sender, name: SessionName) -> HTTPException:
    if sender.name is None and name is None:
        return HTTPException(409, "there is no session yet: POST /reset starts one")
    named = sender.name if sender.name is not None else name
    return HTTPException(
        404,
        f"no session {named!r}: it was never started here, was idle for too long, or"
        " the server was restarted; POST /reset with the same session starts it",
    )
