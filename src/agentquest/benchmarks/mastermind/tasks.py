"""The secret numbers: made from a category and a place, the same on every machine.

The numbers of a category are all different, over all splits, so that no example
game gives a test number away. A task's name says its split, category and place,
and nothing about its number.
"""

import hashlib
from collections.abc import Iterator
from functools import cache

from agentquest.errors import UnknownName
from agentquest.lib import Task
from agentquest.lib.settings import suggestion

GENERATOR = "agentquest-mastermind-1"
TEST, DEV, TRAIN = "test", "dev", "train"
SPLITS = (TEST, DEV, TRAIN)
LENGTHS = (4, 5, 6, 7, 8)
CATEGORIES = tuple(f"{digits} digits" for digits in LENGTHS)
PER_CATEGORY = 100


def goals_of(category: str, split: str) -> tuple[str, ...]:
    """The numbers of one category in one split."""
    for name, known in ((category, CATEGORIES), (split, SPLITS)):
        if name not in known:
            raise UnknownName(f"unknown category or split {name!r}; {suggestion(name, known)}")
    first = SPLITS.index(split) * PER_CATEGORY
    return _numbers(LENGTHS[CATEGORIES.index(category)])[first : first + PER_CATEGORY]


def tasks_of(split: str, categories: tuple[str, ...]) -> list[Task]:
    """The tasks of a split, in these categories."""
    return [
        Task(name := f"{split}/{category.replace(' ', '-')}/{place:03d}", category, split, name)
        for category in categories
        for place in range(PER_CATEGORY)
    ]


def goal_of(task: Task) -> str:
    """The secret number of a task."""
    return goals_of(task.task_type, task.split)[task.place(PER_CATEGORY)]


@cache
def _numbers(digits: int) -> tuple[str, ...]:
    drawn = dict.fromkeys(_draw_numbers(digits, draws=2 * PER_CATEGORY * len(SPLITS)))
    return tuple(drawn)[: PER_CATEGORY * len(SPLITS)]


def _draw_numbers(digits: int, draws: int) -> Iterator[str]:
    """Even draws: a hash is large enough for the remainder to be as good as unbiased."""
    for draw in range(draws):
        digest = hashlib.sha256(f"{GENERATOR}/{digits}/{draw}".encode()).digest()
        yield str(int.from_bytes(digest, "big") % 10**digits).zfill(digits)
