"""The boards: one solution each, as hard as their category says, the same everywhere."""

import hashlib

import pytest

from agentquest.benchmarks.sudoku.boards import CATEGORIES, EASY, HARD, MEDIUM, puzzle
from agentquest.benchmarks.sudoku.grid import (
    CELLS,
    UNITS,
    Reason,
    candidates,
    conclude,
    follows,
    is_only_solution,
    reasons_needed,
    solutions,
)

PLACES = range(8)


def test_the_grid_has_27_units_of_9_cells_and_each_cell_20_peers() -> None:
    assert len(UNITS) == 27
    assert all(len(unit) == 9 for unit in UNITS)
    assert sorted(cell for unit in UNITS for cell in unit) == sorted(list(CELLS) * 3)


@pytest.mark.parametrize("category", CATEGORIES)
def test_boards_have_one_solution_and_it_is_the_answer(category: str) -> None:
    for place in PLACES:
        board, answer = puzzle(category, "test", place)
        assert list(solutions(board)) == [list(answer)]
        assert all(sorted(answer[cell] for cell in unit) == list(range(1, 10)) for unit in UNITS)


def test_categories_differ_in_given_cells_and_in_what_it_takes() -> None:
    for place in PLACES:
        easy, medium, hard = (puzzle(category, "test", place).board for category in CATEGORIES)
        assert [sum(map(bool, board)) for board in (easy, medium, hard)] == [40, 28, 25]
        assert reasons_needed(easy) == {Reason.ONLY_VALUE}
        assert reasons_needed(medium) == {Reason.ONLY_VALUE, Reason.ONLY_CELL}
        assert reasons_needed(hard) is None


def test_boards_are_all_different() -> None:
    boards = {
        puzzle(category, split, place)
        for category in (EASY, MEDIUM)
        for split in ("test", "dev", "train")
        for place in PLACES
    }
    assert len(boards) == 2 * 3 * len(PLACES)


def test_the_boards_are_these_on_every_machine() -> None:
    """Golden: boards that change are other tasks, and need another name of the generator."""
    digest = hashlib.sha256()
    for category in CATEGORIES:
        for place in range(3):
            digest.update(repr(tuple(puzzle(category, "test", place))).encode())
    assert digest.hexdigest() == GOLDEN


GOLDEN = "2150045ede35109d938a9df05511e5b1e4d5bc1e19d7ac7602985898a0de46db"


def test_all_solutions_are_found() -> None:
    """Two rows of a band are empty: they can be swapped, and that is all."""
    answer = puzzle(HARD, "test", 0).answer
    board = [0] * 18 + list(answer[18:])
    found = list(solutions(board))
    assert list(answer) in found
    assert [*answer[9:18], *answer[:9], *answer[18:]] in found
    assert len({tuple(each) for each in found}) == len(found)
    assert not is_only_solution(board, 0, answer[0])


def test_a_board_against_the_rules_has_no_solution() -> None:
    assert list(solutions([5, 5] + [0] * 79)) == []


def test_what_follows_is_the_answer() -> None:
    board, answer = puzzle(MEDIUM, "test", 0)
    step = conclude(board)
    assert step is not None
    assert answer[step.cell] == step.value
    assert follows(board, step.cell, step.value)
    assert candidates(board, step.cell) >> step.value & 1
