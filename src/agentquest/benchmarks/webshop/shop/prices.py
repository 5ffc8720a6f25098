"""Hidden prices, and the most that a shopper wants to pay.

Which draws the original leaves to chance, and from which streams ours come, is
said in `goals`.
"""

import bisect
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentquest.benchmarks.webshop.catalogue.catalogue import Catalogue

PRICE_STEPS = tuple(float(price) for price in range(10, 1000, 10))
NO_LIMIT = 1_000_000

Draw = tuple[float, str]


def price_limit(price: float, rng: random.Random) -> Draw:
    """The most a shopper wants to pay for something of this price, and how it is put."""
    first = bisect.bisect_right(PRICE_STEPS, price)
    candidates = PRICE_STEPS[first : first + 4]
    if len(candidates) < 2:
        return float(NO_LIMIT), ""
    upper = max(rng.sample(candidates, 2))
    return upper, f", and price lower than {upper:.2f} dollars"


class SeededPrices:
    """Each product has draws of its own, whatever else is in the catalogue."""

    def __init__(self, catalogue: Catalogue, seed: int) -> None:
        self._catalogue = catalogue
        self._seed = seed

    def _rng(self, number: int, use: str) -> random.Random:
        return random.Random(f"{self._seed}/{self._catalogue.product(number).asin}/{use}")

    def price(self, number: int) -> float:
        """What product `number` costs."""
        low, high = float(self._catalogue.low[number]), float(self._catalogue.high[number])
        if not self._catalogue.ranged[number]:
            return low
        return self._rng(number, "price").uniform(low, high)

    def limit(self, number: int, entry: int) -> Draw:
        """The upper price of the goals of product `number`; `entry` is its human wording."""
        return price_limit(self.price(number), self._rng(number, f"limit/{entry}"))


class StreamPrices:
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
        """As `SeededPrices.price`."""
        return float(self._prices[number])

    def limit(self, number: int, entry: int) -> Draw:
        """As `SeededPrices.limit`."""
        return self._limits[number, entry]
