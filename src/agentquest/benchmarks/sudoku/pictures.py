"""The board as a table, with what each step changed."""

from collections.abc import Iterable, Iterator

from htpy import Element, caption, table, tbody, td, th, thead, tr
from markupsafe import Markup

from agentquest.benchmarks.sudoku.grid import SIZE
from agentquest.benchmarks.sudoku.types import EMPTY, as_rows, read_board
from agentquest.lib.types import Moment


def draw_boards(moments: Iterable[Moment]) -> Iterator[Markup | None]:
    """The board at each moment; None if its text shows no board."""
    before: list[int] | None = None
    for moment in moments:
        board = read_board(moment.observation)
        yield _draw(board, before or board) if board else None
        before = board or before


def _draw(board: list[int], before: list[int]) -> Markup:
    rows = [
        tr[th(scope="row")[number], map(_square, row, old)]
        for number, (row, old) in enumerate(zip(as_rows(board), as_rows(before), strict=True))
    ]
    columns = [th(scope="col")[number] for number in range(SIZE)]
    return Markup(
        table(".board.boxed")[caption["The board"], thead[tr[td, columns]], tbody[rows]],
    )


def _square(now: str, before: str) -> Element:
    return td(class_={"changed": now != before})["" if now == EMPTY else now]
