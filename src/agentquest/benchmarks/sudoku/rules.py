"""Which moves are possible, and what wins from any board."""

from collections.abc import Iterable, Sequence

from agentquest.benchmarks.sudoku.grid import CELLS, UNITS, UNITS_OF, VALUES
from agentquest.benchmarks.sudoku.types import Move


def refusal(board: Sequence[int], given: Sequence[int], move: Move) -> str | None:
    """Why a move is not possible; None if it is."""
    row, column, region = UNITS_OF[move.cell]
    for name, unit in (("3x3 region", region), ("row", row), ("column", column)):
        if any(board[cell] == move.value for cell in UNITS[unit]):
            return f"The value {move.value} is already in this {name}."
    if given[move.cell]:
        return "This cell was given and cannot be changed."
    return None


def winning_moves(
    board: Sequence[int], given: Sequence[int], answer: Sequence[int]
) -> list[Move] | None:
    """Moves that end in the answer, one per cell that is not right yet; None if none are found.

    Where wrong cells block each other, one of them takes another value for a while.
    """
    cells, moves = list(board), list[Move]()
    parked: set[Move] = set()
    while any(cells[cell] not in (0, answer[cell]) for cell in CELLS):
        wrong = [cell for cell in CELLS if cells[cell] not in (0, answer[cell])]
        right = (Move(cell, answer[cell]) for cell in wrong)
        other = (Move(cell, value) for cell in wrong for value in VALUES)
        move = _first_possible(cells, given, right) or _first_possible(
            cells, given, (move for move in other if move not in parked)
        )
        if move is None:
            return None
        parked.add(move)
        cells[move.cell] = move.value
        moves.append(move)
    # Nothing wrong is left, so nothing stands in the way.
    return moves + [Move(cell, answer[cell]) for cell in CELLS if not cells[cell]]


def _first_possible(
    board: Sequence[int], given: Sequence[int], moves: Iterable[Move]
) -> Move | None:
    return next((move for move in moves if refusal(board, given, move) is None), None)
