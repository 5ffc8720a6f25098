"""`results.json`: the run in the shape that earlier evaluation scripts wrote and others read.

The documented keys come first and mean what they meant there; everything else follows
them. Only scored episodes are results: what infrastructure lost is listed apart and
never counted as a failed game. The file is written episode by episode, so a run of any
size fits into memory. It is never more than twice as large as the records, which a large run
packs: where it would be, the observations are null, and stand in the records alone.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from agentquest.files import explain_errors, replace_with_draft, to_json
from agentquest.metrics.report import Report
from agentquest.metrics.rows import EpisodeRow
from agentquest.records.episode import mark_invalid
from agentquest.records.manifest import Manifest
from agentquest.store.folder import EPISODES, RESULTS

SCHEMA_VERSION = 2
# Finds the JSON of the records of rows, in their order.
Read = Callable[[Sequence[EpisodeRow]], Iterable[bytes]]
_ANY_SIZE = 1 << 20


def write_results(
    folder: Path, report: Report, rows: Sequence[EpisodeRow], read: Read, running: bool = False
) -> None:
    """Replace `results.json` at once. A figure over nothing is null, and so is every interval
    while the run is `running`: wins end early."""
    frame, numbers = _frame(report, rows, running), _type_numbers(report.manifest)
    file = folder / RESULTS
    with (
        explain_errors("write", file),
        replace_with_draft(file) as place,
        place.open("w", encoding="utf-8") as draft,
    ):
        most = max(_ANY_SIZE, 2 * (folder / EPISODES).stat().st_size if rows else 0)
        for observed in (True, False):
            draft.seek(0)
            draft.truncate()
            size = 0
            for piece in _write(frame, rows, read, numbers, observed):
                draft.write(piece)
                size += len(piece)
                if observed and size > most:
                    break
            else:
                break


def _write(
    frame: Mapping[str, Any],
    rows: Sequence[EpisodeRow],
    read: Read,
    numbers: Mapping[str, int],
    observed: bool,
) -> Iterator[str]:
    """The document piece by piece."""
    for place, (name, value) in enumerate(frame.items()):
        yield f"{',' if place else '{'}\n{json.dumps(name)}: "
        if name not in ("results", "unscored_results"):
            yield to_json(value).rstrip()
            continue
        listed = [row for row in rows if row.scored == (name == "results")]
        separator = "["
        for row, content in zip(listed, read(listed), strict=True):
            entry = _entry(row, content, numbers, observed)
            yield f"{separator}\n{json.dumps(entry, ensure_ascii=False, allow_nan=False)}"
            separator = ","
        yield "\n]" if listed else "[]"
    yield "\n}\n"


def _entry(
    row: EpisodeRow, content: bytes, numbers: Mapping[str, int], observed: bool
) -> dict[str, Any]:
    """An episode. Its record was validated when its row was made, so it is read as plain data."""
    record = from_json(content)
    steps = record["steps"]
    return {
        "task_type": numbers.get(row.task_type, row.task_type),
        "game_id": row.task_id,
        "success": row.success,
        "steps": row.steps,
        "actions": [_action(step) for step in steps],
        "observations": [step["observation"] for step in steps] if observed else None,
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


def _frame(report: Report, rows: Sequence[EpisodeRow], running: bool) -> dict[str, Any]:
    """All of the document but the episodes' entries, whose lists are empty."""
    manifest = report.manifest
    return {
        # The agent, where no model answers.
        "model": manifest.model or manifest.agent,
        "timestamp": manifest.created_at,
        "config": _config(manifest),
        "summary": summary_section(report, running),
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
    llm, agent = manifest.section("llm"), manifest.section("agent")
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


def summary_section(report: Report, running: bool) -> dict[str, Any]:
    """The figures over all scored episodes, as plain data; without intervals while `running`."""
    group = report.summary.overall
    hidden = {"low": None, "high": None} if running else {}
    figures = {key: asdict(one) | hidden if one else None for key, one in group.figures.items()}
    success = group.figures["success"]
    return {
        "total_games": group.scored,
        "successes": group.successes,
        "success_rate": success.value if success else None,
        "avg_steps": _value(report, "steps"),
        "avg_steps_success": _value(report, "steps_of_successes"),
        "interval": [success.low, success.high] if success and not running else None,
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
