"""A report for the terminal, in the width there is."""

import textwrap
from collections.abc import Iterable, Sequence

from agentquest.metrics.report import Report, Table
from agentquest.reports.safe_text import one_line

WIDTH = 80
_SHORTEST_NAME = 12
_SIDE_BY_SIDE = 60


def text_report(report: Report, width: int = WIDTH) -> str:
    """The report in lines of at most `width` characters, where its tables allow it."""
    parts = [
        wrap_text(f"AgentQuest report: {one_line(report.manifest.run_id)}", width),
        *(wrap_text(f"!!! {one_line(warning)}", width, "    ") for warning in report.warnings),
        pairs(report.facts, width),
    ]
    if report.published:
        lines = (wrap_text(f"  {one_line(line)}", width, "    ") for line in report.published)
        parts.append("Published scores for this protocol\n" + "\n".join(lines))
    for table in report.tables:
        body = pairs(table.rows, width) if len(table.headings) == 2 else text_table(table, width)
        parts.append(f"{table.title}\n{body}")
    parts.append("\n".join(wrap_text(note, width) for note in report.notes))
    return "\n\n".join(parts) + "\n"


def text_table(table: Table, width: int = WIDTH) -> str:
    """The rows under their headings; columns that do not fit stand in a further block below."""
    rows = [tuple(map(one_line, row)) for row in (table.headings, *table.rows)]
    columns = list(zip(*rows, strict=True))
    widest = max((len(cell) for column in columns[1:] for cell in column), default=0)
    names = _shorten(columns[0], max(_SHORTEST_NAME, width - widest - 4))
    room = width - 2 - len(names[0])
    blocks: list[list[list[str]]] = []
    left = 0
    for column in columns[1:]:
        each = max(map(len, column))
        if not blocks or each + 2 > left:
            blocks.append([names])
            left = room
        left -= each + 2
        flush = str.rjust if table.numbers else str.ljust
        blocks[-1].append([flush(cell, each) for cell in column])
    return "\n\n".join("\n".join(_lines(block)) for block in blocks)


def pairs(rows: Iterable[Sequence[str]], width: int = WIDTH) -> str:
    """Names to the left, values beside them, or below them where there is little room."""
    known = [(one_line(name), one_line(value)) for name, value in rows]
    longest = max((len(name) for name, _ in known), default=0)
    if width < _SIDE_BY_SIDE:
        return "\n".join(wrap_text(f"  {name}: {value}", width, "    ") for name, value in known)
    indent = " " * (longest + 4)
    return "\n".join(
        wrap_text(f"  {name.ljust(longest)}  {value}", width, indent) for name, value in known
    )


def wrap_text(text: str, width: int, indent: str = "") -> str:
    """The text in lines of at most `width` characters; its own spaces stay."""
    if len(text) <= width:
        return text.rstrip()
    return "\n".join(
        textwrap.wrap(
            text,
            width,
            subsequent_indent=indent,
            break_on_hyphens=False,
            drop_whitespace=True,
            replace_whitespace=False,
        )
    )


def _lines(block: Sequence[Sequence[str]]) -> Iterable[str]:
    for cells in zip(*block, strict=True):
        yield f"  {'  '.join(cells)}".rstrip()


def _shorten(names: Sequence[str], most: int) -> list[str]:
    """Names of one width; a long one loses its middle, as its ends tell most."""
    each = min(max(map(len, names)), most)
    shown = (
        name if len(name) <= each else f"{name[: each - each // 2 - 1]}…{name[-(each // 2) :]}"
        for name in names
    )
    return [name.ljust(each) for name in shown]
