"""The documented API of Sudoku: what is said, what is refused, what is measured."""

import ast
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.benchmarks.sudoku import (
    SudokuAction,
    SudokuDriver,
    SudokuUtils,
)
from agentquest.errors import UnknownName, UserError
from agentquest.lib.commands import fill_at_random

# A full board by shifting, and the same with these cells empty: (0, 0), (0, 1), (1, 0), (8, 8).
ANSWER = [[str((3 * row + row // 3 + column) % 9 + 1) for column in range(9)] for row in range(9)]
BOARD = [
    ["*" if (r, c) in {(0, 0), (0, 1), (1, 0), (8, 8)} else ANSWER[r][c] for c in range(9)]
    for r in range(9)
]
EMPTY = [["*"] * 9 for _ in range(9)]


def started(board: list[list[str]] | None = None) -> SudokuDriver:
    driver = SudokuDriver(goal=ANSWER, initial_state=BOARD if board is None else board)
    driver.reset()
    return driver


def board_in(output: str) -> list[list[str]]:
    """The board that a text shows, read as the Python that it is."""
    read = ast.literal_eval(output.rpartition("Current game state:\n")[2])
    assert isinstance(read, list)
    return read


def test_first_observation_says_rules_format_and_board() -> None:
    first = SudokuDriver(ANSWER, BOARD).reset()
    assert "3x3 region" in first.output
    assert "\nRow: <row_number>, Column: <column_number>, Value: <value>\n" in first.output
    assert board_in(first.output) == BOARD
    assert first.can_proceed
    assert not first.success


def test_a_game_to_its_end() -> None:
    driver = started()
    for row, column in ((0, 0), (0, 1), (1, 0)):
        said = driver.step(SudokuAction(ANSWER[row][column], row, column))
        assert said.can_proceed
        assert board_in(said.output)[row][column] == ANSWER[row][column]
    won = driver.step(SudokuAction(value=ANSWER[8][8], row=8, column=8))
    assert won.output.startswith("You won!!!\n")
    assert won.success
    assert not won.can_proceed
    exported = driver.metrics.export()
    assert exported["progress"] == [78 / 81, 79 / 81, 80 / 81, 1.0]
    assert exported["success"] is True
    assert exported["actions"][0] == {"value": ANSWER[0][0], "row": 0, "column": 0}
    assert driver.step(SudokuAction("1", 0, 0)) == won


@pytest.mark.parametrize(
    ("given_cells", "move", "reason"),
    [
        # 1 stands at (1, 1): same region, and in no row or column of (0, 0).
        ({(1, 1): "5"}, ("5", 0, 0), "already in this 3x3 region"),
        ({(0, 8): "9"}, ("9", 0, 0), "already in this row"),
        ({(6, 0): "3"}, ("3", 0, 0), "already in this column"),
        ({(0, 0): "1"}, ("2", 0, 0), "was given"),
        # Where several reasons hold, the first of this order is told.
        ({(0, 1): "2"}, ("2", 0, 0), "already in this 3x3 region"),
        ({(0, 0): "1", (0, 8): "9"}, ("9", 0, 0), "already in this row"),
    ],
)
def test_refusals(
    given_cells: dict[tuple[int, int], str], move: tuple[str, int, int], reason: str
) -> None:
    board = [list(row) for row in EMPTY]
    for (row, column), value in given_cells.items():
        assert ANSWER[row][column] == value
        board[row][column] = value
    driver = started(board)
    before = driver.outcome
    said = driver.step(SudokuAction(*move))
    assert reason in said.output
    assert board_in(said.output) == board
    assert said.can_proceed
    assert driver.outcome == before


def test_own_cells_can_be_filled_again_and_given_ones_not() -> None:
    driver = started(EMPTY)
    driver.step(SudokuAction("9", 0, 0))
    assert board_in(driver.step(SudokuAction("8", 0, 0)).output)[0][0] == "8"
    again = driver.step(SudokuAction("8", 0, 0))
    assert "already in this 3x3 region" in again.output


@pytest.mark.parametrize(
    "move",
    [("0", 0, 0), ("10", 0, 0), ("x", 0, 0), ("1", 9, 0), ("1", 0, -1), ("1", 10**9, 0)],
)
def test_what_is_off_the_board_is_told(move: tuple[str, int, int]) -> None:
    driver = started()
    said = driver.step(SudokuAction(*move))
    assert said.output.startswith("Rows and columns go from 0 to 8, values from 1 to 9.")
    assert board_in(said.output) == BOARD
    assert said.can_proceed


@pytest.mark.parametrize(
    "command",
    [
        "Row: 0, Column: 1, Value: 2",
        "row 0 column 1 value 2",
        "ROW: 0; COLUMN: 1; VALUE: 2",
        "0 1 2",
        "0, 1, 2",
    ],
)
def test_commands_of_the_evaluator(command: str) -> None:
    action = SudokuAction(value=command)
    assert action == SudokuAction("2", 0, 1)
    assert action.export() == {"value": "2", "row": 0, "column": 1}
    assert started().accepts(command)


@pytest.mark.parametrize("command", ["", "look", "0 1", "Row: 0, Column: 1", "Row: 0, Value: 2"])
def test_a_command_that_is_no_move_changes_nothing(command: str) -> None:
    driver = started()
    before = driver.outcome
    assert not driver.accepts(command)
    said = driver.step(SudokuAction(value=command))
    assert "`Row: <row_number>, Column: <column_number>, Value: <value>`" in said.output
    assert driver.outcome == before


def test_free_text() -> None:
    driver = started()
    said = driver.step_raw("Only 1 fits.\nRow: 0, Column: 0, Value: 1\nRow: 0, Column: 1, Value: 2")
    assert board_in(said.output)[0][:2] == ["1", "*"]
    unread = driver.step_raw("Put a 2 beside it.")
    assert "Could not read a move" in unread.output
    assert driver.unparsed == ["Put a 2 beside it."]
    assert len(driver.metrics.interactions) == 1


def test_a_full_board_that_is_wrong_is_lost() -> None:
    """Only a board with several solutions can be filled wrongly: here two rows can be swapped."""
    pattern = {(row, column) for row in (0, 1) for column in range(9)}
    board = [["*" if (r, c) in pattern else ANSWER[r][c] for c in range(9)] for r in range(9)]
    driver = SudokuDriver(goal=ANSWER, initial_state=board)
    driver.reset()
    swapped = {0: ANSWER[1], 1: ANSWER[0]}
    said = None
    for row in (0, 1):
        for column in range(9):
            said = driver.step(SudokuAction(swapped[row][column], row, column))
    assert said is not None
    assert "You lost." in said.output
    assert said.success is False
    assert said.can_proceed is False
    assert driver.metrics.success is False
    assert driver.outcome.done
    assert not driver.outcome.reachable
    assert driver.plan() == []


def test_repetition_compares_row_column_and_value() -> None:
    driver = started()
    for value in ("Row: 0, Column: 0, Value: 5", "0 0 5", "Row: 0, Column: 0, Value: 6"):
        driver.step(SudokuAction(value=value))
    assert driver.metrics.action_values == ["005", "005", "006"]
    assert driver.metrics.repetition_rate() == 0.5


@pytest.mark.parametrize(
    ("goal", "initial", "message"),
    [
        (ANSWER[:8], BOARD, "goal must be 9 rows"),
        (ANSWER, [["0"] * 9] * 9, "initial_state must be 9 rows"),
        (BOARD, BOARD, "full board"),
        (ANSWER, [["2", *["*"] * 8], *EMPTY[1:]], "differ from goal"),
    ],
)
def test_boards_that_are_none_are_refused(
    goal: list[list[str]], initial: list[list[str]], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        SudokuDriver(goal=goal, initial_state=initial)


def test_a_driver_travels_in_the_middle_of_a_game() -> None:
    driver = started()
    driver.step(SudokuAction("1", 0, 0))
    copy = pickle.loads(pickle.dumps(driver))
    copy.step(SudokuAction("2", 0, 1))
    assert len(driver.metrics.interactions) == 1
    assert driver.outcome.progress == 78 / 81
    assert copy.outcome.progress == 79 / 81


@given(st.integers(0, 10_000))
def test_the_plan_wins_from_boards_that_were_filled_at_random(seed: int) -> None:
    """Wrong cells block each other; the oracle says so or finds a way."""
    rng = random.Random(seed)
    driver = started(EMPTY)
    for _ in range(rng.randint(0, 60)):
        driver.step(SudokuAction(fill_at_random("<0-8> <0-8> <1-9>", rng)))
    plan = driver.plan()
    assert driver.outcome.reachable == bool(plan)
    for command in plan:
        assert driver.accepts(command)
        driver.step(SudokuAction(command))
    assert driver.outcome.success or not plan


def test_swapped_cells_are_put_right_by_way_of_another_value() -> None:
    driver = started(EMPTY)
    for value, column in (("2", 0), ("1", 1)):
        driver.step(SudokuAction(value, 0, column))
    plan = driver.plan()
    assert len(plan) == 82
    for command in plan:
        driver.step(SudokuAction(command))
    assert driver.outcome.success


def test_load_data() -> None:
    for category in ("easy", "medium", "hard"):
        data = SudokuUtils.load_data(category=category)[:3]
        for item in data:
            assert set(item) == {"board", "answer"}
            board = SudokuUtils.convert_board_to_list_of_lists(item["board"])
            assert item["board"] == "\r\n".join("|".join(row) for row in board)
            answer = SudokuUtils.convert_board_to_list_of_lists(item["answer"])
            assert SudokuDriver(goal=answer, initial_state=board).reset().can_proceed
    with pytest.raises(UnknownName, match="did you mean 'easy'"):
        SudokuUtils.load_data("eazy")
