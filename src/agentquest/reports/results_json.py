"""`results.json`: the run in the shape that earlier evaluation scripts wrote and others read.

The documented keys come first and mean what they meant there; everything more
stands behind them. Only scored episodes are results: what infrastructure lost
is listed apart and never counted as a failed game.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from agentquest.metrics.result_entry import result_entry, type_numbers
from agentquest.metrics.rows import EpisodeRow, row_of
from agentquest.metrics.table import Metric, metrics_table
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.reports.model import Report, build_report

SCHEMA_VERSION = 2


def results_document(
    manifest: Manifest,
    records: Iterable[EpisodeRecord],
    rows: Sequence[EpisodeRow] | None = None,
) -> dict[str, Any]:
    """The content of `results.json`, from the newest record of each episode. Records that are
    slim need the rows that were made of the whole ones. A figure over nothing is null."""
    table = metrics_table(manifest)
    if rows is None:
        records = list(records)
        rows = [row_of(record, table) for record in records]
    numbers = type_numbers(manifest.task_types)
    entries = [
        (row.scored, result_entry(record, row, numbers))
        for record, row in zip(records, rows, strict=True)
    ]
    return {
        **results_frame(manifest, rows, table),
        "results": [entry for scored, entry in entries if scored],
        "unscored_results": [entry for scored, entry in entries if not scored],
    }


def results_frame(
    manifest: Manifest, rows: Sequence[EpisodeRow], table: tuple[Metric, ...]
) -> dict[str, Any]:
    """All of the document but the episodes' entries, whose lists are empty."""
    report = build_report(manifest, rows, table)
    return {
        # The agent, where no model answers.
        "model": manifest.model or manifest.agent,
        "timestamp": manifest.created_at,
        "config": _config(manifest, rows, type_numbers(manifest.task_types)),
        "summary": summary_section(report),
        "results": [],
        "unscored_results": [],
        "schema_version": SCHEMA_VERSION,
        "run_id": manifest.run_id,
        "agent": manifest.agent,
        "informed": manifest.informed,
        "agent_faults": manifest.agent_faults.value,
        "protocol": manifest.protocol,
        "warnings": list(report.warnings),
        "provenance": manifest.provenance.model_dump(),
        "versions": manifest.versions,
    }


def _config(
    manifest: Manifest, rows: Sequence[EpisodeRow], numbers: Mapping[str, int]
) -> dict[str, Any]:
    config = manifest.config
    llm, agent = config.get("llm") or {}, config.get("agent") or {}
    played = {row.task_type for row in rows}
    return {
        "num_games": len(manifest.task_ids),
        "task_types": [
            numbers.get(name, name)
            for name in (*numbers, *sorted(played - {*numbers}))
            if name in played
        ],
        "seed": config.get("seed"),
        "use_few_shot": agent.get("use_few_shot"),
        "max_steps": manifest.max_steps,
        "temperature": llm.get("temperature"),
        "max_tokens": llm.get("max_tokens"),
    }


def summary_section(report: Report) -> dict[str, Any]:
    """The figures over all scored episodes, as plain data."""
    group = report.summary.overall
    figures = {key: asdict(found) if found else None for key, found in group.figures.items()}
    success = group.figures["success"]
    return {
        "total_games": group.scored,
        "successes": group.successes,
        "success_rate": success.value if success else None,
        "avg_steps": _value(report, "steps"),
        "avg_steps_success": _value(report, "steps_of_successes"),
        "interval": [success.low, success.high] if success else None,
        "requested": max(report.manifest.requested, group.episodes),
        "unscored": group.episodes - group.scored,
        "metrics": figures,
        "replies": dict(group.replies),
        "unread_replies": dict(group.unread),
        "spent": asdict(report.summary.spent),
    }


def _value(report: Report, key: str) -> float | None:
    found = report.summary.overall.figures[key]
    return found.value if found else None
