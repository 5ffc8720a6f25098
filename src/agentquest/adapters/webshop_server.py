"""The shop as WebShop's simulated server offers it, to the names that trainers reach into.

It draws names and goals from Python's global `random`, seeded while goals are
shuffled, as the original does; hidden prices alone have a seed of their own, so
that they are the same every time.
"""

import random
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from agentquest.adapters.stand_ins import StandIn
from agentquest.benchmarks.webshop.catalogue.catalogue import Catalogue, open_catalogue
from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.shop.goals import SEED, Goal, GoalFilter, Goals
from agentquest.benchmarks.webshop.shop.nouns import best_nouns
from agentquest.benchmarks.webshop.shop.pages import Kind, Piece
from agentquest.benchmarks.webshop.shop.reward import score
from agentquest.benchmarks.webshop.shop.sessions import DEFAULT_LIMIT
from agentquest.benchmarks.webshop.shop.shop import BASE_URL, Shop, ShoppingSession
from agentquest.benchmarks.webshop.tasks import BUILTIN, data_root, default_data_folder
from agentquest.errors import DataError, UserError
from agentquest.safe_text import say

DEFAULT_FILE_PATH = str(default_data_folder() / "items_shuffle_1000.json")
_GLOBAL = cast(random.Random, random)  # the module has the methods of one

T = TypeVar("T")


class GoalRecords(Sequence[dict[str, Any]]):
    """The goals as dictionaries, each made when it is asked for."""

    def __init__(self, goals: Goals) -> None:
        self._goals = goals

    def __len__(self) -> int:
        return len(self._goals)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [goal.as_dict() for goal in self._goals[index]]
        return self._goals[index].as_dict()


class ByAsin(Mapping[str, T]):
    """Something about each product, read when it is asked for."""

    def __init__(self, catalogue: Catalogue, read: Callable[[int], T]) -> None:
        self._catalogue = catalogue
        self._read = read

    def __len__(self) -> int:
        return len(self._catalogue)

    def __iter__(self) -> Iterator[str]:
        return (self._catalogue.product(number).asin for number in range(len(self)))

    def __getitem__(self, asin: str) -> T:
        number = self._catalogue.number(asin)
        if number is None:
            raise KeyError(asin)
        return self._read(number)


class ProductRecord(dict[str, Any]):
    """A product as the original keeps it, without what only the raw file has."""

    def __missing__(self, key: str) -> Any:
        raise KeyError(f"AgentQuest's products have no {key!r} (docs/environments.md)")


def _describe(product: Product) -> ProductRecord:
    """A product with the original's names for what it knows of it."""
    given = {
        "asin": product.asin,
        "Title": product.title,
        "name": product.title,
        "Description": product.description,
        "BulletPoints": list(product.bullets),
        "Price": product.price_text,
        "category": product.category,
        "query": product.query,
        "product_category": product.product_category,
        "options": {name: list(values) for name, values in product.options.items()},
        "Attributes": list(product.attributes),
    }
    return ProductRecord(given)


def get_reward(
    purchased_product: Mapping[str, Any],
    goal: Mapping[str, Any],
    price: float,
    options: Mapping[str, str],
    verbose: bool = False,
) -> Any:
    """The reward for a product of `product_item_dict` and a goal of `goals`; `verbose` adds its
    parts."""
    product = SimpleNamespace(
        title=purchased_product["Title"],
        description=purchased_product["Description"],
        bullets=purchased_product["BulletPoints"],
        attributes=purchased_product["Attributes"],
        query=purchased_product["query"],
        product_category=purchased_product["product_category"],
    )
    found = score(cast(Product, product), price, options, cast(Goal, SimpleNamespace(**goal)),
                  best_nouns())  # fmt: skip
    return (found.value, found.details) if verbose else found.value


class SimServer(StandIn):
    """The shop and its visitors; environments can share one."""

    def __init__(
        self,
        base_url: str = BASE_URL,
        file_path: str | None = None,
        filter_goals: GoalFilter | None = None,
        limit_goals: int = -1,
        num_products: int | None = None,
        human_goals: bool | int | None = False,
        show_attrs: bool = False,
        shuffle_seed: int = SEED,
        price_seed: int = 0,
        shop: Shop | None = None,
    ) -> None:
        self.base_url = base_url
        self.show_attrs = show_attrs
        self.shop = shop or open_shop(file_path, num_products, human_goals, show_attrs, price_seed)
        # Its own order and choice, as servers can share a shop.
        self._goals = goals = copy(self.shop.goals)
        if shuffle_seed != SEED:
            goals.shuffle(shuffle_seed)
        goals.narrow(filter_goals, None if limit_goals == -1 else limit_goals)
        random.setstate(goals.state_after_shuffle)
        self.goals = GoalRecords(goals)
        self.weights = goals.weights
        say(f"Loaded {len(self.goals)} goals.")
        catalogue = self.shop.catalogue
        self.product_item_dict = ByAsin(catalogue, lambda it: _describe(catalogue.product(it)))
        self.product_prices = ByAsin(catalogue, self.shop.goals.prices.price)
        self.user_sessions: OrderedDict[str, UserSession] = OrderedDict()
        self.assigned_instruction_text: str | None = None

    def visit(self, name: str, place: int | None) -> "UserSession":
        """The search page for a session; one that exists keeps its goal. The oldest of very many
        are forgotten."""
        known = self.user_sessions.pop(name, None)
        if known is not None:
            goal = known.session.goal
        else:
            place = self._goals.draw(_GLOBAL) if place is None else place
            if not -len(self.goals) <= place < len(self.goals):
                raise UserError(
                    f"there is no goal {place}: they are numbered 0 to {len(self.goals) - 1}"
                )
            goal = self._goals[place]
        if self.assigned_instruction_text is not None:
            goal = replace(goal, instruction_text=self.assigned_instruction_text)
        visit = self.user_sessions[name] = UserSession(
            ShoppingSession(self.shop, name, goal, _GLOBAL)
        )
        while len(self.user_sessions) > DEFAULT_LIMIT:
            self.user_sessions.popitem(last=False)
        return visit


class UserSession(dict[str, Any]):
    """What the original keeps of a session: a dictionary that every page renews, because its
    users hold on to it while they play."""

    def __init__(self, session: ShoppingSession) -> None:
        super().__init__(goal=session.goal.as_dict(), done=False)
        self.session = session
        self.renew()

    def renew(self, clicked: Piece | None = None) -> None:
        """Take over where the session stands, and count the kind of action that led there."""
        session, page = self.session, self.session.page
        if page.search_bar:
            self["actions"] = defaultdict(int)
        self.update(
            keywords=session.keywords or None,
            page=session.page_number if session.keywords else None,
            asin=session.asin,
            asins=set(session.visited),
            options=dict(session.options),
        )
        if session.place == "item_page":
            kind = _COUNTED.get(clicked.kind) if clicked else None
        else:
            kind = _COUNTED.get(session.place, page.part)
        if kind:
            self["actions"][kind] += 1
        if session.last_reward is not None:
            self.update(done=True, reward=session.last_reward.value, verbose_info=session.details)


_COUNTED: dict[Kind | str, str] = {
    Kind.LINK: "asin",
    Kind.OPTION: "options",
    "search_results": "search",
    "done": "purchase",
}


def open_shop(
    file_path: str | None,
    num_products: int | None = None,
    human_goals: bool | int | None = False,
    show_attrs: bool = False,
    price_seed: int = 0,
) -> Shop:
    """The shop that these arguments of the original's describe."""
    catalogue = _catalogue(file_path, num_products)
    kind = "human" if human_goals else "synthetic"
    return Shop(catalogue, goals=kind, seed=price_seed, strict=True, show_attributes=show_attrs)


def _catalogue(file_path: str | None, num_products: int | None) -> Catalogue:
    """The catalogue of the file named; without one, that of the data found, or the built-in one."""
    if file_path in (None, DEFAULT_FILE_PATH) and not Path(DEFAULT_FILE_PATH).is_file():
        folder, size = data_root(None), None
    elif file_path == BUILTIN:
        folder, size = None, None
    else:
        file = Path(str(file_path))
        if not file.is_file():
            raise DataError(f"{file}: no such file; file_path={BUILTIN!r} has products built in")
        folder, size = file.parent, "small" if file.stem.endswith("_1000") else "all"
    return open_catalogue(folder, size=size, num_products=num_products)
