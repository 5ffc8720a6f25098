"""Random choices that come out the same on every machine and Python version.

Python promises that a string seed and `random()` stay reproducible, and no
more than that: `sample`, `choices` and `shuffle` have changed between versions.
So every choice here is made of `random()` alone.
"""

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """One stream of choices, named by its seed."""

    __slots__ = ("_next",)

    def __init__(self, seed: str) -> None:
        self._next = random.Random(seed).random

    def below(self, limit: int) -> int:
        """A whole number from 0 up to, but without, `limit`."""
        return int(self._next() * limit)

    def between(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        return low + int(self._next() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._next() < probability

    def one_of(self, items: Sequence[T]) -> T:
        """One of the items, each as likely as the others."""
        return items[int(self._next() * len(items))]

    def one_weighted(self, weights: Mapping[str, int]) -> str:
        """A key, as often as its weight says; keys count in the order they are given."""
        left = self._next() * sum(weights.values())
        for key, weight in weights.items():
            left -= weight
            if left < 0:
                return key
        raise ValueError("nothing to choose from")

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A copy in random order; what was given stays as it is."""
        cards = list(items)
        for last in range(len(cards) - 1, 0, -1):
            other = self.below(last + 1)
            cards[last], cards[other] = cards[other], cards[last]
        return cards
