"""A report to paste into a document, an issue or a README."""

from collections.abc import Iterable, Sequence

from agentquest.reports.figures import Report
from agentquest.reports.safe_text import markdown_text


def markdown_report(report: Report) -> str:
    parts = [f"# AgentQuest report: {markdown_text(report.title)}"]
    parts += [f"> **Warning:** {markdown_text(warning)}" for warning in report.warnings]
    parts.append(markdown_table(("run", ""), report.facts, numbers=False))
    headings = ["task type", *(column.heading for column in report.columns)]
    rows = [
        [row.name, *(row.cells[column.key].text for column in report.columns)]
        for row in report.rows
    ]
    parts += ["## Figures", markdown_table(headings, rows)]
    if report.trials:
        trials = [(name, cell.text) for name, cell in report.trials]
        parts += ["## Several trials", markdown_table(("figure", "value"), trials)]
    if report.ends:
        ends = [(end.cause.value, str(end.episodes), end.meaning) for end in report.ends]
        parts += ["## Ends", markdown_table(("end", "episodes", "meaning"), ends, numbers=False)]
    if report.spent:
        parts += ["## Tokens and cost", markdown_table(("what", "how much"), report.spent)]
    if report.comparable:
        listed = "\n".join(f"- {markdown_text(line)}" for line in report.comparable)
        parts += ["## Published scores for this protocol", listed]
    parts.append("\n".join(f"- {markdown_text(note)}" for note in report.notes))
    return "\n\n".join(parts) + "\n"


def markdown_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: bool = True
) -> str:
    """A table; with `numbers`, all columns but the first stand to the right."""
    rule = ["---", *("---:" if numbers else "---" for _ in headings[1:])]
    lines = [_line(headings), f"| {' | '.join(rule)} |", *(_line(row) for row in rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(markdown_text(cell) for cell in cells)} |"
