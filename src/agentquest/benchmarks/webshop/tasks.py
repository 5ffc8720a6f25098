"""Which goals are the tasks of which split, what they are called, and where the data is.

A task's name holds the kind of goal, the split, the goal's number and the
product's ASIN: the same everywhere for the same data, and different data shows
in the name.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from agentquest.benchmarks.webshop.catalogue.catalogue import SIZES
from agentquest.benchmarks.webshop.shop.goals import SPLITS as _NUMBERS
from agentquest.benchmarks.webshop.shop.goals import Goals
from agentquest.errors import DataError
from agentquest.lib import Task

BUILTIN = "builtin"
CATEGORIES = ("beauty", "electronics", "fashion", "garden", "grocery")
SPLITS = {"test": _NUMBERS["test"], "dev": _NUMBERS["eval"], "train": _NUMBERS["train"]}


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
        raise DataError(
            f"product {goal.asin}: category {goal.category!r} is none of {', '.join(CATEGORIES)}"
        )
    name = f"{goals.kind}/{split}/{number}-{goal.asin}"
    return Task(name, goal.category, split, str(number))


def default_data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """`$WEBSHOP_DATA`, else a folder in the user's cache."""
    chosen = environ.get("WEBSHOP_DATA")
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
