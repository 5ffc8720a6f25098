"""The shop: one catalogue, any number of sessions.

A `Shop` never changes and can serve any number of threads. A `ShoppingSession` is one
shopper: a goal, the current page, and little else, so that hundreds are cheap.
Every action leads to a page; an invalid one leaves the session as it was.
"""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentquest.benchmarks.webshop.catalogue.catalogue import Catalogue
from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.original import html
from agentquest.benchmarks.webshop.original.links import environment_address
from agentquest.benchmarks.webshop.shop import pages
from agentquest.benchmarks.webshop.shop.goals import Goal, Goals, make_goals
from agentquest.benchmarks.webshop.shop.nouns import Nouns, best_nouns
from agentquest.benchmarks.webshop.shop.pages import Kind, Page, Piece
from agentquest.benchmarks.webshop.shop.reward import Reward, score

if TYPE_CHECKING:  # the oracle needs the shop
    from agentquest.benchmarks.webshop.oracle import Purchase

BASE_URL = "http://127.0.0.1:3000"
RANDOM_RESULTS = 50
LONGEST_ACTION = 10_000
"""In characters; a longer action does nothing, and the player is told so."""
MODES = (*pages.MODES, "html")
_PAGE_NAMES = ("search_results", "item_page", "item_sub_page", "done")


@dataclass(frozen=True)
class ShopStep:
    """The result of an action."""

    reward: float
    done: bool
    valid: bool


class Shop:
    """Catalogue, goals and scoring, shared by all sessions."""

    def __init__(
        self,
        catalogue: Catalogue,
        goals: str = "synthetic",
        seed: int = 0,
        strict: bool = False,
        nouns: Nouns | None = None,
        show_attributes: bool = False,
    ) -> None:
        self.catalogue = catalogue
        self.seed = seed
        self.strict = strict
        self.goals: Goals = make_goals(catalogue, goals, seed, strict)
        self.nouns: Nouns = nouns or best_nouns()
        self.show_attributes = show_attributes

    @staticmethod
    def understands(keywords: Sequence[str]) -> bool:
        """False for the special searches that only crash the original."""
        return keywords[0] != "<a>" and (keywords[0] != "<c>" or len(keywords) > 1)

    def find(
        self, keywords: Sequence[str], generator: Callable[[], random.Random]
    ) -> Sequence[int]:
        """The products for a search: the best fifty, or all of a special search.

        `generator` is called for the search that needs one, for random products.
        """
        first = keywords[0]
        if first == "<r>":
            size = len(self.catalogue)
            return generator().sample(range(size), min(RANDOM_RESULTS, size))
        if first == "<q>":
            return self.catalogue.with_query(" ".join(keywords[1:]).strip())
        if first == "<c>":
            return self.catalogue.in_category(keywords[1].strip())
        return self.catalogue.search(" ".join(keywords))

    def reward(self, asin: str, options: dict[str, str], goal: Goal) -> Reward:
        """What buying a product with these options is worth to somebody with this goal."""
        number = self.catalogue.number(asin)
        assert number is not None
        price = self.goals.prices.price(number)
        return score(self.catalogue.product(number), price, options, goal, self.nouns)


@dataclass
class ShoppingSession:
    """One shopper's visit; `rng` is a generator, or what to seed one with when it is needed."""

    shop: Shop
    id: str
    goal: Goal
    rng: random.Random | str
    keywords: list[str] = field(default_factory=list)
    page_number: int = 1
    asin: str | None = None
    visited: set[str] = field(default_factory=set)
    options: dict[str, str] = field(default_factory=dict)
    last_reward: Reward | None = None
    bought: str | None = None
    best: "Purchase | None" = None  # what the oracle would buy, once it was asked
    page: Page = field(init=False)

    def __post_init__(self) -> None:
        self.page = self.restart()

    @property
    def instruction(self) -> str:
        """The task in words, as every page shows it."""
        return self.goal.instruction_text

    def restart(self) -> Page:
        """Back to the search page, with nothing chosen."""
        self.keywords, self.page_number, self.asin = [], 1, None
        self.visited, self.options = set(), {}
        self.page = pages.search_page(self.instruction, f"{BASE_URL}/{self.id}")
        return self.page

    def generator(self) -> random.Random:
        """Where random numbers come from; seeding one costs more than all else of a reset."""
        if isinstance(self.rng, str):
            self.rng = random.Random(self.rng)
        return self.rng

    def observe(self, mode: str = "text") -> str:
        """The page in one of `MODES`."""
        return page_html(self) if mode == "html" else self.page.render(mode, self.visited)

    @property
    def place(self) -> str:
        """The kind of page we are on; empty for the search page."""
        if self.page.search_bar:
            return ""
        return self.page.url.removeprefix(f"{BASE_URL}/").partition("/")[0]

    @property
    def clickables(self) -> list[str]:
        """The names that `click[…]` takes on this page."""
        return list(self.page.clickables)

    @property
    def available(self) -> dict[str, Any]:
        """What can be done on this page: whether to search, and what to click."""
        return {"has_search_bar": self.page.search_bar, "clickables": self.clickables}

    def accepts(self, action: str) -> bool:
        """Whether `action` would lead anywhere now."""
        return self._find(action) is not None

    def _find(self, action: str) -> tuple[str, str] | None:
        """Name and argument of an action that leads somewhere; else None."""
        if len(action) > LONGEST_ACTION:
            return None
        name, argument = parse(action)
        if not argument:
            return None
        if name == "search":
            return (name, argument) if self.shop.understands(argument.split(" ")) else None
        is_there = argument != "search" and argument in self.page.clickables
        return (name, argument) if name == "click" and is_there else None

    def step(self, action: str) -> ShopStep:
        """Carry out `search[...]` or `click[...]`; anything else changes nothing."""
        found = self._find(action)
        if found is None:
            return ShopStep(0, False, valid=False)
        name, argument = found
        if name == "search":
            return self._search(argument.split(" "), 1)
        return self._click(argument, self.page.clickables[argument])

    def _go_to(self, page: Page, reward: float = 0.0, done: bool = False) -> ShopStep:
        self.page = page
        return ShopStep(reward, done, valid=True)

    def _click(self, argument: str, target: Piece) -> ShopStep:
        place = self._place()
        if target.kind is Kind.LINK:
            # Before the buttons: a product may be named like one.
            self.asin = target.text
            self.visited.add(target.text)
            return self._go_to(self._item_page())
        if argument == "buy now":
            return self._buy()
        if argument == "back to search":
            return self._go_to(self.restart())
        if argument == "next >" and place == "search_results":
            return self._search(self.keywords, self.page_number + 1)
        if argument == "< prev" and place == "search_results":
            return self._search(self.keywords, self.page_number - 1)
        if argument == "< prev" and place == "item_page":
            return self._search(self.keywords, self.page_number)
        if argument in _SUB_PAGES:
            return self._go_to(self._sub_page(_SUB_PAGES[argument]))
        if target.kind is Kind.OPTION:
            self.options[target.group.lower()] = argument
        return self._go_to(self._item_page())

    def _place(self) -> str:
        """The kind of page we are on, as far as the shop knows.

        The original looks for a name anywhere in the address, so that searching
        for one of these names confuses it; `strict` keeps that.
        """
        if not self.shop.strict:
            return self.place
        return next((name for name in _PAGE_NAMES if name in self.page.url), "")

    def _search(self, keywords: list[str], page_number: int) -> ShopStep:
        found = self.shop.find(keywords, self.generator)
        self.keywords, self.page_number = keywords, page_number
        self.asin, self.options = None, {}
        first = (page_number - 1) * pages.PAGE_SIZE
        shown = found[first : first + pages.PAGE_SIZE] if page_number > 0 else []
        products = [self.shop.catalogue.product(number) for number in shown]
        url = f"{BASE_URL}/search_results/{self.id}/{'+'.join(keywords)}/{page_number}"
        total = len(found)
        return self._go_to(pages.results_page(self.instruction, url, page_number, total, products))

    def product(self) -> Product:
        """The product that is open."""
        number = self.shop.catalogue.number(self.asin or "")
        assert number is not None, "product pages are reached through a product only"
        return self.shop.catalogue.product(number)

    def _address(self, kind: str) -> str:
        keywords = "+".join(self.keywords)
        return f"{BASE_URL}/{kind}/{self.id}/{self.asin}/{keywords}/{self.page_number}"

    def _item_page(self) -> Page:
        url = f"{self._address('item_page')}/{json.dumps(self.options)}"
        return pages.item_page(self.instruction, url, self.product(), self.shop.show_attributes)

    def _sub_page(self, name: str) -> Page:
        url = f"{self._address('item_sub_page')}/{name}/{self.options}"
        return pages.sub_page(self.instruction, url, self.product(), name)

    def _buy(self) -> ShopStep:
        product = self.product()
        reward = self.shop.reward(product.asin, self.options, self.goal)
        self.last_reward, self.bought = reward, product.asin
        url = f"{BASE_URL}/done/{self.id}/{product.asin}/{self.options}"
        page = pages.done_page(url, product.asin, self.options, reward.value)
        return self._go_to(page, reward.value, done=True)

    @property
    def details(self) -> dict[str, Any]:
        """What the last purchase's reward was made of; empty before it."""
        return {} if self.last_reward is None else self.last_reward.details


_SUB_PAGES = {name.lower(): name for name in pages.SUB_PAGES}


def parse(action: str) -> tuple[str, str | None]:
    """An action's name and its lower-cased argument."""
    name, argument = parse_action(action)
    return name, argument and argument.lower()


def parse_action(action: str) -> tuple[str, str | None]:
    """An action's name and its argument, read as loosely as the original does.

    The argument is what the first line has between the last `[` with something before it and
    the last `]` that leaves something between the two; the rest is ignored.
    """
    line = action.partition("\n")[0]
    closing = line.rfind("]")
    opening = line.rfind("[", 1, max(closing - 1, 1))
    if opening < 0:
        return action, None
    return line[:opening], line[opening + 1 : closing]


def page_html(session: ShoppingSession) -> str:
    """The session's current page in the original's HTML; at first the search page."""
    frame = html.Frame(
        environment_address,
        session.id,
        session.instruction,
        session.keywords,
        session.page_number,
    )
    match session.place:
        case "search_results":
            return _results_html(session, frame)
        case "item_page":
            shown = session.shop.show_attributes
            return html.item_page(frame, session.product(), session.options, shown)
        case "item_sub_page":
            return html.sub_page(frame, session.product(), session.options, session.page.part)
        case "done" if session.last_reward is not None:
            asin = session.product().asin
            return html.done_page(asin, session.options, session.last_reward.value)
    return html.search_page(frame)


def _results_html(session: ShoppingSession, frame: html.Frame) -> str:
    catalogue = session.shop.catalogue
    links = (piece.text for piece in session.page.pieces if piece.kind is Kind.LINK)
    numbers = (catalogue.number(asin) for asin in links)
    products = [catalogue.product(number) for number in numbers if number is not None]
    return html.results_page(frame, session.page_number, session.page.total, products)
