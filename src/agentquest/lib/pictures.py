"""What a benchmark draws its pictures from: the texts an agent saw, and what it did."""

from collections.abc import Sequence
from typing import NamedTuple


class Moment(NamedTuple):
    """An observation, the commands possible then, and the action that led to it."""

    observation: str
    admissible: Sequence[str] = ()
    action: str = ""  # empty at the start
