"""Which client plays which session.

A client is told from others by the X-Session header, by a text it sends as
`session`, by the cookie that a reset gives it, or by its connection. A number says
what is played and not by whom, so that two clients with the same number have a
session each. Who sends numbers only, over a new connection each time, is served as
long as nobody else plays that number; after that nothing tells the two apart, and
they are asked to say who they are. Those that name nothing at all are one client,
as on the original server.

A client has one session at a time. A number plays the goal of that number, a name
keeps the goal that was drawn for it, nothing draws the next of the server's sequence.
"""

import asyncio
import secrets
from collections import defaultdict
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException

from agentquest.benchmarks.webshop.serving.kept import Full, Kept, Stage
from agentquest.benchmarks.webshop.serving.requests import Limits
from agentquest.benchmarks.webshop.shop.sessions import Sessions
from agentquest.benchmarks.webshop.shop.shop import Session, Shop

Wanted = int | str | None
Key = tuple[str, str]

_UNNAMED: Key = ("unnamed", "")


@dataclass(frozen=True)
class Client:
    """What a request says of who sent it."""

    name: str | None = None  # the X-Session header
    cookie: str | None = None
    address: str = ""
    connection: str = ""


@dataclass
class Shopper:
    """One client's session; `lock` keeps its steps in order."""

    key: Key
    session: Session
    wanted: Wanted
    connection: str
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Shoppers:
    """All clients of one server."""

    def __init__(self, shop: Shop, limits: Limits) -> None:
        self.shop = shop
        self._drawn = Sessions(shop, limits.max_sessions)  # the sequence of goals
        self.kept: Kept[Key, Shopper] = Kept(
            limits.max_sessions, limits.session_ttl_s, self._forgotten
        )
        # Clients that said a number and nothing else, by the number and by their connection.
        self._by_number: dict[int, set[Key]] = defaultdict(set)
        self._by_connection: dict[str, Key] = {}

    def __len__(self) -> int:
        return len(self.kept)

    async def start(self, client: Client, wanted: Wanted) -> tuple[Session, str | None]:
        """The client's session, (re)started at the search page; and a cookie, if it needs one."""
        key = self._key(client, wanted) or self._by_connection.get(client.connection) or _new_key()
        known = self.kept.get(key)
        if known is not None and known.wanted == wanted and isinstance(wanted, str):
            async with known.lock:
                known.session.restart()
            return known.session, None
        shopper = Shopper(key, self._session(wanted), wanted, client.connection)
        if known is not None:
            self._forgotten(key, known)
        try:
            self.kept.put(key, shopper, client.address, client.connection)
        except Full as error:
            text = f"{error}; try again in a few minutes"
            raise HTTPException(503, text, {"Retry-After": "60"}) from error
        if key[0] != "cookie":
            return shopper.session, None
        if isinstance(wanted, int):
            self._by_number[wanted].add(key)
        self._moved(shopper, client.connection)
        return shopper.session, key[1]

    def find(self, client: Client, wanted: Wanted) -> Shopper:
        """The shopper that a step is for."""
        key = self._key(client, wanted) or self._playing(client, wanted)
        shopper = None if key is None else self.kept.get(key)
        if shopper is None:
            raise _no_session(client, wanted)
        if wanted is not None and wanted not in (shopper.key[1], shopper.wanted):
            name = f"client {client.name!r}" if client.name else "this client"
            raise HTTPException(
                409,
                f"{name} plays session {shopper.wanted!r}, not {wanted!r};"
                " POST /reset with this session starts it",
            )
        self._moved(shopper, client.connection)
        return shopper

    def stepped(self, shopper: Shopper) -> None:
        """A step was made: who plays keeps their place before those who only started."""
        over = shopper.session.bought is not None
        self.kept.mark(shopper.key, Stage.OVER if over else Stage.USED)

    def _key(self, client: Client, wanted: Wanted) -> Key | None:
        """Who asks, as far as the request itself says."""
        if client.name is not None:
            return "named", client.name
        cookie = ("cookie", client.cookie or "")
        if self.kept.peek(cookie) is not None:
            return cookie
        if isinstance(wanted, str):
            return "named", wanted
        return _UNNAMED if wanted is None else None

    def _playing(self, client: Client, wanted: Wanted) -> Key | None:
        """The anonymous client that plays this number: by its connection, or the only one."""
        if not isinstance(wanted, int):
            return None
        keys = self._by_number.get(wanted, set())
        here = self._by_connection.get(client.connection)
        if here in keys:
            return here
        shoppers = [shopper for key in keys if (shopper := self.kept.peek(key)) is not None]
        going_on = [shopper for shopper in shoppers if shopper.session.bought is None]
        if len(going_on) > 1:
            raise HTTPException(
                409,
                f"{len(going_on)} clients play session {wanted}, and this request does not say"
                " which it is: send an X-Session header, or keep the cookie of /reset",
            )
        return next((shopper.key for shopper in going_on or shoppers), None)

    def _moved(self, shopper: Shopper, connection: str) -> None:
        """An anonymous client asks over this connection now."""
        if shopper.key[0] == "cookie" and connection:
            if self._by_connection.get(shopper.connection) == shopper.key:
                del self._by_connection[shopper.connection]
            shopper.connection = connection
            self._by_connection[connection] = shopper.key

    def _forgotten(self, key: Key, shopper: Shopper) -> None:
        if self._by_connection.get(shopper.connection) == key:
            del self._by_connection[shopper.connection]
        if isinstance(shopper.wanted, int) and shopper.wanted in self._by_number:
            keys = self._by_number[shopper.wanted]
            keys.discard(key)
            if not keys:
                del self._by_number[shopper.wanted]

    def _session(self, wanted: Wanted) -> Session:
        if wanted is None:
            session = self._drawn.reset()
            self._drawn.forget(session.id)
            return session
        if isinstance(wanted, str):
            goal = self._drawn.reset(wanted).goal
        else:
            count = len(self.shop.goals)
            if not 0 <= wanted < count:
                message = f"session {wanted}: goals are numbered 0 to {count - 1}"
                raise HTTPException(422, message)
            goal = self.shop.goals[wanted]
        rng = self._drawn.rng if self.shop.strict else f"{self.shop.seed}/{wanted}"
        return Session(self.shop, str(wanted), goal, rng)


def _new_key() -> Key:
    return "cookie", secrets.token_urlsafe(16)


def _no_session(client: Client, wanted: Wanted) -> HTTPException:
    if client.name is None and wanted is None:
        return HTTPException(409, "there is no session yet: POST /reset starts one")
    named = client.name if client.name is not None else wanted
    return HTTPException(
        404,
        f"no session {named!r}: it was never started here, was idle for too long, or"
        " the server was restarted; POST /reset with the same session starts it",
    )
