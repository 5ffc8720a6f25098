"""Which boards are the tasks of which split. A task's name says nothing about its solution."""

from agentquest.benchmarks.sudoku.boards import CATEGORIES, Puzzle, puzzle
from agentquest.errors import UnknownName
from agentquest.lib import Task
from agentquest.lib.settings import suggestion

TEST, DEV, TRAIN = "test", "dev", "train"
SPLITS = (TEST, DEV, TRAIN)
PER_CATEGORY = 100


def puzzles_of(category: str, split: str) -> list[Puzzle]:
    """All puzzles of a category in a split; raises UnknownName if either does not exist."""
    for name, known in ((category, CATEGORIES), (split, SPLITS)):
        if name not in known:
            raise UnknownName(f"unknown category or split {name!r}; {suggestion(name, known)}")
    return [puzzle(category, split, place) for place in range(PER_CATEGORY)]


def tasks_of(split: str, categories: tuple[str, ...]) -> list[Task]:
    """The tasks of a split, in these categories."""
    return [
        Task(name := f"{split}/{category}/{place:03d}", category, split, name)
        for category in categories
        for place in range(PER_CATEGORY)
    ]


def puzzle_of(task: Task) -> Puzzle:
    """The puzzle that a task stands for."""
    return puzzle(task.task_type, task.split, int(task.problem.rpartition("/")[2]))
