"""Spaces of text: any text, because titles of products hold any character."""

from typing import Any

import numpy as np
from gymnasium.spaces import Text

LONGEST_OBSERVATION = 1_000_000
LONGEST_ACTION = 10_000
_SAMPLED = 24
_LETTERS = "abcdefghijklmnopqrstuvwxyz 0123456789[]"


class AnyText(Text):
    """Every text up to a length. A sample is short, and no command that means anything."""

    def __init__(self, max_length: int, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, charset=_LETTERS, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        length = int(self.np_random.integers(1, _SAMPLED))
        return "".join(self.np_random.choice(list(_LETTERS), size=length))

    def __repr__(self) -> str:
        return f"AnyText({self.max_length})"
