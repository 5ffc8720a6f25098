"""A report for the terminal."""

from collections.abc import Iterable, Sequence

from agentquest.reports.figures import Report, Row
from agentquest.reports.safe_text import one_line

# Narrow tables read better in a terminal than one that wraps.
_TABLES = (
    ("Outcome", ("episodes", "scored", "success", "progress", "reward")),
    ("Steps", ("steps", "steps_of_successes", "invalid")),
    ("Behaviour", ("repetition", "behaviour")),
)


def text_report(report: Report) -> str:
    parts = [
        f"AgentQuest report: {one_line(report.title)}",
        _pairs(report.facts),
        *(f"!!! {one_line(warning)}" for warning in report.warnings),
    ]
    if report.comparable:
        lines = "\n".join(f"  {one_line(line)}" for line in report.comparable)
        parts.append(f"Published scores for this protocol\n{lines}")
    for title, keys in _TABLES:
        shown = [column for column in report.columns if column.key in keys]
        headings = ["task type", *(column.heading for column in shown)]
        rows = [_texts(row, [column.key for column in shown]) for row in report.rows]
        parts.append(f"{title}\n{aligned([headings, *rows])}")
    if report.trials:
        parts.append(f"Several trials\n{_pairs((name, cell.text) for name, cell in report.trials)}")
    if report.ends:
        ends = ((end.cause.value, f"{end.episodes:4d}  {end.meaning}") for end in report.ends)
        parts.append(f"Ends\n{_pairs(ends)}")
    if report.spent:
        parts.append(f"Tokens and cost\n{_pairs(report.spent)}")
    parts.append("\n".join(report.notes))
    return "\n\n".join(part for part in parts if part) + "\n"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows under their headings: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append(f"  {'  '.join(cells)}".rstrip())
    return "\n".join(lines)


def _texts(row: Row, keys: Sequence[str]) -> list[str]:
    return [one_line(row.name), *(row.cells[key].text for key in keys)]


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    known = [(one_line(name), one_line(value)) for name, value in pairs]
    width = max((len(name) for name, _ in known), default=0)
    return "\n".join(f"  {name.ljust(width)}  {value}" for name, value in known)
