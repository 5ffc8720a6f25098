"""A run as Python sees it: its records, its figures, and plain rows for a table."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from agentquest.metrics.measured import table_of
from agentquest.metrics.rows import EpisodeRow, rows_of
from agentquest.metrics.table import Metric
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.records.run_directory import RunDirectory
from agentquest.reports.model import Report, build_report
from agentquest.reports.results_json import summary_section
from agentquest.words import counted

Played = TypeVar("Played", EpisodeRecord, EpisodeRow)


class RunResult:
    """A run, finished or not. What is large is read when it is first asked for."""

    def __init__(
        self,
        path: Path,
        manifest: Manifest,
        reason: str | None = None,
        rows: Sequence[EpisodeRow] | None = None,
        table: tuple[Metric, ...] | None = None,
    ) -> None:
        self.path = path
        self.manifest = manifest
        self.reason = reason
        """Why the run stopped early; None if nothing made it."""
        self._given_rows = rows
        self._given_table = table

    @cached_property
    def records(self) -> list[EpisodeRecord]:
        """The newest record of each episode in full, in the order of the run's tasks."""
        return self._in_order(RunDirectory(self.path).records())

    @cached_property
    def report(self) -> Report:
        """Everything that reports say, with intervals; `reports.render` lays it out."""
        return build_report(self.manifest, self._rows, self._table)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The figures over all scored episodes, as results.json has them."""
        return summary_section(self.report)

    @property
    def owed(self) -> int:
        """How many episodes have no score yet."""
        return max(0, self.manifest.requested - sum(row.scored for row in self._rows))

    @property
    def complete(self) -> bool:
        """Whether every episode has a score."""
        return self.owed == 0

    def to_rows(self) -> list[dict[str, Any]]:
        """One plain row per episode, for `pandas.DataFrame(rows)` or a CSV file.

        Every metric of the run is a column. What is not known is None.
        """
        return [plain_row(row) for row in self._rows]

    def __repr__(self) -> str:
        scored = [row for row in self._rows if row.scored]
        won = sum(row.success for row in scored)
        owed = f", {self.owed} owed" if self.owed else ""
        episodes = counted(len(scored), "episode")
        return f"<RunResult {self.path}: {won} of {episodes} solved{owed}>"

    @cached_property
    def _table(self) -> tuple[Metric, ...]:
        return self._given_table or table_of(RunDirectory(self.path), self.manifest)

    @cached_property
    def _rows(self) -> list[EpisodeRow]:
        """Read one record at a time: a large run does not fit into memory."""
        if self._given_rows is not None:
            return self._in_order(list(self._given_rows))
        return self._in_order(rows_of(RunDirectory(self.path).tries(), self._table))

    def _in_order(self, episodes: list[Played]) -> list[Played]:
        places = {task: place for place, task in enumerate(self.manifest.task_ids)}
        return sorted(episodes, key=lambda one: (one.trial, places.get(one.task_id, len(places))))


def plain_row(row: EpisodeRow) -> dict[str, Any]:
    """A row as plain data; what is not known is None."""
    setting, spent = row.setting, row.spent
    is_counted = spent.calls > 0 and not spent.uncounted_calls
    return {
        "benchmark": setting.benchmark,
        "split": setting.split,
        "task_id": row.task_id,
        "task_type": row.task_type,
        "trial": row.trial,
        "agent": setting.agent,
        "model": setting.model,
        **dict(setting.facts),
        **row.values,
        "success": row.success,
        "scored": row.scored,
        "end": row.end.value,
        "error": row.error,
        "steps": row.steps,
        "seconds": row.seconds,
        "model_calls": spent.calls,
        "prompt_tokens": spent.prompt_tokens if is_counted else None,
        "completion_tokens": spent.completion_tokens if is_counted else None,
        "cost": spent.cost if spent.calls and not spent.unpriced_calls else None,
    }
