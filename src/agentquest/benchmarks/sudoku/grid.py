"""The board as 81 numbers (0: empty) row by row, and what can be concluded from it.

Sets of values are bit masks: bit 1 << 5 means a 5.
"""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

SIZE = 9
CELLS = range(SIZE * SIZE)
VALUES = range(1, SIZE + 1)
ROW = tuple(cell // SIZE for cell in CELLS)
COLUMN = tuple(cell % SIZE for cell in CELLS)
REGION = tuple(ROW[cell] // 3 * 3 + COLUMN[cell] // 3 for cell in CELLS)
# Rows, columns and regions are the 27 units.
UNITS_OF = tuple((ROW[cell], SIZE + COLUMN[cell], 2 * SIZE + REGION[cell]) for cell in CELLS)
UNITS = tuple(tuple(cell for cell in CELLS if unit in UNITS_OF[cell]) for unit in range(3 * SIZE))
PEERS = tuple(
    tuple(sorted({other for unit in UNITS_OF[cell] for other in UNITS[unit]} - {cell}))
    for cell in CELLS
)
_ALL = sum(1 << value for value in VALUES)
_ONE = {1 << value: value for value in VALUES}


class Reason(Enum):
    """Why a value belongs in a cell."""

    ONLY_VALUE = "no other value fits there"
    ONLY_CELL = "no other cell of its row, column or region can take it"


class Conclusion(NamedTuple):
    """A value that a cell must have, and why."""

    cell: int
    value: int
    reason: Reason


def candidates(cells: Sequence[int], cell: int) -> int:
    """The values that no peer of a cell has."""
    taken = 0
    for peer in PEERS[cell]:
        taken |= 1 << cells[peer]
    return _ALL & ~taken


def follows(cells: Sequence[int], cell: int, value: int) -> bool:
    """Whether one of the two reasons leads to the value of an empty cell."""
    if candidates(cells, cell) in _ONE:
        return True
    bit = 1 << value
    return any(
        not any(
            other != cell and not cells[other] and candidates(cells, other) & bit
            for other in UNITS[unit]
        )
        for unit in UNITS_OF[cell]
    )


def conclude(cells: Sequence[int]) -> Conclusion | None:
    """The next cell whose value can be concluded, by the simpler reason if possible."""
    possible = {cell: candidates(cells, cell) for cell in CELLS if not cells[cell]}
    for cell, values in possible.items():
        if values in _ONE:
            return Conclusion(cell, _ONE[values], Reason.ONLY_VALUE)
    for unit in UNITS:
        seen = twice = 0
        for cell in unit:
            values = possible.get(cell, 0)
            twice |= seen & values
            seen |= values
        once = seen & ~twice
        if once:
            bit = once & -once
            cell = next(cell for cell in unit if possible.get(cell, 0) & bit)
            return Conclusion(cell, _ONE[bit], Reason.ONLY_CELL)
    return None


def reasons_needed(cells: Sequence[int]) -> set[Reason] | None:
    """The reasons that fill the whole board, the simpler one wherever possible; None if they do
    not suffice."""
    board, needed = list(cells), set()
    while 0 in board:
        step = conclude(board)
        if step is None:
            return None
        board[step.cell] = step.value
        needed.add(step.reason)
    return needed


def solutions(cells: Sequence[int], order: Sequence[int] = VALUES) -> Iterator[list[int]]:
    """All ways to fill the board, trying values in this order; none if it breaks the rules."""
    used = [0] * len(UNITS)
    for cell in CELLS:
        bit = 1 << cells[cell]
        for unit in UNITS_OF[cell] if cells[cell] else ():
            if used[unit] & bit:
                return
            used[unit] |= bit
    empty = [cell for cell in CELLS if not cells[cell]]
    yield from _fill(list(cells), empty, used, [(value, 1 << value) for value in order])


def _fill(
    board: list[int], empty: list[int], used: list[int], order: Sequence[tuple[int, int]]
) -> Iterator[list[int]]:
    """Fills the empty cells in place; `used` has the values of each unit."""
    if not empty:
        yield list(board)
        return
    place, free = _most_limited(empty, used)
    cell = empty.pop(place)
    for value, bit in order:
        if free & bit:
            board[cell] = value
            for unit in UNITS_OF[cell]:
                used[unit] ^= bit
            yield from _fill(board, empty, used, order)
            for unit in UNITS_OF[cell]:
                used[unit] ^= bit
    empty.insert(place, cell)


def _most_limited(empty: Sequence[int], used: Sequence[int]) -> tuple[int, int]:
    """The place of an empty cell with the fewest possible values, and these."""
    best, fewest = (0, 0), SIZE + 1
    for place, cell in enumerate(empty):
        row, column, region = UNITS_OF[cell]
        free = _ALL & ~(used[row] | used[column] | used[region])
        count = free.bit_count()
        if count < fewest:
            best, fewest = (place, free), count
            if count < 2:
                break
    return best


def is_only_solution(cells: Sequence[int], cell: int, value: int) -> bool:
    """Whether a board that has one solution with this value in an empty cell has no other."""
    board = list(cells)
    others = candidates(cells, cell) & ~(1 << value)
    for other in VALUES:
        board[cell] = other
        if others >> other & 1 and next(solutions(board), None) is not None:
            return False
    return True
