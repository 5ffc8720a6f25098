"""The figures as numbers, one row a task type and one for all, for spreadsheets and pandas.

What was run stands in every row, so that the tables of several runs can be put
one below the other. Rates are fractions of 1; an empty cell is an unknown figure.
"""

import csv
import io

from agentquest.errors import Cause
from agentquest.reports.figures import Report, Row
from agentquest.reports.safe_text import one_line

_RUN_FACTS = ("benchmark", "split", "dialect", "protocol", "agent", "model", "max steps")
_COUNTS = ("episodes", "scored")


def csv_report(report: Report) -> str:
    rows = [_row(report, row) for row in report.rows]
    rows[-1].update(_of_the_whole_run(report))
    file = io.StringIO()
    writer = csv.DictWriter(file, fieldnames=list(rows[-1]), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def _row(report: Report, row: Row) -> dict[str, object]:
    facts = dict(report.facts)
    cells: dict[str, object] = {"run": one_line(report.title)}
    for name in _RUN_FACTS:
        cells[name.replace(" ", "_")] = one_line(facts.get(name, ""))
    cells["task_type"] = one_line(row.name)
    for column in report.columns:
        cell = row.cells[column.key]
        if column.key in _COUNTS:
            cells[column.key] = cell.count
            continue
        if column.key == "success":
            cells["successes"] = row.group.successes
        estimate = cell.estimate
        cells[column.key] = estimate.value if estimate else ""
        cells[f"{column.key}_low"] = estimate.low if estimate else ""
        cells[f"{column.key}_high"] = estimate.high if estimate else ""
        cells[f"{column.key}_n"] = estimate.n if estimate else 0
    for cause in Cause:
        cells[f"end_{cause.value}"] = row.group.ends.get(cause.value, 0)
    return cells


def _of_the_whole_run(report: Report) -> dict[str, object]:
    """Columns that only the row of all episodes has."""
    spent = report.summary.spent
    cells: dict[str, object] = {}
    for name, cell in report.trials:
        assert cell.estimate is not None, "a figure over trials is only listed when it is known"
        cells[name] = cell.estimate.value
        cells[f"{name}_low"] = cell.estimate.low
        cells[f"{name}_high"] = cell.estimate.high
    cells["calls"] = spent.calls
    cells["prompt_tokens"] = spent.prompt_tokens
    cells["completion_tokens"] = spent.completion_tokens
    cells["reasoning_tokens"] = spent.reasoning_tokens
    cells["cost"] = "" if spent.unpriced_calls == spent.calls else spent.cost
    cells["uncounted_calls"] = spent.uncounted_calls
    cells["unpriced_calls"] = spent.unpriced_calls
    return cells
