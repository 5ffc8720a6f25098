"""Sudoku as the rest of AgentQuest knows it, and as people see it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from agentquest.benchmarks.sudoku import prompting
from agentquest.benchmarks.sudoku.boards import CATEGORIES, GENERATOR, puzzle_of
from agentquest.benchmarks.sudoku.driver import GOAL, SudokuDriver, puzzle_driver
from agentquest.benchmarks.sudoku.explorer import SudokuExplorer
from agentquest.benchmarks.sudoku.types import BOARD_HEADING, EMPTY, as_rows, read_board
from agentquest.lib import (
    Briefing,
    Driver,
    Explorer,
    Moment,
    Observation,
    Oracle,
    Task,
    TerminalView,
)
from agentquest.lib.generated import GeneratedBenchmark

if TYPE_CHECKING:  # playing needs no HTML
    from htpy import Node

_EDGE = "  +-------+-------+-------+"
_COLUMNS = "    0 1 2   3 4 5   6 7 8"


class SudokuBenchmark(GeneratedBenchmark):
    """Sudoku boards with one solution, filled in cell by cell."""

    name: ClassVar[str] = "sudoku"
    title: ClassVar[str] = "Sudoku"
    generator: ClassVar[str] = GENERATOR
    task_types: ClassVar[tuple[str, ...]] = CATEGORIES
    step_limit: ClassVar[int] = 100  # a hard board takes 56 moves without one mistake

    def driver(self, task: Task) -> SudokuDriver:
        return puzzle_driver(puzzle_of(task))

    def briefing(self, driver: Driver, task: Task, demonstrations: int) -> Briefing:
        # One more than asked for, because a task of the train split may be an example itself.
        played = prompting.examples(task.task_type, demonstrations + 1) if demonstrations else ()
        answer = puzzle_of(task).answer
        others = [example for board, example in played if board.answer != answer]
        return replace(prompting.BRIEFING, demonstrations=tuple(others[:demonstrations]))

    def goal_in(self, observation: str) -> str:
        return GOAL

    def explorer(self) -> Explorer:
        return SudokuExplorer()

    def oracle(self, driver: Driver) -> Oracle | None:
        assert isinstance(driver, SudokuDriver)
        return Oracle(driver.plan)

    def view(self) -> TerminalView:
        return SudokuView()

    @classmethod
    def pictures(cls, moments: Sequence[Moment]) -> "Iterable[Node]":
        from agentquest.benchmarks.sudoku.pictures import draw_boards

        return draw_boards(moments)


class SudokuView(TerminalView):
    """Draws the board, and lists the commands by their row."""

    def room(self, observation: Observation) -> str:
        return f"Type row, column and value, such as 0 3 7.\n{_draw(observation.text)}"

    def show(self, observation: Observation) -> str:
        remark, heading, _ = observation.text.partition(BOARD_HEADING)
        drawn = _draw(observation.text)
        return f"{remark}{drawn}" if heading else drawn

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        row, _, rest = command.partition(", ")
        return row, rest


def _draw(text: str) -> str:
    cells = read_board(text)
    if cells is None:
        return text
    lines = [_COLUMNS]
    for number, row in enumerate(as_rows(cells)):
        parts = [" ".join(row[start : start + 3]) for start in (0, 3, 6)]
        lines += [_EDGE] if number % 3 == 0 else []
        lines.append(f"{number} | {' | '.join(parts)} |".replace(EMPTY, "."))
    return "\n".join([*lines, _EDGE])
