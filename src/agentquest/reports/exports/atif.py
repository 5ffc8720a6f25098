"""Episodes as trajectories in ATIF v1.7, the format of Harbor and other trainers: a file each.

https://www.harborframework.com/docs/trajectory-format says what the fields are. What the format
has no place for (the action that was read out of a reply, rewards, progress) is in `extra`.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agentquest.metrics.rows import add_up_calls
from agentquest.records.episode import Call, EpisodeRecord, Step
from agentquest.records.messages import ToolCall
from agentquest.records.outcome import MEANINGS
from agentquest.reports.exports import draft_of
from agentquest.reports.exports.chat import (
    EpisodeClock,
    declare_tool,
    read_arguments,
    task_text,
    turns_of,
)
from agentquest.store.stored_run import StoredRun
from agentquest.words import slug

Json = dict[str, Any]
VERSION = "ATIF-v1.7"
_OF_EPISODES = ("scored", "success", "reward", "progress")
_OF_STEPS = ("action", "how", "valid", "reward", "progress")
_TASK = (
    *("benchmark", "task_id", "task_type", "split", "trial", "seed"),
    *("goal", "config_hash", "data_hash"),
)


def write_atif(run: StoredRun, folder: Path) -> Path:
    """`atif-RUN/00001-TASK.json` and so on; returns the folder."""
    place = f"atif-{slug(run.manifest.run_id)}"
    for number, record in enumerate(run.records, start=1):
        text = json.dumps(trajectory(record), ensure_ascii=False, allow_nan=False, indent=1)
        name = f"{place}/{number:05d}-{slug(record.key)[-100:]}.json"
        with draft_of(folder, name) as draft:
            draft.write_text(f"{text}\n", encoding="utf-8")
    return folder / place


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
                    "tool_definitions": [declare_tool(tool) for tool in record.tools] or None,
                }
            ),
            "steps": steps,
            "final_metrics": {
                **_totals(record.calls),
                "total_steps": len(steps),
                "extra": {"end": record.end.value, **_pick(record, _OF_EPISODES)},
            },
            "notes": "; ".join(_notes(record)),
            "extra": {
                **_pick(record, _TASK),
                "error": record.error.model_dump() if record.error else None,
            },
        }
    )


def _steps(record: EpisodeRecord) -> Iterator[Json]:
    clock = EpisodeClock(record)
    for message in record.prompt(record.steps[0]) if record.steps else ():
        if message.role == "system":
            yield {"source": "system", "message": message.content}
    yield {"source": "user", "message": task_text(record), "timestamp": clock.now()}
    for turn in turns_of(record):
        later = [call for _, call in turn[1:]]
        for step, call in turn:
            clock.passed += step.seconds
            # A reply with several calls is several steps: each has its own call and result.
            calls = [each for each in step.tool_calls if each == call or each not in later]
            yield _step(step, calls, call, clock.now())


def _step(step: Step, made: Sequence[ToolCall], answered: ToolCall | None, moment: str) -> Json:
    calls = [_tool_call(call) for call in made]
    result: Json = {"content": step.observation}
    if answered is not None:
        result["source_call_id"] = answered.id
    exported: Json = {
        "source": "agent",
        "timestamp": moment,
        "message": step.reply or step.action or "",
        "tool_calls": calls or None,
        "observation": {"results": [result]},
        "llm_call_count": len(step.calls),
        "extra": _pick(step, _OF_STEPS),
    }
    if step.calls:  # the format allows these two only where a model was asked
        exported["reasoning_content"] = step.reasoning or None
        exported["metrics"] = _totals(step.calls, prefix="") or None
    return exported


def _tool_call(call: ToolCall) -> Json:
    """Arguments that are not a JSON object are kept in `extra`, as they were written."""
    arguments = read_arguments(call)
    found: Json = {
        "tool_call_id": call.id,
        "function_name": call.name,
        "arguments": arguments or {},
    }
    if arguments is None:
        found["extra"] = {"unreadable_arguments": call.arguments}
    return found


def _totals(calls: Sequence[Call], prefix: str = "total_") -> Json:
    """Sums over calls; a sum with an unknown part is left out."""
    spent = add_up_calls(calls)
    found: Json = {}
    if calls and not spent.uncounted_calls:
        found["prompt_tokens"] = spent.prompt_tokens
        found["completion_tokens"] = spent.completion_tokens
        found["cached_tokens"] = spent.cached_tokens
    if calls and not spent.unpriced_calls:
        found["cost_usd"] = spent.cost
    return {f"{prefix}{name}": number for name, number in found.items()}


def _notes(record: EpisodeRecord) -> Iterator[str]:
    yield MEANINGS[record.end]
    if record.explanation:
        yield record.explanation
    if not record.scored:
        yield "no score"


def _pick(source: EpisodeRecord | Step, names: Sequence[str]) -> Json:
    return {name: getattr(source, name) for name in names}


def _without_none(content: Json) -> Json:
    return {name: value for name, value in content.items() if value is not None}
