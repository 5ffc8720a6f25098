"""Progress of a Sudoku episode."""

from agentquest.benchmarks.sudoku.types import SudokuAction
from agentquest.lib import Metrics, State


class SudokuMetrics(Metrics):
    """`answer` is the solution as rows, which the driver sets."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: tuple[tuple[str, ...], ...] = ()

    @property
    def action_values(self) -> list[str]:
        """Row, column and value in one: what repetition compares."""
        return [_in_one(step.action) for step in self.interactions]

    def progress_function(self, state: State) -> float:
        """The share of cells that are as in the solution, given ones included."""
        filled = [text for row in state.value for text in row]
        wanted = [text for row in self.answer for text in row]
        return sum(map(str.__eq__, filled, wanted)) / len(wanted)


def _in_one(action: object) -> str:
    assert isinstance(action, SudokuAction)
    return f"{action.row}{action.column}{action.value}" if action.is_move else action.value
