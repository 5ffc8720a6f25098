"""WebShop as training loops play it: one goal of a shop that all games share."""

from collections.abc import Sequence

from agentquest.benchmarks.webshop.driver import WebshopUtils
from agentquest.benchmarks.webshop.oracle import plan
from agentquest.benchmarks.webshop.shop.sessions import Sessions
from agentquest.benchmarks.webshop.shop.shop import Shop, ShoppingSession
from agentquest.lib.game import Game


class WebshopGame(Game):
    """One shopping session, from the search page to the purchase."""

    def __init__(self, shop: Shop, number: int) -> None:
        self.number = number
        self._sessions = Sessions(shop, limit=1)

    def reset(self) -> str:
        self.session: ShoppingSession = self._sessions.reset(self.number)
        self.goal = self.session.instruction
        self.valid, self.done, self.won, self.reward = True, False, False, 0.0
        return self.session.observe()

    def step(self, command: str) -> str:
        step = self.session.step(command)
        self.valid, self.done, self.reward = step.valid, step.done, float(step.reward)
        self.won = step.done and self.reward == 1.0
        return self.session.observe()

    @property
    def admissible(self) -> Sequence[str]:
        return WebshopUtils.admissible(self.session.available)

    def plan(self) -> list[str]:
        return [] if self.done else plan(self.session)
