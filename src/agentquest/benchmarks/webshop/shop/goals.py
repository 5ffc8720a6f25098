"""What shoppers are asked to buy, and in which order the tasks stand.

A synthetic goal is one combination of one product's options; a human goal is
one person's wording. A million products give millions of goals, so none is
stored: goal i is worked out from columns when it is asked for.

The order is that of the original: all goals in file order, shuffled by
`random.Random(233)`, whose next numbers then choose the sessions' goals. Prices:
a product sold at a range has one hidden price in it, and a goal's upper price is
2 to 4 steps of ten dollars above. The original draws both from one unseeded
stream. With `strict` we draw from that stream, seeded; otherwise from a seed of
the product's own, so that a task has the same instruction in every catalogue.
"""

import bisect
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentquest.benchmarks.webshop.catalogue.catalogue import Catalogue
from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.shop.shuffling import shuffled
from agentquest.errors import ConfigError, DataError

PRICE_STEPS = tuple(float(price) for price in range(10, 1000, 10))
NO_LIMIT = 1_000_000
SPLITS = {"test": (0, 500), "eval": (500, 1500), "train": (1500, None)}

Draw = tuple[float, str]


@dataclass(frozen=True)
class Goal:
    """One task; the fields are those of the original's goal records."""

    asin: str
    category: str
    query: str
    name: str
    product_category: str
    instruction_text: str
    attributes: tuple[str, ...]
    price_upper: float
    goal_options: Mapping[str, str] | tuple[str, ...]
    weight: float

    def as_dict(self) -> dict[str, Any]:
        record = asdict(self)
        record["attributes"] = list(self.attributes)
        if isinstance(self.goal_options, tuple):
            record["goal_options"] = list(self.goal_options)
        return record


def price_limit(price: float, rng: random.Random) -> Draw:
    """The most a shopper wants to pay for something of this price, and how it is put."""
    first = bisect.bisect_right(PRICE_STEPS, price)
    candidates = PRICE_STEPS[first : first + 4]
    if len(candidates) < 2:
        return float(NO_LIMIT), ""
    upper = max(rng.sample(candidates, 2))
    return upper, f", and price lower than {upper:.2f} dollars"


class Prices(ABC):
    """The draws that the original leaves to chance."""

    @abstractmethod
    def price(self, number: int) -> float:
        """What product `number` costs."""

    @abstractmethod
    def limit(self, number: int, entry: int) -> Draw:
        """The upper price of the goals of product `number`; `entry` is its human wording."""


class SeededPrices(Prices):
    """Each product has draws of its own, whatever else is in the catalogue."""

    def __init__(self, catalogue: Catalogue, seed: int) -> None:
        self._catalogue = catalogue
        self._seed = seed

    def _rng(self, number: int, use: str) -> random.Random:
        return random.Random(f"{self._seed}/{self._catalogue.product(number).asin}/{use}")

    def price(self, number: int) -> float:
        low, high = float(self._catalogue.low[number]), float(self._catalogue.high[number])
        if not self._catalogue.ranged[number]:
            return low
        return self._rng(number, "price").uniform(low, high)

    def limit(self, number: int, entry: int) -> Draw:
        return price_limit(self.price(number), self._rng(number, f"limit/{entry}"))


class StreamPrices(Prices):
    """All draws from one stream, in the original's order."""

    def __init__(self, catalogue: Catalogue, seed: int, owners: NDArray[Any]) -> None:
        rng = random.Random(seed)
        self._prices = np.array(catalogue.low)
        for number in np.flatnonzero(catalogue.ranged).tolist():
            low, high = float(catalogue.low[number]), float(catalogue.high[number])
            self._prices[number] = rng.uniform(low, high)
        self._limits = {
            (number, entry): price_limit(self.price(number), rng)
            for number, entry in owners.tolist()
        }

    def price(self, number: int) -> float:
        return float(self._prices[number])

    def limit(self, number: int, entry: int) -> Draw:
        return self._limits[number, entry]


class Goals(Sequence[Goal]):
    """All goals of a catalogue, in the order of the original."""

    kind = ""

    def __init__(self, catalogue: Catalogue, seed: int, strict: bool) -> None:
        self.catalogue = catalogue
        owners = self._owners()
        self.prices: Prices = (
            StreamPrices(catalogue, seed, owners) if strict else SeededPrices(catalogue, seed)
        )
        counts, weights = self._counts_and_weights()
        self._ends = np.cumsum(counts)
        total = int(self._ends[-1]) if len(self._ends) else 0
        if total == 0:
            raise DataError(f"{catalogue.folder}: the data has no {self.kind} goal")
        self.order, self.state_after_shuffle = shuffled(total, catalogue.folder)
        drawn = weights[np.searchsorted(self._ends, self.order, side="right")]
        self._cumulative = np.concatenate([[0.0], np.cumsum(drawn)])

    @abstractmethod
    def _owners(self) -> NDArray[Any]:
        """(product, entry) of each draw of a limit, in file order."""

    @abstractmethod
    def _counts_and_weights(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """For each owner in file order, how many goals it gives and their weight."""

    @abstractmethod
    def _goal(self, owner: int, within: int, weight: float) -> Goal: ...

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        original = int(self.order[index])
        owner = int(np.searchsorted(self._ends, original, side="right"))
        before = int(self._ends[owner - 1]) if owner else 0
        return self._goal(owner, original - before, self._weight(owner))

    @abstractmethod
    def _weight(self, owner: int) -> float: ...

    def draw(self, rng: random.Random) -> int:
        """A goal's number by weight; off by one like the original, which never draws goal 0."""
        position = rng.uniform(0, float(self._cumulative[-1]))
        found = int(np.searchsorted(self._cumulative, position, side="right"))
        return min(found, len(self._cumulative) - 2)

    def _record(self, product: Product, limit: Draw, **rest: Any) -> Goal:
        return Goal(
            asin=product.asin,
            category=product.category,
            query=product.query,
            name=product.title,
            product_category=product.product_category,
            price_upper=limit[0],
            **rest,
        )


class SyntheticGoals(Goals):
    """One goal for each combination of options of each product that has an instruction."""

    kind = "synthetic"

    def __init__(self, catalogue: Catalogue, seed: int, strict: bool) -> None:
        if strict and not bool(catalogue.listed.all()):
            missing = catalogue.product(int(np.argmin(catalogue.listed))).asin
            raise DataError(f"product {missing} is not in the instructions file")
        super().__init__(catalogue, seed, strict)

    def _owners(self) -> NDArray[Any]:
        numbers = np.flatnonzero(self.catalogue.instructed)
        return np.stack([numbers, np.zeros_like(numbers)], axis=1)

    def _counts_and_weights(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.catalogue.goal_counts, self.catalogue.goal_weights

    def _weight(self, owner: int) -> float:
        return float(self.catalogue.goal_weights[owner])

    def _goal(self, owner: int, within: int, weight: float) -> Goal:
        product = self.catalogue.product(owner)
        names = sorted(product.options)
        options = _combination({name: product.options[name] for name in names}, within)
        limit = self.prices.limit(owner, 0)
        chosen = ", and ".join(f"{name}: {value}" for name, value in options.items())
        text = f"{product.instruction}{f' with {chosen}' if chosen else ''}{limit[1]}"
        return self._record(
            product, limit, instruction_text=text, goal_options=options, weight=weight,
            attributes=product.instruction_attributes,
        )  # fmt: skip


class HumanGoals(Goals):
    """One goal for each wording of a person that names attributes."""

    kind = "human"

    def _owners(self) -> NDArray[Any]:
        return self.catalogue.human

    def _counts_and_weights(self) -> tuple[NDArray[Any], NDArray[Any]]:
        count = len(self.catalogue.human)
        return np.ones(count, np.int64), np.ones(count)

    def _weight(self, owner: int) -> float:
        return 1.0

    def _goal(self, owner: int, within: int, weight: float) -> Goal:
        number, entry = (int(n) for n in self.catalogue.human[owner])
        product = self.catalogue.product(number)
        wording = product.human[entry]
        limit = self.prices.limit(number, entry)
        return self._record(
            product, limit, instruction_text=wording.text.strip(".") + limit[1],
            goal_options=wording.options, weight=1, attributes=wording.attributes,
        )  # fmt: skip


def _combination(options: dict[str, tuple[str, ...]], number: int) -> dict[str, str]:
    """One value of each group: the `number`-th choice, the last group changing fastest."""
    chosen = {}
    for name in reversed(options):
        number, at = divmod(number, len(options[name]))
        chosen[name] = options[name][at]
    return {name: chosen[name] for name in options}


def make_goals(catalogue: Catalogue, kind: str, seed: int, strict: bool) -> Goals:
    kinds: dict[str, type[Goals]] = {"synthetic": SyntheticGoals, "human": HumanGoals}
    if kind not in kinds:
        raise ConfigError(f"goals must be one of {', '.join(kinds)}, not {kind!r}")
    return kinds[kind](catalogue, seed, strict)
