"""Sudoku as the rest of AgentQuest knows it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from agentquest.benchmarks.sudoku import prompting
from agentquest.benchmarks.sudoku.boards import CATEGORIES, GENERATOR
from agentquest.benchmarks.sudoku.driver import GOAL, SudokuDriver, puzzle_driver
from agentquest.benchmarks.sudoku.explorer import SudokuExplorer
from agentquest.benchmarks.sudoku.tasks import (
    DEV,
    PER_CATEGORY,
    SPLITS,
    TEST,
    puzzle_of,
    tasks_of,
)
from agentquest.benchmarks.sudoku.terminal import SudokuView
from agentquest.lib import Benchmark, Briefing, Driver, Explorer, Moment, Oracle, Task
from agentquest.records.manifest import Provenance

if TYPE_CHECKING:  # playing needs no HTML
    from htpy import Node


class SudokuBenchmark(Benchmark):
    """Sudoku boards with one solution, filled in cell by cell."""

    name: ClassVar[str] = "sudoku"
    title: ClassVar[str] = "Sudoku"
    splits: ClassVar[Mapping[str, int | None]] = dict.fromkeys(
        SPLITS, PER_CATEGORY * len(CATEGORIES)
    )
    split_aliases: ClassVar[Mapping[str, str]] = {
        "eval_out_of_distribution": TEST,
        "eval_in_distribution": DEV,
    }
    task_types: ClassVar[tuple[str, ...]] = CATEGORIES
    step_limit: ClassVar[int] = 100  # a hard board takes 56 moves without one mistake

    def tasks(self) -> list[Task]:
        return tasks_of(self.split, self.wanted_types)

    def driver(self, task: Task) -> SudokuDriver:
        return puzzle_driver(puzzle_of(task))

    def briefing(self, driver: Driver, task: Task, demonstrations: int) -> Briefing:
        # One more than asked for, because a task of the train split may be an example itself.
        played = prompting.examples(task.task_type, demonstrations + 1) if demonstrations else ()
        answer = puzzle_of(task).answer
        others = [example for board, example in played if board.answer != answer]
        return Briefing(
            instructions=prompting.INSTRUCTIONS,
            role=prompting.ROLE,
            examples=prompting.EXAMPLES,
            help_lines=prompting.HELP_LINES,
            demonstrations=tuple(others[:demonstrations]),
            tools=prompting.TOOLS,
        )

    def goal_in(self, observation: str) -> str:
        return GOAL

    def explorer(self) -> Explorer:
        return SudokuExplorer()

    def oracle(self, driver: Driver) -> Oracle | None:
        assert isinstance(driver, SudokuDriver)
        return Oracle(driver.plan)

    def view(self) -> SudokuView:
        return SudokuView()

    @classmethod
    def pictures(cls, moments: Sequence[Moment]) -> "Iterable[Node]":
        from agentquest.benchmarks.sudoku.pictures import draw_boards

        return draw_boards(moments)

    def provenance(self) -> Provenance:
        return Provenance(data="generated", split=self.split, details={"generator": GENERATOR})
