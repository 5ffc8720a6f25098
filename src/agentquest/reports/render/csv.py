"""Reports, sweeps and comparisons as numbers, for spreadsheets and pandas.

What was run stands in every row, so that the tables of several runs can be put
one below the other. Rates are fractions of 1; an empty cell is an unknown figure.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import IO

from agentquest.metrics.report import ALL, Report, Row
from agentquest.metrics.rows import Spent
from agentquest.metrics.statistics import Estimate
from agentquest.records.outcome import End
from agentquest.reports.compare import Comparison
from agentquest.reports.sweep import SweepRow
from agentquest.safe_text import csv_text

_TOKENS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")


def csv_report(report: Report) -> str:
    """A row per task type and one for all; only this last one has what the run spent."""
    rows = [{**_run(report), **_row(report, row)} for row in report.rows]
    rows[-1].update(_of_the_whole_run(report))
    return _table(rows)


def csv_sweep(rows: Sequence[SweepRow]) -> str:
    """A row per run, and one over all seeds of a setting, which has no seed."""
    return _table([_swept(row) for row in rows])


def csv_comparison(comparisons: Sequence[Comparison]) -> str:
    """A row per metric of each pair of runs, then success in each task type."""
    return _table([row for one in comparisons for row in _differences(one)])


def _table(rows: Sequence[Mapping[str, object]]) -> str:
    file = io.StringIO()
    write_cells(file, dict.fromkeys(name for row in reversed(rows) for name in row), rows)
    return file.getvalue()


def write_cells(file: IO[str], names: Iterable[str], rows: Iterable[Mapping[str, object]]) -> None:
    """The rows below their names; what a row lacks or is None is empty, text is never a formula."""
    writer = csv.DictWriter(file, list(names), restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: csv_text(v) if isinstance(v, str) else v for k, v in row.items()})


def _run(report: Report) -> dict[str, object]:
    manifest = report.manifest
    return {
        "run": manifest.run_id,
        "benchmark": manifest.benchmark,
        "data": manifest.provenance.data,
        "split": manifest.provenance.split,
        "protocol": manifest.protocol or "",
        "agent": manifest.agent,
        "informed": int(manifest.informed),
        "agent_faults": manifest.agent_faults.value,
        "model": manifest.model or "",
        "max_steps": manifest.max_steps,
        "trials": manifest.trials,
    }


def _row(report: Report, row: Row) -> dict[str, object]:
    group = row.group
    cells: dict[str, object] = {
        "task_type": row.name,
        "episodes": group.episodes,
        "scored": group.scored,
        "successes": group.successes,
    }
    for metric in report.metrics:
        cells.update(_figure(metric.key, row.cells[metric.key].estimate))
    cells["replies"] = sum(group.replies.values())
    cells["unread_replies"] = sum(group.unread.values())
    cells.update({f"end_{end.value}": group.ends.get(end, 0) for end in End})
    return cells


def _figure(name: str, estimate: Estimate | None) -> dict[str, object]:
    return {
        name: estimate.value if estimate else "",
        f"{name}_low": estimate.low if estimate else "",
        f"{name}_high": estimate.high if estimate else "",
        f"{name}_n": estimate.n if estimate else 0,
    }


def _swept(row: SweepRow) -> dict[str, object]:
    cells: dict[str, object] = dict(zip(("agent", "model", "protocol"), row.setting, strict=True))
    cells.update(seed=row.seed, scored=row.scored, requested=row.requested)
    for name, cell in row.figures.items():
        cells.update(_figure(name, cell.estimate))
    return {**cells, **_spent(row.spent), **asdict(row.pace)}


def _differences(comparison: Comparison) -> Iterator[dict[str, object]]:
    overall = [(ALL, one) for one in comparison.differences.values()]
    for task_type, found in (*overall, *comparison.by_type.items()):
        yield {
            "baseline": comparison.baseline,
            "other": comparison.other,
            "task_type": task_type,
            "metric": found.metric.key,
            "baseline_value": found.baseline,
            "other_value": found.other,
            **_figure("difference", found.difference),
            "p_value": found.p_value,
            "corrected_p_value": found.corrected_p_value,
        }


def _of_the_whole_run(report: Report) -> dict[str, object]:
    """Columns that only the row of all episodes has."""
    cells: dict[str, object] = {}
    for name, cell in report.trials:
        cells.update(_figure(name, cell.estimate))
    summary = report.summary
    cells.update(_spent(summary.spent), replaced_calls=summary.replaced.calls)
    return {**cells, **asdict(summary.pace)}


def _spent(spent: Spent) -> dict[str, object]:
    """Tokens and cost are empty where unknown."""
    is_counted = spent.uncounted_calls < spent.calls
    return {
        "calls": spent.calls,
        **{name: getattr(spent, name) if is_counted else None for name in _TOKENS},
        "cost": spent.cost if spent.calls else None,
        "uncounted_calls": spent.uncounted_calls,
        "unpriced_calls": spent.unpriced_calls,
    }
