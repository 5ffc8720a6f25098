"""Goals chosen by number, for published settings that name them."""

import random
import re
from collections.abc import Sequence

import numpy as np

from agentquest.benchmarks.webshop.shop.goals import Goals
from agentquest.errors import ConfigError

AS_PUBLISHED = "gigpo-as-published"
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
_PLACE = "benchmark_settings.numbers"
# Validation of GiGPO's WebShop environment: so many workers, the first goals of each, the seed
# of the first. Each worker shuffles the goals with a seed of its own.
_WORKERS, _FIRST_GOALS, _SEED = 128, 500, 1000


def check_numbers(text: str) -> None:
    """A `ValueError` where the text names no goals."""
    found = _RANGE.fullmatch(text)
    if text != AS_PUBLISHED and (found is None or int(found[1]) > int(found[2])):
        raise ValueError(f"must be a list of numbers, a range such as 0-199, or {AS_PUBLISHED}")


def chosen_numbers(wanted: Sequence[int] | str, goals: Goals) -> list[int]:
    """The numbers of the goals that a setting names, each once."""
    if wanted == AS_PUBLISHED:
        return as_published(goals)
    if isinstance(wanted, str):
        first, _, last = wanted.partition("-")
        wanted = range(int(first), int(last) + 1)
    numbers = list(dict.fromkeys(wanted))
    missing = [number for number in numbers if not 0 <= number < len(goals)]
    if missing:
        raise ConfigError(
            f"{_PLACE}: there is no goal {missing[0]}: they are numbered 0 to {len(goals) - 1}"
        )
    return numbers


def as_published(goals: Goals) -> list[int]:
    """The goals that GiGPO's validation plays: one in each worker's own order.

    Two workers may have drawn the same one, which is a task once.
    """
    if len(goals) < _FIRST_GOALS:
        raise ConfigError(f"{_PLACE}: {AS_PUBLISHED} needs {_FIRST_GOALS} goals")
    places = np.random.RandomState(_SEED).choice(_FIRST_GOALS, size=_WORKERS, replace=False)
    number_of = np.argsort(goals.order)
    chosen = []
    for worker, place in enumerate(places):
        order = list(range(len(goals)))
        random.Random(_SEED + worker).shuffle(order)
        chosen.append(int(number_of[order[place]]))
    return list(dict.fromkeys(chosen))
