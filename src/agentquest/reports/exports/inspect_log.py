"""A run as an Inspect log (`.eval`), for Inspect's own reader and viewer.

The file is a zip of JSON documents: a header, a list of summaries, and one file per
episode. Episodes are written as they are read, so a large run needs no memory. A step is two
events of the transcript: the model call with its prompt as it was sent, and the command with
what came of it. Prompts repeat most of what they said before, so events name the places of
their messages in a pool, as Inspect's own logs do.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agentquest.metrics.rows import Spent, add_up_calls
from agentquest.records.episode import Call, EpisodeRecord, Step
from agentquest.records.manifest import Manifest
from agentquest.records.messages import Message, ReplyKind, ToolCall
from agentquest.records.outcome import MEANINGS, End
from agentquest.reports.exports import draft_of
from agentquest.reports.exports.chat import (
    EpisodeClock,
    conversation,
    declare_tool,
    read_arguments,
    reply_of,
    task_text,
    turns_of,
)
from agentquest.store.stored_run import StoredRun
from agentquest.words import slug

Json = dict[str, Any]
_VERSION = 2
_SCORE = "outcome"
_NO_MODEL = "none"
_COMMAND = "command"  # the tool of agents that write their commands in text
_STOPS = {ReplyKind.TRUNCATED.value: "max_tokens", ReplyKind.REFUSED.value: "content_filter"}


def write_inspect_log(run: StoredRun, folder: Path) -> Path:
    """Write the log into a folder, under the name that Inspect would give it."""
    name, ended = _name(run.manifest), run.manifest.created_at
    summaries, cache_writes = [], 0
    packing = zipfile.ZIP_DEFLATED
    with draft_of(folder, name) as draft, zipfile.ZipFile(draft, "w", packing) as archive:
        for record in run.records:
            ended = max(ended, record.started_at)
            cache_writes += _cache_writes(record.calls)
            summaries.append(_summary_of(record))
            # Trials are epochs, which count from 1.
            sample = f"samples/{record.task_id}_epoch_{record.trial + 1}.json"
            archive.writestr(sample, _text(_sample_of(record)))
        archive.writestr("summaries.json", _text(summaries))
        archive.writestr("header.json", _text(_header(run, cache_writes, ended)))
    return folder / name


def _header(run: StoredRun, cache_writes: int, ended: str) -> Json:
    """Results and what they cost are those of results.json."""
    manifest, spent = run.manifest, run.report.summary.spent
    return {
        "version": _VERSION,
        "status": "success" if run.complete else "cancelled",
        "eval": _spec(manifest, spent),
        "plan": {"name": "plan", "steps": [{"solver": manifest.agent, "params": {}}]},
        "results": _results(run),
        "stats": {
            "started_at": manifest.created_at,
            "completed_at": ended,
            "model_usage": _usage(manifest.model, spent, cache_writes),
        },
    }


def _spec(manifest: Manifest, spent: Spent) -> Json:
    source = manifest.provenance
    return {
        "eval_id": _short_id(manifest),
        "run_id": manifest.run_id,
        "created": manifest.created_at,
        "task": f"agentquest/{manifest.benchmark}",
        "task_id": _short_id(manifest),
        "task_version": manifest.versions.get("agentquest", "0"),
        "model": manifest.model or _NO_MODEL,
        "dataset": {
            "name": f"{manifest.benchmark}/{source.split}",
            "samples": len(manifest.task_ids),
            "sample_ids": manifest.task_ids,
        },
        "config": {"epochs": manifest.trials, "message_limit": None},
        "packages": {"agentquest": manifest.versions.get("agentquest", "0")},
        "metadata": {
            "agent": manifest.agent,
            "informed": manifest.informed,
            "data": source.data,
            "protocol": manifest.protocol,
            "max_steps": manifest.max_steps,
            "config_hash": manifest.config_hash,
            "data_hash": manifest.data_hash,
            "deciding": manifest.deciding,
            "spent": spent.plain(),
        },
        "tags": list(manifest.tags),
    }


def _results(run: StoredRun) -> Json:
    """Means over the episodes that have a score, as in our own reports."""
    group = run.report.summary.overall
    means = {name: group.figures[name] for name in ("success", "reward")}
    return {
        "total_samples": run.manifest.requested,
        "completed_samples": group.scored,
        "scores": [
            {
                "name": name,
                "scorer": _SCORE,
                "params": {},
                "metrics": {"mean": {"name": "mean", "value": mean.value, "params": {}}},
            }
            for name, mean in means.items()
            if mean is not None
        ],
    }


def _name(manifest: Manifest) -> str:
    moment, benchmark = slug(manifest.created_at), slug(manifest.benchmark)
    return f"{moment}_{benchmark}_{_short_id(manifest)}.eval"


def _short_id(manifest: Manifest) -> str:
    decides = f"{manifest.run_id}/{manifest.config_hash}/{manifest.data_hash}"
    return hashlib.sha256(decides.encode()).hexdigest()[:22]


def _text(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def _sample_of(record: EpisodeRecord) -> Json:
    """EvalSample; an episode without a score has an error instead."""
    return {
        **_head(record),
        "messages": [_message(message) for message in conversation(record)],
        "output": _output(record, record.steps[-1:]),
        "metadata": _metadata(record),
        "events": list(_events(record)),
        "events_data": {
            "messages": [_message(message) for message in record.messages],
            "calls": [],
        },
        "store": {},
        "attachments": {},
    }


def _summary_of(record: EpisodeRecord) -> Json:
    """EvalSampleSummary: what lists show."""
    summary = {**_head(record), "metadata": _metadata(record), "completed": True}
    error = summary.pop("error")
    summary["error"] = error["message"] if error else None
    limit = summary.pop("limit")
    summary["limit"] = limit["type"] if limit else None
    return summary


def _head(record: EpisodeRecord) -> Json:
    return {
        "id": record.task_id,
        "epoch": record.trial + 1,
        "input": task_text(record),
        "target": "solved",
        "scores": {_SCORE: _score(record)} if record.scored else None,
        "model_usage": _usage_of(record.model, record.calls),
        "started_at": record.started_at,
        "total_time": record.seconds,
        "error": _error(record),
        "limit": _limit(record),
        "uuid": f"{record.run_id}/{record.key}",
    }


def _events(record: EpisodeRecord) -> Iterator[Json]:
    """The transcript: the task, for every step what was asked and done, and the verdict."""
    clock = EpisodeClock(record)
    asked = {"input": task_text(record), "target": "solved", "id": record.task_id}
    yield {"event": "sample_init", **_now(clock), "sample": asked, "state": {}}
    for turn in turns_of(record):
        for step, call in turn:
            thinking = min(_latency(step) or 0.0, step.seconds)
            if step.calls or step.prompt:
                yield {**_model_event(record, step), **_lasting(clock, thinking)}
            yield {**_tool_event(step, call), **_lasting(clock, step.seconds - thinking)}
    error, limit = _error(record), _limit(record)
    if limit:
        reason = {"type": "custom", "message": limit["reason"], "limit": limit["limit"]}
        yield {"event": "sample_limit", **_now(clock), **reason}
    if error:
        yield {"event": "error", **_now(clock), "error": error}
    if record.scored:
        verdict = {"score": _score(record), "target": "solved", "scorer": _SCORE}
        yield {"event": "score", **_now(clock), **verdict}


def _now(clock: EpisodeClock) -> Json:
    return {"timestamp": clock.now(), "working_start": clock.passed}


def _lasting(clock: EpisodeClock, seconds: float) -> Json:
    begun = _now(clock)
    clock.passed += seconds
    return {**begun, "completed": clock.now(), "working_time": seconds}


def _latency(step: Step) -> float | None:
    """How long the model took, as far as that is known."""
    known = [call.latency_s for call in step.calls if call.latency_s is not None]
    return sum(known) if known else None


def _model_event(record: EpisodeRecord, step: Step) -> Json:
    return {
        "event": "model",
        "model": step.calls[-1].model if step.calls else record.model or _NO_MODEL,
        "input": [],
        "input_refs": [[place, place + 1] for place in step.prompt],
        "tools": [declare_tool(tool)["function"] for tool in record.tools],
        "tool_choice": "auto",
        "config": {},
        "output": _output(record, [step]),
        "retries": sum(call.attempts - 1 for call in step.calls) or None,
        "cache": "read" if any(call.cached for call in step.calls) else None,
    }


def _tool_event(step: Step, call: ToolCall | None) -> Json:
    """What was carried out and what came of it; where nothing was, what the agent was told."""
    if call is None and step.action is None:
        return {"event": "info", "source": step.how, "data": step.observation}
    if call is None:
        arguments = json.dumps({"command": step.action})
        call = ToolCall(id=f"step-{step.index}", name=_COMMAND, arguments=arguments)
    known = ("action", "how", "valid", "progress", "reward")
    return {
        "event": "tool",
        **_call(call),
        "result": step.observation,
        "metadata": {name: getattr(step, name) for name in known},
    }


def _call(call: ToolCall) -> Json:
    arguments = read_arguments(call)
    return {
        "id": call.id,
        "function": call.name,
        "arguments": arguments or {},
        "type": "function",
        "parse_error": f"not a JSON object: {call.arguments}" if arguments is None else None,
    }


def _message(message: Message) -> Json:
    """A message with the thoughts and calls in it."""
    said: Json = {"role": message.role, "content": message.content}
    if message.reasoning:
        parts = [{"type": "reasoning", "reasoning": message.reasoning}]
        said["content"] = [*parts, {"type": "text", "text": message.content}]
    if message.tool_calls:
        said["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.role == "tool":
        said["tool_call_id"] = message.tool_call_id
    return said


def _output(record: EpisodeRecord, answered: Sequence[Step]) -> Json:
    """ModelOutput of a step, if there is one."""
    output: Json = {"model": record.model or _NO_MODEL, "choices": []}
    for step in answered:
        kind = step.calls[-1].kind if step.calls else ""
        stop = _STOPS.get(kind) or ("tool_calls" if step.tool_calls else "stop")
        output["choices"] = [{"message": _message(reply_of(step)), "stop_reason": stop}]
        output["usage"] = next(iter(_usage_of(record.model, step.calls).values()), None)
        output["time"] = _latency(step)
    return output


def _score(record: EpisodeRecord) -> Json:
    return {
        "value": {"success": int(record.success), "reward": record.reward},
        "answer": record.steps[-1].action if record.steps else None,
        "explanation": record.explanation or MEANINGS[record.end],
        "metadata": {"progress": record.progress, "steps": len(record.steps)},
    }


def _error(record: EpisodeRecord) -> Json | None:
    if record.scored:
        return None
    said = record.error
    text = f"{said.kind}: {said.message}" if said else MEANINGS[record.end]
    return {"message": text, "traceback": text, "traceback_ansi": text}


def _limit(record: EpisodeRecord) -> Json | None:
    if record.end is End.STEP_LIMIT:
        return {"type": "message", "limit": record.max_steps, "reason": MEANINGS[record.end]}
    if record.end is End.CONTEXT_LIMIT:
        return {"type": "context", "limit": 1, "reason": MEANINGS[record.end]}
    return None


def _metadata(record: EpisodeRecord) -> Json:
    return {
        "task_type": record.task_type,
        "split": record.split,
        "end": record.end.value,
        "progress": record.progress,
        "steps": len(record.steps),
        "invalid_actions": record.invalid_actions,
        "agent": record.agent,
        **{f"fact.{name}": value for name, value in record.facts.items()},
    }


def _cache_writes(calls: Sequence[Call]) -> int:
    return sum(call.usage.cache_write_tokens for call in calls if call.usage is not None)


def _usage_of(model: str | None, calls: Sequence[Call]) -> dict[str, Json]:
    return _usage(model, add_up_calls(calls), _cache_writes(calls))


def _usage(model: str | None, spent: Spent, cache_writes: int) -> dict[str, Json]:
    """Tokens and cost of a model; what no server counted, or has no price, is left out."""
    if spent.calls == spent.uncounted_calls:
        return {}
    fresh = max(0, spent.prompt_tokens - spent.cached_tokens - cache_writes)
    total: Json = {
        "input_tokens": fresh,
        "output_tokens": spent.completion_tokens,
        "total_tokens": spent.prompt_tokens + spent.completion_tokens,
        "input_tokens_cache_read": spent.cached_tokens,
        "input_tokens_cache_write": cache_writes,
        "reasoning_tokens": spent.reasoning_tokens,
    }
    if not spent.unpriced_calls:
        total["total_cost"] = spent.cost
    return {model or _NO_MODEL: total}
