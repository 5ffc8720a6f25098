"""The rule-based player: reads the printed board and concludes.

It fills a cell whose value can be concluded; if there is none, it tries values until the
whole board fits, as a patient person would on paper.
"""

from agentquest.benchmarks.sudoku.grid import CELLS, COLUMN, ROW, VALUES, conclude, solutions
from agentquest.benchmarks.sudoku.types import SudokuMove, read_board
from agentquest.lib import Explorer


class SudokuExplorer(Explorer):
    """Fills what can be concluded from the printed board, and solves the rest by trying."""

    def __init__(self) -> None:
        self._board = [0] * len(CELLS)
        self._worked_out: list[int] | None = None

    def next_action(self, observation: str) -> str:
        self._board = read_board(observation) or self._board
        return self._next_move().command

    def _next_move(self) -> SudokuMove:
        step = conclude(self._board)
        if step is not None:
            self._think(step.cell, step.value, step.reason.value)
            return SudokuMove(step.cell, step.value)
        cell = next((cell for cell in CELLS if not self._board[cell]), 0)
        solution = self._solution()
        if solution is None:
            self.thought = "The board cannot be filled any more."
            return SudokuMove(cell, VALUES[0])
        self._think(cell, solution[cell], "I tried values until the whole board fitted")
        return SudokuMove(cell, solution[cell])

    def _solution(self) -> list[int] | None:
        known = self._worked_out
        if known is None or any(
            value not in (0, wanted) for value, wanted in zip(self._board, known, strict=True)
        ):
            self._worked_out = next(solutions(self._board), None)
        return self._worked_out

    def _think(self, cell: int, value: int, reason: str) -> None:
        self.thought = f"Row {ROW[cell]}, column {COLUMN[cell]} is {value}: {reason}."
