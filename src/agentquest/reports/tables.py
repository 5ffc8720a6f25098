"""A table as every format lays it out: headings, and cells that are text already."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """The first column names the row. `hints` explain columns; `total` marks the last row."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    hints: tuple[str, ...] = ()
    total: bool = False
    numbers: bool = True
