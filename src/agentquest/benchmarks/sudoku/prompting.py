"""What a prompt says about Sudoku, and example games.

Examples are not stored: the rule-based player fills the last cells of boards of the train
split. Whole games would be longer than the prompt.
"""

from functools import cache

from agentquest.benchmarks.sudoku.boards import Puzzle, puzzle
from agentquest.benchmarks.sudoku.driver import puzzle_driver
from agentquest.benchmarks.sudoku.explorer import SudokuExplorer
from agentquest.benchmarks.sudoku.grid import CELLS
from agentquest.lib import Briefing, Demonstration
from agentquest.lib.commands import make_tool
from agentquest.lib.game import DriverGame, play_example
from agentquest.lib.generated import TRAIN

_INSTRUCTIONS = """You solve a Sudoku by filling one cell after the other.
The command:
- Row: [row], Column: [column], Value: [value]: write a value into a cell, such as \
`Row: 0, Column: 3, Value: 7`
Rules:
- The board is printed as a list of 9 rows with 9 cells each; '*' is an empty cell.
- Rows are numbered 0 to 8 from the top, columns 0 to 8 from the left. Values are 1 to 9.
- In the end every row, every column and every 3x3 region has each value once. There is exactly \
one solution.
- A value that the region, the row or the column already has is refused, and so is a change of a \
given cell. The board stays as it was, and the step is spent.
- A cell that you filled yourself can be filled again with another value.
- The game is over when the board is full."""
_WHERE = {"type": "integer", "minimum": 0, "maximum": 8}
_TOOL = make_tool(
    "fill",
    "Write a value into a cell of the board.",
    "Row: <row>, Column: <column>, Value: <value>",
    row={**_WHERE, "description": "0 is the top row."},
    column={**_WHERE, "description": "0 is the leftmost column."},
    value={"type": "integer", "minimum": 1, "maximum": 9},
)
BRIEFING = Briefing(
    _INSTRUCTIONS,
    role="You are an agent that solves a Sudoku. "
    "Your goal is to fill all empty cells of the board, one at a time.",
    examples='"Row: 0, Column: 3, Value: 7" or "Row: 8, Column: 2, Value: 1"',
    help_lines=("rows and columns are counted from 0, and '*' is an empty cell",),
    tools=(_TOOL,),
)
_CELLS_LEFT = 5


@cache
def examples(category: str, count: int) -> tuple[tuple[Puzzle, Demonstration], ...]:
    """The last moves of boards of one category, always the same ones, with their boards."""
    boards = [puzzle(category, TRAIN, place) for place in range(count)]
    games = [DriverGame(puzzle_driver(_nearly_full(board))) for board in boards]
    played = [play_example(game, SudokuExplorer(), longest=len(CELLS)) for game in games]
    return tuple((board, each) for board, each in zip(boards, played, strict=True) if each)


def _nearly_full(board: Puzzle) -> Puzzle:
    """Some cells at even distances stay empty, the others are filled."""
    empty = [cell for cell in CELLS if not board.board[cell]]
    left = set(empty[:: max(1, len(empty) // _CELLS_LEFT)][:_CELLS_LEFT])
    filled = [0 if cell in left else board.answer[cell] for cell in CELLS]
    return Puzzle(tuple(filled), board.answer)
