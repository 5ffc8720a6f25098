"""Sessions by name, bounded in number.

The rules are the original's: a number chooses the goal of that number, a text
or nothing draws one, and a session that exists keeps its goal. What differs is
that sessions end: past `limit`, the one unused for longest is forgotten.
"""

import random
import string
from collections import OrderedDict
from functools import cached_property
from threading import RLock

from agentquest.benchmarks.webshop.shop.goals import Goal
from agentquest.benchmarks.webshop.shop.shop import Shop, ShoppingSession
from agentquest.errors import UserError

DEFAULT_LIMIT = 10_000


def check_name(name: str) -> None:
    """Refuse a name that holds half a surrogate pair: no page, file or seed can hold it."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise UserError(f"session {name[:50]!r}: this text cannot be encoded") from error


class Sessions:
    """All shoppers of one shop; safe to use from many threads."""

    def __init__(self, shop: Shop, limit: int = DEFAULT_LIMIT) -> None:
        if limit < 1:
            raise UserError(f"the limit of sessions must be 1 or more, not {limit}")
        self.shop = shop
        self.limit = limit
        self._sessions: OrderedDict[str, ShoppingSession] = OrderedDict()
        self._lock = RLock()

    @cached_property
    def rng(self) -> random.Random:
        """The stream that goals and names are drawn from; goals asked for by number need none."""
        rng = random.Random()
        rng.setstate(self.shop.goals.state_after_shuffle)
        _new_name(rng)  # the original spends its first draws on starting up
        self.shop.goals.draw(rng)
        return rng

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._lock = RLock()

    def reset(self, session: int | str | None = None) -> ShoppingSession:
        """Start or restart `session` at the search page."""
        with self._lock:
            if isinstance(session, int):
                count = len(self.shop.goals)
                if not 0 <= session < count:
                    raise UserError(f"session {session}: goals are numbered 0 to {count - 1}")
            elif session is not None:
                check_name(session)
            name = _new_name(self.rng) if session is None else str(session)
            known = self._sessions.pop(name, None)
            if known is not None:
                return self._add(name, known.goal)
            number = session if isinstance(session, int) else self.shop.goals.draw(self.rng)
            return self._add(name, self.shop.goals[number])

    def forget(self, name: str) -> None:
        """Drop a session; it need not exist."""
        with self._lock:
            self._sessions.pop(name, None)

    def make(self, name: str, goal: Goal) -> ShoppingSession:
        """A session that is not kept here, with the random numbers that belong to it."""
        rng = self.rng if self.shop.strict else f"{self.shop.seed}/{name}"
        return ShoppingSession(self.shop, name, goal, rng)

    def _add(self, name: str, goal: Goal) -> ShoppingSession:
        session = self._sessions[name] = self.make(name, goal)
        while len(self._sessions) > self.limit:
            self._sessions.popitem(last=False)
        return session


def _new_name(rng: random.Random) -> str:
    return "".join(rng.choices(string.ascii_lowercase, k=10))
