"""Slips of a player that knows better: a stated share of its steps goes wrong.

The explorer without slips wins nearly every game, and a random player hardly any.
Language models are in between, and fail in ways like these: they wander off, take or
put down the wrong thing, or lose track of what they have seen.
"""

import random
from typing import TypeVar

from agentquest.benchmarks.alfworld.explorer.memory import Choice, Memory, Step
from agentquest.errors import ConfigError

T = TypeVar("T")


class Slips:
    """Which steps go wrong, and how: fixed by the seed and by what the game begins with."""

    def __init__(self, share: float, seed: int) -> None:
        if not 0 <= share <= 1:
            raise ConfigError(f"slips is a share of steps between 0 and 1, not {share!r}")
        self._share = share
        self._seed = seed
        self.begin("")

    def begin(self, introduction: str) -> None:
        # Of `random.Random` only `random()` is the same in every version of Python.
        self._next = random.Random(f"{self._seed} {introduction}").random

    def instead(self, memory: Memory) -> Choice | None:
        """A slip; None when this step is done as it was meant."""
        if not self._share or self._next() >= self._share:
            return None
        ways = (self._wander, self._fumble, self._forget)
        return ways[int(self._next() * len(ways))](memory)

    def _one_of(self, items: list[T]) -> T:
        return items[int(self._next() * len(items))]

    def _wander(self, memory: Memory) -> Choice | None:
        elsewhere = [name for name in memory.furniture if memory.spots.get(name) != memory.here]
        if not elsewhere:
            return None
        place = self._one_of(elsewhere)
        return Step("go", place=place), f"I wander off to the {place}."

    def _fumble(self, memory: Memory) -> Choice | None:
        """Put down what is in the hand, or take the next best thing."""
        here = [f for name, f in memory.furniture.items() if memory.spots.get(name) == memory.here]
        if memory.held:
            places = [f.name for f in here if not f.closed]
            if not places:
                return self._wander(memory)
            place = self._one_of(places)
            return Step("put", memory.held, place), f"I leave the {memory.held} in the {place}."
        lying = [(thing, f.name) for f in here if not f.closed for thing in f.things or ()]
        if not lying:
            return self._wander(memory)
        thing, place = self._one_of(lying)
        return Step("take", thing, place), f"I take the {thing}, whatever it is for."

    def _forget(self, memory: Memory) -> Choice | None:
        memory.forget()
        return Step("look"), "I have lost track of what I have seen, and look around."
