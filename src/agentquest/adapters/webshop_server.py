"""The shop as WebShop's simulated server offers it, to the names that trainers reach into.

It draws names and goals from Python's global `random`, seeded while goals are
shuffled, as the original does; hidden prices alone have a seed of their own, so
that they are the same every time.
"""

import random
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from agentquest.benchmarks.webshop.catalogue.catalogue import Catalogue, open_catalogue
from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.shop.goals import SEED, Goal
from agentquest.benchmarks.webshop.shop.nouns import best_nouns
from agentquest.benchmarks.webshop.shop.reward import score
from agentquest.benchmarks.webshop.shop.sessions import DEFAULT_LIMIT
from agentquest.benchmarks.webshop.shop.shop import BASE_URL, Session, Shop
from agentquest.benchmarks.webshop.tasks import BUILTIN, data_root, default_data_folder
from agentquest.errors import DataError, UserError

DEFAULT_FILE_PATH = str(default_data_folder() / "items_shuffle_1000.json")
_GLOBAL = cast(random.Random, random)  # the module has the methods of one

GoalFilter = Callable[[int, dict[str, Any]], bool]


class GoalRecords(Sequence[dict[str, Any]]):
    """The goals as dictionaries, each made when it is asked for."""

    def __init__(self, shop: Shop, numbers: Sequence[int]) -> None:
        self._shop = shop
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return self._shop.goals[int(self.numbers[index])].as_dict()


class Products(Mapping[str, dict[str, Any]]):
    """Products by ASIN, with the original's names for what it knows of them."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def __len__(self) -> int:
        return len(self._catalogue)

    def __iter__(self) -> Iterator[str]:
        return (self._catalogue.product(number).asin for number in range(len(self)))

    def __getitem__(self, asin: str) -> dict[str, Any]:
        number = self._catalogue.number(asin)
        if number is None:
            raise KeyError(asin)
        product = self._catalogue.product(number)
        return {
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


class ProductPrices(Mapping[str, float]):
    """What each product costs, by ASIN."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop

    def __len__(self) -> int:
        return len(self._shop.catalogue)

    def __iter__(self) -> Iterator[str]:
        return iter(Products(self._shop.catalogue))

    def __getitem__(self, asin: str) -> float:
        number = self._shop.catalogue.number(asin)
        if number is None:
            raise KeyError(asin)
        return self._shop.goals.prices.price(number)


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


class SimServer:
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
        numbers = self._shuffle(shuffle_seed)
        goals = GoalRecords(self.shop, numbers)
        if filter_goals is not None:
            numbers = [numbers[i] for i, goal in enumerate(goals) if filter_goals(i, goal)]
        self._offer(numbers)
        if limit_goals != -1 and limit_goals < len(numbers):
            chosen: dict[int, None] = {}
            while len(chosen) < limit_goals:
                chosen[self.draw()] = None
            self._offer([numbers[place] for place in chosen])
        sys.stdout.write(f"Loaded {len(self.goals)} goals.\n")
        self.product_item_dict = Products(self.shop.catalogue)
        self.product_prices = ProductPrices(self.shop)
        self.sessions: OrderedDict[str, Session] = OrderedDict()
        self.user_sessions = Visits(self.sessions)
        self.assigned_instruction_text: str | None = None

    def _shuffle(self, seed: int) -> Sequence[int]:
        """Places in the shop's own order, and the global `random` as the shuffle leaves it."""
        goals = self.shop.goals
        if seed == SEED:
            random.setstate(goals.state_after_shuffle)
            return range(len(goals))
        random.seed(seed)
        order = list(range(len(goals)))
        random.shuffle(order)
        return cast(Sequence[int], np.argsort(goals.order)[order].tolist())

    def _offer(self, numbers: Sequence[int]) -> None:
        if not numbers:
            raise UserError("no goal is left")
        self.goals = GoalRecords(self.shop, numbers)
        self.weights = self.shop.goals.weights[np.asarray(numbers)]
        self.cum_weights = np.concatenate([[0.0], np.cumsum(self.weights)])

    def draw(self) -> int:
        """A goal's place by weight; off by one like the original, which never draws the first."""
        position = random.uniform(0, float(self.cum_weights[-1]))
        found = int(np.searchsorted(self.cum_weights, position, side="right"))
        return min(found, len(self.cum_weights) - 2)

    def visit(self, name: str, place: int | None) -> Session:
        """The search page for a session; one that exists keeps its goal."""
        known = self.sessions.pop(name, None)
        if known is not None:
            goal = known.goal
        else:
            place = self.draw() if place is None else place
            if not -len(self.goals) <= place < len(self.goals):
                raise UserError(
                    f"there is no goal {place}: they are numbered 0 to {len(self.goals) - 1}"
                )
            goal = self.shop.goals[int(self.goals.numbers[place])]
        if self.assigned_instruction_text is not None:
            goal = replace(goal, instruction_text=self.assigned_instruction_text)
        session = self.sessions[name] = Session(self.shop, name, goal, _GLOBAL)
        while len(self.sessions) > DEFAULT_LIMIT:
            self.sessions.popitem(last=False)
        return session


class Visits(Mapping[str, dict[str, Any]]):
    """What the original keeps of each session; the oldest of very many are forgotten."""

    def __init__(self, sessions: Mapping[str, Session]) -> None:
        self._sessions = sessions

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sessions)

    def __getitem__(self, name: str) -> dict[str, Any]:
        session = self._sessions[name]
        kept: dict[str, Any] = {
            "goal": session.goal.as_dict(),
            "done": session.bought is not None,
            "keywords": session.keywords or None,
            "page": session.page_number if session.keywords else None,
            "asin": session.asin,
            "asins": set(session.visited),
            "options": dict(session.options),
        }
        if session.last_reward is not None:
            kept |= {"reward": session.last_reward.value, "verbose_info": session.details}
        return kept


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
