"""A board of squares, drawn from what the agent was told.

Texts that hold rows of single signs, `[['5', '*'], ['*', '3']]`, can be drawn
whatever game they are of; any other text leaves nothing to draw.
"""

import re
from collections.abc import Iterator

from agentquest.records.episode import EpisodeRecord
from agentquest.reports.safe_text import html_text

_SIGN = "'[^'\\\\\n]'"
_ROW = rf"\[\s*{_SIGN}(?:\s*,\s*{_SIGN}){{1,31}}\s*\]"
_BOARD = re.compile(rf"\[\s*({_ROW}(?:\s*,\s*{_ROW}){{1,31}})\s*\]")
_EMPTY = " *.0_"
_BOX = 3  # squares of nine are ruled in threes
Board = tuple[str, ...]


def board_in(text: str) -> Board | None:
    """The last board of a text, a string of signs for each row; None without one."""
    found = _BOARD.findall(text)
    if not found:
        return None
    lines = re.findall(_ROW, found[-1])
    rows = tuple("".join(sign[1:-1] for sign in re.findall(_SIGN, line)) for line in lines)
    return rows if len({len(row) for row in rows}) == 1 else None


def board_views(record: EpisodeRecord) -> Iterator[str]:
    """The board at the start, and after each step, with what the step changed."""
    before: Board | None = None
    for text in (record.first_observation, *(step.observation for step in record.steps)):
        board = board_in(text)
        yield drawn(board, before) if board else ""
        before = board or before


def drawn(board: Board, before: Board | None = None) -> str:
    """A table; squares that are not as they were `before` are marked."""
    kind = "board boxed" if len(board) == len(board[0]) == _BOX**2 else "board"
    alike = before is not None and [*map(len, before)] == [*map(len, board)]
    old = before if alike and before else board
    rows = "".join(
        f'<tr><th scope="row">{place}</th>'
        f"{''.join(_square(now, was) for now, was in zip(row, past, strict=True))}</tr>"
        for place, (row, past) in enumerate(zip(board, old, strict=True))
    )
    columns = "".join(f'<th scope="col">{place}</th>' for place in range(len(board[0])))
    return (
        f'<table class="{kind}"><caption>The board</caption><thead><tr><td></td>{columns}</tr>'
        f"</thead><tbody>{rows}</tbody></table>"
    )


def _square(now: str, was: str) -> str:
    changed = ' class="changed"' if now != was else ""
    return f"<td{changed}>{'' if now in _EMPTY else html_text(now)}</td>"
