"""The AgentQuest driver of Sudoku, and its metrics."""

import hashlib
from collections.abc import Sequence
from typing import Any, ClassVar

from agentquest.benchmarks.sudoku.boards import EASY, Puzzle, puzzles_of
from agentquest.benchmarks.sudoku.types import (
    SudokuAction,
    SudokuMove,
    SudokuObservation,
    SudokuState,
    as_cells,
    as_rows,
    move_in,
    refusal,
    winning_moves,
    write_board,
)
from agentquest.errors import ParseError, UserError
from agentquest.lib import Action, Driver, Metrics, Observation, Outcome, Parser, State
from agentquest.lib.generated import TEST

Board = Sequence[Sequence[str]]

GOAL = "Fill the Sudoku board."
WON = "You won!!!"
LOST = "The board is full, but not as it should be. You lost."
UNREADABLE = (
    "Could not read a move. Make sure it is in the format: "
    "`Row: <row_number>, Column: <column_number>, Value: <value>`"
)
OUT_OF_RANGE = "Rows and columns go from 0 to 8, values from 1 to 9."
_MOVES = "Row: <0-8>, Column: <0-8>, Value: <1-9>"
_RULES = """You are playing Sudoku on a board of 9 rows and 9 columns.
Fill all empty cells, shown as '*', so that every row, every column and every 3x3 region has each \
of the values 1 to 9 once.
Rows and columns are numbered from 0 to 8, from the top and from the left. Given cells cannot be \
changed.
Your response should be in the format:
Row: <row_number>, Column: <column_number>, Value: <value>

"""


class SudokuMetrics(Metrics):
    """`answer` is the solution as rows, which the driver sets."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: tuple[tuple[str, ...], ...] = ()

    @property
    def action_values(self) -> list[str]:
        """Row, column and value as one text, for repetition."""
        return [_join_action(step.action) for step in self.interactions]

    def progress_function(self, state: State) -> float:
        """The share of cells that are as in the solution, given ones included."""
        filled = [text for row in state.value for text in row]
        wanted = [text for row in self.answer for text in row]
        return sum(map(str.__eq__, filled, wanted)) / len(wanted)


def _join_action(action: object) -> str:
    assert isinstance(action, SudokuAction)
    return f"{action.row}{action.column}{action.value}" if action.is_move else action.value


class SudokuDriver(Driver):
    """Plays one board; both boards are 9 rows of 9 texts, `*` for an empty cell."""

    action_class: ClassVar[type[Action]] = SudokuAction
    observation_class: ClassVar[type[Observation]] = SudokuObservation
    metrics_class: ClassVar[type[Metrics]] = SudokuMetrics
    metrics: SudokuMetrics

    def __init__(self, goal: Board, initial_state: Board) -> None:
        super().__init__()
        self._answer = _cells("goal", goal)
        self._given = _cells("initial_state", initial_state)
        if 0 in self._answer:
            raise UserError("goal must be a full board")
        pairs = zip(self._given, self._answer, strict=True)
        if any(given not in (0, wanted) for given, wanted in pairs):
            raise UserError("initial_state has cells that differ from goal")
        self._board = list(self._given)

    @property
    def goal(self) -> list[list[str]]:
        """The solution, as 9 rows of 9 texts."""
        return [list(row) for row in as_rows(self._answer)]

    @property
    def current_state(self) -> SudokuState:
        """The current board."""
        return SudokuState(as_rows(self._board))

    @property
    def data_hash(self) -> str:
        return hashlib.sha256(repr((self._given, self._answer)).encode()).hexdigest()

    @property
    def outcome(self) -> Outcome:
        won = self._board == self._answer
        right = sum(map(int.__eq__, self._board, self._answer))
        return Outcome(
            done=0 not in self._board,
            success=won,
            reward=float(won),
            progress=right / len(self._answer),
            reachable=self._moves_left() is not None,
        )

    def _accepts(self, value: str) -> bool:
        move = SudokuAction(value).move
        return move is not None and refusal(self._board, self._given, move) is None

    def details(self) -> dict[str, Any]:
        return {"given": sum(map(bool, self._given)), "answer": self.goal}

    def plan(self) -> list[str]:
        """Commands that win from here; none once the board is full."""
        return [move.command for move in self._moves_left() or ()]

    def step_raw(self, value: str, custom_parser: Parser | None = None) -> Observation:
        return super().step_raw(value, custom_parser or parse_move)

    def _moves_left(self) -> tuple[SudokuMove, ...] | None:
        return winning_moves(tuple(self._board), tuple(self._given), tuple(self._answer))

    def _reset(self) -> tuple[str, Observation]:
        self._board = list(self._given)
        self.metrics.answer = as_rows(self._answer)
        self.metrics.milestones = self.plan()
        return GOAL, self._say(_RULES)

    def _step(self, action: Action) -> tuple[State, Observation]:
        said, valid = self._carry_out(action)
        return self.current_state, self._say(said, valid)

    def _carry_out(self, action: Action) -> tuple[str, bool]:
        """Make the move if it is allowed; returns the text above the board, and whether it was."""
        assert isinstance(action, SudokuAction)
        if not action.is_move:
            return f"{UNREADABLE}\n", False
        if action.move is None:
            return f"{OUT_OF_RANGE}\n", False
        refused = refusal(self._board, self._given, action.move)
        if refused:
            return f"{refused} Nothing was changed.\n", False
        self._board[action.move.cell] = action.move.value
        if 0 in self._board:
            return "", True
        return f"{WON if self._board == self._answer else LOST}\n", True

    def _say(self, said: str, valid: bool = True) -> Observation:
        return self.observe(said + write_board(self._board), [_MOVES], valid)


class SudokuUtils:
    """Finding boards to fill."""

    @staticmethod
    def load_data(category: str = EASY, split: str = TEST) -> list[dict[str, str]]:
        """`board` and `answer` of a category (easy, medium, hard), each as one text."""
        return [
            {"board": _join_cells(puzzle.board), "answer": _join_cells(puzzle.answer)}
            for puzzle in puzzles_of(category, split)
        ]

    @staticmethod
    def convert_board_to_list_of_lists(board: str) -> list[list[str]]:
        """A board as `load_data` gives it, as the driver takes it."""
        return [row.split("|") for row in board.strip().split("\r\n")]


def puzzle_driver(puzzle: Puzzle) -> SudokuDriver:
    """A driver that plays this puzzle."""
    return SudokuDriver(as_rows(puzzle.answer), as_rows(puzzle.board))


def parse_move(text: str) -> str:
    """The first move of a free text, as a command."""
    found = move_in(text)
    if found is None:
        raise ParseError(UNREADABLE)
    return found


def _cells(name: str, board: Board) -> list[int]:
    cells = as_cells(board)
    if cells is None:
        raise UserError(f"{name} must be 9 rows of 9 texts, each '1' to '9' or '*'")
    return cells


def _join_cells(cells: Sequence[int]) -> str:
    return "\r\n".join("|".join(row) for row in as_rows(cells))
