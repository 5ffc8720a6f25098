"""Episodes as trajectories in ATIF v1.7, the format of Harbor and other trainers: a file each.

https://www.harborframework.com/docs/trajectory-format says what the fields are. What the format
has no place for (the action that was read out of a reply, rewards, progress) is in `extra`.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from agentquest.records.episode import Call, EpisodeRecord, Step
from agentquest.records.messages import ToolCall
from agentquest.records.outcome import MEANINGS
from agentquest.reports.exports import draft_of
from agentquest.store.stored_run import StoredRun
from agentquest.words import slug

Json = dict[str, Any]
VERSION = "ATIF-v1.7"
_FOLDER = "atif"


def write_atif(run: StoredRun, folder: Path) -> Path:
    """`atif/00001-TASK.json` and so on; returns the folder."""
    place = folder / _FOLDER
    for number, record in enumerate(run.records, start=1):
        text = json.dumps(trajectory(record), ensure_ascii=False, allow_nan=False, indent=1)
        with draft_of(place / f"{number:05d}-{slug(record.key)[-100:]}.json") as draft:
            draft.write_text(f"{text}\n", encoding="utf-8")
    return place


def trajectory(record: EpisodeRecord) -> Json:
    """One episode; what is unknown is left out."""
    steps = [
        _without_none({"step_id": number, **step})
        for number, step in enumerate(_steps(record), start=1)
    ]
    return _without_none(
        {
            "schema_version": VERSION,
            "session_id": f"{record.run_id}/{record.key}",
            "trajectory_id": f"{record.run_id}/{record.key}",
            "agent": _without_none(
                {
                    "name": record.agent,
                    "version": record.versions.get("agentquest", "unknown"),
                    "model_name": record.model,
                }
            ),
            "steps": steps,
            "final_metrics": {
                **_totals(record.calls),
                "total_steps": len(steps),
                "extra": _outcome(record),
            },
            "notes": f"{MEANINGS[record.end]}" + ("" if record.scored else "; no score"),
            "extra": _task(record),
        }
    )


def _steps(record: EpisodeRecord) -> Iterator[Json]:
    if record.steps and record.steps[0].prompt:
        first = record.prompt(record.steps[0])[0]
        if first.role == "system":
            yield {"source": "system", "message": first.content}
    now = datetime.fromisoformat(record.started_at)
    task = f"Goal: {record.goal}\n\n{record.first_observation}"
    yield {"source": "user", "message": task, "timestamp": now.isoformat()}
    for step in record.steps:
        now += timedelta(seconds=step.seconds)
        yield _step(step, now.isoformat())


def _step(step: Step, moment: str) -> Json:
    calls = [_tool_call(call) for call in step.tool_calls]
    result: Json = {"content": step.observation}
    if len(calls) == 1:
        result["source_call_id"] = calls[0]["tool_call_id"]
    exported: Json = {
        "source": "agent",
        "timestamp": moment,
        "message": step.reply or step.action or "",
        "tool_calls": calls or None,
        "observation": {"results": [result]},
        "llm_call_count": len(step.calls),
        "extra": {
            "action": step.action,
            "how": step.how,
            "valid": step.valid,
            "reward": step.reward,
            "progress": step.progress,
        },
    }
    if step.calls:  # the format allows these two only where a model was asked
        exported["reasoning_content"] = step.reasoning or None
        exported["metrics"] = _metrics(step.calls)
    return exported


def _tool_call(call: ToolCall) -> Json:
    """Arguments that are not a JSON object are kept in `extra`, as they were written."""
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = None
    found: Json = {"tool_call_id": call.id, "function_name": call.name, "arguments": {}}
    if isinstance(arguments, dict):
        found["arguments"] = arguments
    else:
        found["extra"] = {"unreadable_arguments": call.arguments}
    return found


def _metrics(calls: Sequence[Call]) -> Json | None:
    named = {name.removeprefix("total_"): value for name, value in _totals(calls).items()}
    return named or None


def _totals(calls: Sequence[Call]) -> Json:
    """Sums over calls; a sum with an unknown part is left out."""
    usages = [call.usage for call in calls if call.usage is not None]
    costs = [call.cost for call in calls if call.cost is not None]
    found: Json = {}
    if calls and len(usages) == len(calls):
        found = {
            "total_prompt_tokens": sum(usage.prompt_tokens for usage in usages),
            "total_completion_tokens": sum(usage.completion_tokens for usage in usages),
            "total_cached_tokens": sum(usage.cached_tokens for usage in usages),
        }
    if calls and len(costs) == len(calls):
        found["total_cost_usd"] = sum(costs)
    return found


def _outcome(record: EpisodeRecord) -> Json:
    return {
        "end": record.end.value,
        "scored": record.scored,
        "success": record.success,
        "reward": record.reward,
        "progress": record.progress,
    }


def _task(record: EpisodeRecord) -> Json:
    return {
        "benchmark": record.benchmark,
        "task_id": record.task_id,
        "task_type": record.task_type,
        "split": record.split,
        "trial": record.trial,
        "seed": record.seed,
        "goal": record.goal,
        "config_hash": record.config_hash,
        "data_hash": record.data_hash,
        "error": record.error.model_dump() if record.error else None,
    }


def _without_none(content: Json) -> Json:
    return {name: value for name, value in content.items() if value is not None}
