"""The secret numbers: made from a category and a place, the same on every machine.

The numbers of a category are all different, over all splits, so that no example
game gives a test number away. A task's name says its split, category and place,
and nothing about its number.
"""

import hashlib
from collections.abc import Iterator
from functools import cache

from agentquest.lib import Task
from agentquest.lib.generated import PER_TYPE, SPLITS, check_names

GENERATOR = "agentquest-mastermind-1"
LENGTHS = (4, 5, 6, 7, 8)
CATEGORIES = tuple(f"{digits} digits" for digits in LENGTHS)


def goals_of(category: str, split: str) -> tuple[str, ...]:
    """The numbers of one category in one split."""
    check_names(category, CATEGORIES, split)
    first = SPLITS.index(split) * PER_TYPE
    return _numbers(LENGTHS[CATEGORIES.index(category)])[first : first + PER_TYPE]


def goal_of(task: Task) -> str:
    """The secret number of a task."""
    return goals_of(task.task_type, task.split)[task.place(PER_TYPE)]


@cache
def _numbers(digits: int) -> tuple[str, ...]:
    drawn = dict.fromkeys(_draw_numbers(digits, draws=2 * PER_TYPE * len(SPLITS)))
    return tuple(drawn)[: PER_TYPE * len(SPLITS)]


def _draw_numbers(digits: int, draws: int) -> Iterator[str]:
    """Even draws: a hash is large enough for the remainder to be as good as unbiased."""
    for draw in range(draws):
        digest = hashlib.sha256(f"{GENERATOR}/{digits}/{draw}".encode()).digest()
        yield str(int.from_bytes(digest, "big") % 10**digits).zfill(digits)
