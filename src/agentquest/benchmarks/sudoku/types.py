"""Boards and moves: how they are written, which moves are possible, and what wins."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from agentquest.benchmarks.sudoku.grid import CELLS, SIZE, UNITS, UNITS_OF, VALUES
from agentquest.lib import Action, Observation, State

EMPTY = "*"
BOARD_HEADING = "Current game state:"
_MOVE = re.compile(
    r"row:?\s*([0-9]{1,9})\s*[,;]?\s*column:?\s*([0-9]{1,9})\s*[,;]?\s*value:?\s*([0-9]{1,9})",
    re.IGNORECASE,
)
_SHORT_MOVE = re.compile(r"([0-9]{1,9})[\s,]+([0-9]{1,9})[\s,]+([0-9]{1,9})")
_CELL = re.compile(r"'([1-9*])'")


class SudokuMove(NamedTuple):
    """A value for a cell, 0 to 80."""

    cell: int
    value: int

    @property
    def command(self) -> str:
        """The command that makes this move."""
        row, column = divmod(self.cell, SIZE)
        return f"Row: {row}, Column: {column}, Value: {self.value}"


@dataclass(frozen=True)
class SudokuAction(Action):
    """A value for the cell at `row` and `column`.

    Without these, `value` may be a whole command, as agents write it: it is parsed into
    the three, and left unchanged if it cannot be parsed.
    """

    value: str
    row: int | None = None
    column: int | None = None

    def __post_init__(self) -> None:
        if self.row is None and self.column is None and isinstance(self.value, str):
            command = self.value.strip()
            read = _MOVE.fullmatch(command) or _SHORT_MOVE.fullmatch(command)
            if read:
                object.__setattr__(self, "row", int(read[1]))
                object.__setattr__(self, "column", int(read[2]))
                object.__setattr__(self, "value", read[3])

    @property
    def is_move(self) -> bool:
        """Whether row and column are known, so that it can be played."""
        return self.row is not None and self.column is not None

    @property
    def move(self) -> SudokuMove | None:
        """The move; None if there is no such cell or value."""
        row, column = self.row, self.column
        if not (isinstance(row, int) and isinstance(column, int)):
            return None
        if not (0 <= row < SIZE and 0 <= column < SIZE and self.value in set("123456789")):
            return None
        return SudokuMove(row * SIZE + column, int(self.value))


@dataclass(frozen=True)
class SudokuState(State):
    """The board: rows of texts, `*` for an empty cell."""

    value: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class SudokuObservation(Observation):
    """The game's text, the same for all agents."""


def move_in(text: str) -> str | None:
    """The first move in a free text, as a command; None if there is none."""
    found = _MOVE.search(text)
    return f"Row: {found[1]}, Column: {found[2]}, Value: {found[3]}" if found else None


def as_rows(cells: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """The board as 9 rows of 9 texts, `*` for an empty cell."""
    texts = [str(value) if value else EMPTY for value in cells]
    return tuple(tuple(texts[start : start + SIZE]) for start in CELLS[::SIZE])


def as_cells(rows: Sequence[Sequence[str]]) -> list[int] | None:
    """The numbers of a board given as rows; None if it is not a board."""
    texts = [text for row in rows for text in row]
    shapes = {len(row) for row in rows}
    if len(rows) != SIZE or shapes != {SIZE} or not set(texts) <= set(f"123456789{EMPTY}"):
        return None
    return [0 if text == EMPTY else int(text) for text in texts]


def write_board(cells: Sequence[int]) -> str:
    """The board as it is printed: a list of lists, under its heading."""
    return f"{BOARD_HEADING}\n{[list(row) for row in as_rows(cells)]}"


def read_board(text: str) -> list[int] | None:
    """The last board that a text shows; None if there is none."""
    _, heading, board = text.rpartition(BOARD_HEADING)
    texts = _CELL.findall(board)
    if not heading or len(texts) != len(CELLS):
        return None
    return [0 if text == EMPTY else int(text) for text in texts]


def refusal(board: Sequence[int], given: Sequence[int], move: SudokuMove) -> str | None:
    """Why a move is not possible; None if it is."""
    row, column, region = UNITS_OF[move.cell]
    for name, unit in (("3x3 region", region), ("row", row), ("column", column)):
        if any(board[cell] == move.value for cell in UNITS[unit]):
            return f"The value {move.value} is already in this {name}."
    if given[move.cell]:
        return "This cell was given and cannot be changed."
    return None


@lru_cache(maxsize=64)
def winning_moves(
    board: tuple[int, ...], given: tuple[int, ...], answer: tuple[int, ...]
) -> tuple[SudokuMove, ...] | None:
    """Moves that end in the answer, one per cell that is not right yet; None if none are found.

    If wrong cells block each other, one of them takes another value for a while. Cached because
    most of what is asked is asked about the same board.
    """
    if 0 not in board and board != answer:
        return None  # the game is over, and lost
    cells, moves = list(board), list[SudokuMove]()
    parked: set[SudokuMove] = set()
    while wrong := [cell for cell in CELLS if cells[cell] not in (0, answer[cell])]:
        right = (SudokuMove(cell, answer[cell]) for cell in wrong)
        other = (SudokuMove(cell, value) for cell in wrong for value in VALUES)
        move = _first_possible(cells, given, right) or _first_possible(
            cells, given, (move for move in other if move not in parked)
        )
        if move is None:
            return None
        parked.add(move)
        cells[move.cell] = move.value
        moves.append(move)
    # No wrong cell is left, so nothing blocks the right values.
    return (*moves, *(SudokuMove(cell, answer[cell]) for cell in CELLS if not cells[cell]))


def _first_possible(
    board: Sequence[int], given: Sequence[int], moves: Iterable[SudokuMove]
) -> SudokuMove | None:
    return next((move for move in moves if refusal(board, given, move) is None), None)
