"""Sudoku's tasks, players, examples and terminal view."""

import pytest

from agentquest.benchmarks.sudoku.benchmark import SudokuBenchmark
from agentquest.benchmarks.sudoku.boards import CATEGORIES, HARD
from agentquest.benchmarks.sudoku.driver import SudokuDriver
from agentquest.benchmarks.sudoku.explorer import SudokuExplorer
from agentquest.benchmarks.sudoku.types import read_board
from agentquest.lib import Observation


def opened(task_type: str, place: int = 0, split: str = "test") -> SudokuDriver:
    benchmark = SudokuBenchmark(split=split, task_types=(task_type,))
    driver = benchmark.driver(benchmark.tasks()[place])
    driver.reset()
    return driver


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_explorer_solves_every_board_without_one_refused_move(category: str) -> None:
    driver, explorer = opened(category, 7), SudokuExplorer()
    observation = driver.reset()
    steps = 0
    while observation.can_proceed:
        command = explorer.next_action(observation.text)
        assert driver.accepts(command)
        assert explorer.thought.startswith("Row ")
        observation = driver.step(driver.action_class(value=command))
        steps += 1
    assert observation.success
    assert steps == len(driver.metrics.milestones)


def test_the_explorer_goes_on_after_a_text_without_a_board() -> None:
    explorer = SudokuExplorer()
    first = explorer.next_action(opened(HARD).reset().text)
    assert explorer.next_action("Could not parse agent output.") == first


def test_the_explorer_answers_where_nothing_can_be_done() -> None:
    """Row 0 lacks a 9, which its last cell cannot take."""
    rows = [[*"12345678*"], *[["*"] * 9 for _ in range(7)], [*"********9"]]
    explorer = SudokuExplorer()
    assert explorer.next_action(f"Current game state:\n{rows}")
    assert explorer.thought == "The board cannot be filled any more."


def test_step_limit_leaves_room_for_mistakes() -> None:
    assert SudokuBenchmark.step_limit > 81 - 25


def test_examples_are_won_endings_of_other_boards() -> None:
    for split in ("test", "train"):
        benchmark = SudokuBenchmark(split=split, task_types=("medium",))
        for task in benchmark.tasks()[:3]:
            driver = benchmark.driver(task)
            driver.reset()
            examples = benchmark.briefing(driver, task, 2).demonstrations
            assert len(examples) == 2
            for example in examples:
                assert len(example.turns) == 5
                assert example.turns[-1][2].startswith("You won!!!")
                solved = [c for row in driver.goal for c in row]
                assert read_board(example.turns[-1][2]) != [int(value) for value in solved]


def test_the_view_draws_the_board() -> None:
    driver = opened("easy")
    view = SudokuBenchmark().view()
    drawn = view.room(driver.reset()).splitlines()
    assert len(drawn) == 1 + 1 + 9 + 4
    cells = [c for line in drawn[2:] for c in line[3:] if c in "123456789."]
    assert len(cells) == 81
    assert cells.count(".") == 41
    refused = driver.step(driver.action_class(value="9 9 9"))
    assert view.show(refused).startswith("Rows and columns go from 0 to 8")
    strange = Observation("Something else.", False, True, text="Something else.")
    assert view.show(strange) == "Something else."


def test_task_names_do_not_hold_cells_of_the_board() -> None:
    tasks = SudokuBenchmark().tasks()
    assert [task.id for task in tasks[:2]] == ["test/easy/000", "test/easy/001"]
    assert len({task.id for task in tasks}) == 300
