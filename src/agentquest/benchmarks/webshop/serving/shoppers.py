"""Which client plays which session.

A client is whoever names itself: by the X-Session header, else by the `session`
of its requests. All that name nothing are one client, as on the original
server. A client has one session at a time. A number plays the goal of that
number, always; a name keeps the goal that was drawn for it; nothing draws the
next goal of the server's sequence.
"""

import asyncio
import random
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException

from agentquest.benchmarks.webshop.serving.requests import Limits
from agentquest.benchmarks.webshop.serving.store import RecentlyUsed
from agentquest.benchmarks.webshop.shop.sessions import Sessions
from agentquest.benchmarks.webshop.shop.shop import Session, Shop

Name = int | str | None


@dataclass
class Shopper:
    """One client's session; `lock` keeps its steps in order."""

    session: Session
    wanted: Name
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Shoppers:
    """All clients of one server."""

    def __init__(self, shop: Shop, limits: Limits) -> None:
        self.shop = shop
        self._drawn = Sessions(shop, limits.max_sessions)  # the sequence of goals
        self._known: RecentlyUsed[Name, Shopper] = RecentlyUsed(
            limits.max_sessions, limits.session_ttl_s
        )

    def __len__(self) -> int:
        return len(self._known)

    async def start(self, client: Name, wanted: Name) -> Session:
        """The client's session, (re)started at the search page."""
        known = self._known.get(client)
        if known is not None and known.wanted == wanted and isinstance(wanted, str):
            async with known.lock:
                known.session.restart()
            return known.session
        session = self._session(wanted)
        self._known.put(client, Shopper(session, wanted))
        self._known.drop()
        return session

    def find(self, client: Name, wanted: Name) -> Shopper:
        """The shopper that a step is for."""
        shopper = self._known.get(client)
        if shopper is None and client is None:
            raise HTTPException(409, "there is no session yet: POST /reset starts one")
        if shopper is None:
            raise HTTPException(
                404,
                f"no session {client!r}: it was never started here, was unused for too long, or"
                " the server was restarted; POST /reset with the same session starts it",
            )
        if wanted is not None and wanted not in (client, shopper.wanted):
            raise HTTPException(
                409,
                f"client {client!r} plays session {shopper.wanted!r}, not {wanted!r};"
                " POST /reset with this session starts it",
            )
        return shopper

    def _session(self, wanted: Name) -> Session:
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
        rng = self._drawn.rng if self.shop.strict else random.Random(f"{self.shop.seed}/{wanted}")
        return Session(self.shop, str(wanted), goal, rng)
