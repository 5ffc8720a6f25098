"""Sudoku: fill a board of 9 by 9, one cell at a time."""

from agentquest.benchmarks.sudoku.driver import SudokuDriver, SudokuMetrics, SudokuUtils
from agentquest.benchmarks.sudoku.types import SudokuAction, SudokuObservation, SudokuState

__all__ = [
    "SudokuAction",
    "SudokuDriver",
    "SudokuMetrics",
    "SudokuObservation",
    "SudokuState",
    "SudokuUtils",
]
