"""`results.json`: the run in the shape that earlier evaluation scripts wrote and others read.

The documented keys come first and mean what they meant there; everything else follows
them. Only scored episodes are results: what infrastructure lost is listed apart and
never counted as a failed game. The file is written episode by episode, so a run of any
size fits into memory.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from pydantic_core import from_json

from agentquest.files import explain_write_errors, open_replacement, to_json
from agentquest.metrics.report import Report
from agentquest.metrics.rows import EpisodeRow
from agentquest.records.episode import mark_invalid
from agentquest.records.manifest import Manifest
from agentquest.store.folder import RESULTS

SCHEMA_VERSION = 2
Episodes = Iterable[tuple[EpisodeRow, bytes]]  # rows and the JSON of their records


def write_results(
    folder: Path, report: Report, rows: Sequence[EpisodeRow], scored: Episodes, unscored: Episodes
) -> None:
    """Replace `results.json` at once. A figure over nothing is null."""
    numbers = _type_numbers(report.manifest)
    lists = {"results": scored, "unscored_results": unscored}
    with explain_write_errors(folder / RESULTS), open_replacement(folder / RESULTS) as draft:
        separator = "{\n"
        for name, value in _frame(report, rows).items():
            draft.write(f"{separator}{json.dumps(name)}: ")
            if name in lists:
                _write_list(draft, (_entry(*one, numbers) for one in lists[name]))
            else:
                draft.write(to_json(value).rstrip())
            separator = ",\n"
        draft.write("\n}\n")


def _write_list(draft: IO[str], entries: Iterable[Mapping[str, Any]]) -> None:
    separator = "["
    for entry in entries:
        text = json.dumps(entry, ensure_ascii=False, allow_nan=False)
        draft.write(f"{separator}\n{text}")
        separator = ","
    draft.write("[]" if separator == "[" else "\n]")


def _entry(row: EpisodeRow, content: bytes, numbers: Mapping[str, int]) -> dict[str, Any]:
    """An episode. Its record was validated when its row was made, so it is read as plain data."""
    record = from_json(content)
    steps = record["steps"]
    return {
        "task_type": numbers.get(row.task_type, row.task_type),
        "game_id": row.task_id,
        "success": row.success,
        "steps": row.steps,
        "actions": [_action(step) for step in steps],
        "observations": [step["observation"] for step in steps],
        "game_file": record.get("game_file") or record["problem"],
        "trial": row.trial,
        "end": row.end.value,
        "error": record.get("error"),
        "goal": record["goal"],
        "first_observation": record["first_observation"],
        "metrics": dict(row.values),
    }


def _action(step: Mapping[str, Any]) -> str:
    """What the agent asked for; a reply without an action is marked as such."""
    action: str | None = step["action"]
    return action if action is not None else mark_invalid(step.get("reply", ""))


def _type_numbers(manifest: Manifest) -> dict[str, int]:
    return {name: number for number, name in enumerate(manifest.task_types, start=1)}


def _frame(report: Report, rows: Sequence[EpisodeRow]) -> dict[str, Any]:
    """All of the document but the episodes' entries, whose lists are empty."""
    manifest = report.manifest
    return {
        # The agent, where no model answers.
        "model": manifest.model or manifest.agent,
        "timestamp": manifest.created_at,
        "config": _config(manifest),
        "summary": summary_section(report),
        "results": [],
        "unscored_results": [],
        "played": _played(manifest, rows),
        "schema_version": SCHEMA_VERSION,
        "run_id": manifest.run_id,
        "agent": manifest.agent,
        "informed": manifest.informed,
        "agent_faults": manifest.agent_faults.value,
        "protocol": manifest.protocol,
        "warnings": list(report.warnings),
        "provenance": manifest.provenance.model_dump(),
        "versions": manifest.versions,
        # Apart from the figures, which are the same whenever the same games are played.
        "pace": asdict(report.summary.pace),
    }


def _config(manifest: Manifest) -> dict[str, Any]:
    config, numbers = manifest.config, _type_numbers(manifest)
    llm, agent = config.get("llm") or {}, config.get("agent") or {}
    chosen = manifest.task_types if manifest.chosen_types is None else manifest.chosen_types
    return {
        "num_games": config.get("num_games"),
        "task_types": [numbers.get(name, name) for name in chosen],
        "seed": config.get("seed"),
        "use_few_shot": agent.get("use_few_shot"),
        "max_steps": manifest.max_steps,
        "temperature": llm.get("temperature"),
        "max_tokens": llm.get("max_tokens"),
    }


def _played(manifest: Manifest, rows: Sequence[EpisodeRow]) -> dict[str, Any]:
    """What came of the configuration: the tasks it selected, and the types played so far."""
    numbers, played = _type_numbers(manifest), {row.task_type for row in rows}
    names = [name for name in (*numbers, *sorted(played - {*numbers})) if name in played]
    return {
        "num_games": len(manifest.task_ids),
        "task_types": [numbers.get(name, name) for name in names],
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
        "spent": report.summary.spent.plain(),
        "spent_on_replaced": report.summary.replaced.plain(),
    }


def _value(report: Report, key: str) -> float | None:
    found = report.summary.overall.figures[key]
    return found.value if found else None
