"""WebShop as training loops play it: one goal of a shop that all games share."""

from collections.abc import Sequence

from agentquest.benchmarks.webshop.driver import WebshopUtils
from agentquest.benchmarks.webshop.oracle import Purchase, best_purchase, plan
from agentquest.benchmarks.webshop.shop.sessions import Sessions
from agentquest.benchmarks.webshop.shop.shop import Session, Shop
from agentquest.lib.game import Game


class WebshopGame(Game):
    """One shopping session, from the search page to the purchase."""

    def __init__(self, shop: Shop, number: int) -> None:
        self.shop = shop
        self.number = number
        self._sessions = Sessions(shop, limit=1)
        self._purchase: Purchase | None = None
        self._reward = 0.0
        self._done = False

    def reset(self) -> str:
        self.session: Session = self._sessions.reset(self.number)
        self.goal = self.session.instruction
        self.valid, self._reward, self._done, self._purchase = True, 0.0, False, None
        return self.session.observe()

    def step(self, command: str) -> str:
        step = self.session.step(command)
        self.valid, self._reward, self._done = step.valid, float(step.reward), step.done
        return self.session.observe()

    @property
    def admissible(self) -> Sequence[str]:
        page = self.session.page
        available = {"clickables": self.session.clickables, "has_search_bar": page.search_bar}
        return WebshopUtils.admissible(available)

    @property
    def done(self) -> bool:
        return self._done

    @property
    def won(self) -> bool:
        return self._done and self._reward == 1.0

    @property
    def reward(self) -> float:
        return self._reward

    def plan(self) -> list[str]:
        if self._done:
            return []
        if self._purchase is None:
            self._purchase = best_purchase(self.shop, self.session.goal)
        return plan(self.session, self._purchase)
