"""Boards with exactly one solution: made from a category and a place, the same on every machine.

A full grid is filled at random, then cells are emptied as long as there is only one solution.
How hard a board is depends on how many cells are given and on the reasoning that it needs:

    easy     40 given; in every position some cell has only one value that fits
    medium   28 given; some steps need more: the only cell of a unit for a value
    hard     25 given; these two reasons do not suffice

A task's name says nothing about its solution.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from typing import NamedTuple

from agentquest.benchmarks.sudoku.grid import (
    CELLS,
    SIZE,
    VALUES,
    Reason,
    follows,
    is_only_solution,
    reasons_needed,
    solutions,
)
from agentquest.lib import Task
from agentquest.lib.dice import Dice
from agentquest.lib.generated import PER_TYPE, check_names

GENERATOR = "agentquest-sudoku-1"
EASY, MEDIUM, HARD = "easy", "medium", "hard"
_GIVEN = {EASY: 40, MEDIUM: 28, HARD: 25}
_NEEDED: dict[str, set[Reason] | None] = {
    EASY: {Reason.ONLY_VALUE},
    MEDIUM: {Reason.ONLY_VALUE, Reason.ONLY_CELL},
    HARD: None,
}
CATEGORIES = tuple(_GIVEN)


class Puzzle(NamedTuple):
    """81 numbers each, 0 for an empty cell."""

    board: tuple[int, ...]
    answer: tuple[int, ...]


@cache
def puzzle(category: str, split: str, place: int) -> Puzzle:
    """The board of a task; a few milliseconds (hard: a few dozen) the first time."""
    for attempt in count():
        dice = Dice(f"{GENERATOR}/{category}/{split}/{place}/{attempt}")
        answer = _full_grid(dice)
        board = _empty_cells(answer, _GIVEN[category], dice)
        given = sum(map(bool, board))
        if given == _GIVEN[category] and reasons_needed(board) == _NEEDED[category]:
            return Puzzle(tuple(board), tuple(answer))
    raise AssertionError("attempts do not end")


def _full_grid(dice: Dice) -> list[int]:
    """The three regions on the diagonal are filled at random, the rest to fit."""
    cells = [0] * len(CELLS)
    for corner in range(0, SIZE, 3):
        for place, value in enumerate(dice.shuffled(VALUES)):
            cells[(corner + place // 3) * SIZE + corner + place % 3] = value
    return next(solutions(cells, dice.shuffled(VALUES)))


def _empty_cells(answer: Sequence[int], given: int, dice: Dice) -> list[int]:
    """First empty cells whose value can be concluded, then any that keep the solution unique."""
    cells, left = list(answer), len(CELLS)
    rules: tuple[Callable[[Sequence[int], int, int], bool], ...] = (follows, is_only_solution)
    for may_be_empty in rules:
        for cell in dice.shuffled(CELLS):
            if left == given:
                return cells
            value, cells[cell] = cells[cell], 0
            if value and may_be_empty(cells, cell, value):
                left -= 1
            else:
                cells[cell] = value
    return cells


def puzzles_of(category: str, split: str) -> list[Puzzle]:
    """All puzzles of a category in a split."""
    check_names(category, CATEGORIES, split)
    return [puzzle(category, split, place) for place in range(PER_TYPE)]


def puzzle_of(task: Task) -> Puzzle:
    """The puzzle of a task."""
    check_names(task.task_type, CATEGORIES, task.split)
    return puzzle(task.task_type, task.split, task.place(PER_TYPE))
