"""Which goals are the tasks of which split, what they are called, and where the data is.

A task's name holds the kind of goal, the split, the goal's number and the
product's ASIN: the same everywhere for the same data, and different data shows
in the name.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agentquest.benchmarks.webshop.catalogue.catalogue import SIZES
from agentquest.benchmarks.webshop.catalogue.products import quote
from agentquest.benchmarks.webshop.shop.goals import Goals
from agentquest.errors import ConfigError, DataError
from agentquest.lib import Task
from agentquest.words import parse_whole_number

BUILTIN = "builtin"
CATEGORIES = ("beauty", "electronics", "fashion", "garden", "grocery")
SPLITS = {"test": (0, 500), "dev": (500, 1500), "train": (1500, None)}

AS_PUBLISHED = "gigpo-as-published"
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
_PLACE = "benchmark_settings.numbers"
# Validation of GiGPO's WebShop environment: so many workers, the first goals of each, the seed
# of the first. Each worker shuffles the goals with a seed of its own.
_WORKERS, _FIRST_GOALS, _SEED = 128, 500, 1000


def split_of(number: int) -> str:
    """The split that goal `number` belongs to."""
    return next(name for name, (first, end) in SPLITS.items() if end is None or number < end)


def numbers_of(split: str, goals: int) -> range:
    """The numbers of a split's goals, where there are so many goals in all."""
    first, end = SPLITS[split]
    return range(min(first, goals), goals if end is None else min(end, goals))


def task_of(goals: Goals, number: int) -> Task:
    """The task of a goal's number; raises DataError if its product is in no known category."""
    goal, split = goals[number], split_of(number)
    if goal.category not in CATEGORIES:
        where = f"{goals.catalogue.source}: product {goal.asin}"
        wrong = f"category {quote(goal.category)} is none of {', '.join(CATEGORIES)}"
        raise DataError(f"{where}: {wrong}")
    name = f"{goals.kind}/{split}/{number}-{goal.asin}"
    return Task(name, goal.category, split, str(number))


class TasksOfGoals(Sequence[Task]):
    """A split's tasks, each made when it is asked for: there can be millions of goals."""

    def __init__(self, goals: Goals, numbers: Sequence[int]) -> None:
        self._goals = goals
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: "int | slice") -> "Task | list[Task]":  # type: ignore[override]
        if isinstance(index, slice):
            return [task_of(self._goals, number) for number in self._numbers[index]]
        return task_of(self._goals, self._numbers[index])

    def find(self, task_id: str) -> Task | None:
        """The task with this id, which contains its number; None if there is none."""
        number = parse_whole_number(task_id.rpartition("/")[2].partition("-")[0])
        if number is None or number not in self._numbers:
            return None
        task = task_of(self._goals, number)
        return task if task.id == task_id else None


def default_data_folder() -> Path:
    """`$WEBSHOP_DATA`, else a folder in the user's cache."""
    chosen = os.environ.get("WEBSHOP_DATA")
    if chosen:
        return Path(chosen).expanduser()
    return Path.home() / ".cache" / "agentquest" / "webshop-data"


def data_root(data_path: str | os.PathLike[str] | None) -> Path | None:
    """The folder of official files to play on; None for the built-in products.

    A folder that was asked for, here or in `$WEBSHOP_DATA`, must have the files.
    """
    if data_path is not None:
        return None if str(data_path) == BUILTIN else Path(data_path).expanduser()
    folder = default_data_folder()
    if os.environ.get("WEBSHOP_DATA"):
        return folder
    items = (folder / f"items_shuffle{ending}.json" for ending in SIZES.values())
    return folder if any(path.is_file() for path in items) else None


def check_numbers(text: str) -> None:
    """A `ValueError` where the text names no goals."""
    found = _RANGE.fullmatch(text)
    if text != AS_PUBLISHED and (found is None or int(found[1]) > int(found[2])):
        raise ValueError(f"must be a list of numbers, a range such as 0-199, or {AS_PUBLISHED}")


def choose_numbers(wanted: Sequence[int] | str, goals: Goals) -> list[int]:
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
    chosen = (
        int(goals.numbers_shuffled(_SEED + worker)[place]) for worker, place in enumerate(places)
    )
    return list(dict.fromkeys(chosen))
