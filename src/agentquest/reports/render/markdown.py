"""A report to paste into a document, an issue or a README."""

from collections.abc import Sequence

from agentquest.metrics.report import Report, Table
from agentquest.reports.safe_text import markdown_text


def markdown_report(report: Report) -> str:
    """The report as Markdown; what came from data or models is escaped."""
    parts = [f"# AgentQuest report: {markdown_text(report.manifest.run_id)}"]
    parts += [f"> **Warning:** {markdown_text(warning)}" for warning in report.warnings]
    parts.append(markdown_table(Table("Run", ("run", ""), report.facts, numbers=False)))
    for table in report.tables:
        parts += [f"## {table.title}", markdown_table(table)]
    if report.published:
        listed = "\n".join(f"- {markdown_text(line)}" for line in report.published)
        parts += ["## Published scores for this protocol", listed]
    parts.append("\n".join(f"- {markdown_text(note)}" for note in report.notes))
    return "\n\n".join(parts) + "\n"


def markdown_table(table: Table) -> str:
    """Where the cells are numbers, all columns but the first stand to the right."""
    rule = ["---", *("---:" if table.numbers else "---" for _ in table.headings[1:])]
    lines = [_line(table.headings), f"| {' | '.join(rule)} |", *map(_line, table.rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(markdown_text(cell) for cell in cells)} |"
