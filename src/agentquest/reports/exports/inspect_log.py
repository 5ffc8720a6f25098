"""A run as an Inspect log (`.eval`), for Inspect's own reader and viewer.

The file is a zip of JSON documents: a header, a list of summaries, and one file per
episode. Episodes are written as they are read, so a large run needs no memory.
"""

import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.records.outcome import MEANINGS, End
from agentquest.reports.exports import conversation, draft_of, task_text
from agentquest.store.stored_run import StoredRun

Json = dict[str, Any]
_VERSION = 2
_SCORE = "outcome"
_NO_MODEL = "none"


def write_inspect_log(run: StoredRun, folder: Path) -> Path:
    """Write the log into a folder, under the name that Inspect would give it."""
    file, ended = folder / _name(run.manifest), run.manifest.created_at
    usage: dict[str, Counter[str]] = {}
    summaries = []
    with draft_of(file) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for record in run.records:
            ended = max(ended, record.started_at)
            for model, tokens in _usage_of(record).items():
                usage.setdefault(model, Counter()).update(tokens)
            summaries.append(_summary_of(record))
            archive.writestr(_file_of(record), _text(_sample_of(record)))
        archive.writestr("summaries.json", _text(summaries))
        archive.writestr("header.json", _text(_header(run, usage, ended)))
    return file


def _header(run: StoredRun, usage: Mapping[str, Mapping[str, int]], ended: str) -> Json:
    manifest = run.manifest
    return {
        "version": _VERSION,
        "status": "success" if run.complete else "cancelled",
        "eval": _spec(manifest),
        "plan": {"name": "plan", "steps": [{"solver": manifest.agent, "params": {}}]},
        "results": _results(run),
        "stats": {
            "started_at": manifest.created_at,
            "completed_at": ended,
            "model_usage": usage,
        },
    }


def _spec(manifest: Manifest) -> Json:
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
    moment = manifest.created_at.replace(":", "-").replace("+", "-")
    return f"{moment}_{manifest.benchmark}_{_short_id(manifest)}.eval"


def _short_id(manifest: Manifest) -> str:
    decides = f"{manifest.run_id}/{manifest.config_hash}/{manifest.data_hash}"
    return hashlib.sha256(decides.encode()).hexdigest()[:22]


def _text(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False)


def _sample_of(record: EpisodeRecord) -> Json:
    """EvalSample; an episode without a score has an error instead."""
    messages = list(_messages(record))
    return {
        **_head(record),
        "messages": messages,
        "output": _output(record, messages),
        "metadata": _metadata(record),
        "events": [],
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


def _file_of(record: EpisodeRecord) -> str:
    """The sample's place in the log's archive; trials are epochs, which count from 1."""
    return f"samples/{record.task_id}_epoch_{record.trial + 1}.json"


def _head(record: EpisodeRecord) -> Json:
    return {
        "id": record.task_id,
        "epoch": record.trial + 1,
        "input": task_text(record),
        "target": "solved",
        "scores": {_SCORE: _score(record)} if record.scored else None,
        "model_usage": _usage_of(record),
        "started_at": record.started_at,
        "total_time": record.seconds,
        "error": _error(record),
        "limit": _limit(record),
        "uuid": f"{record.run_id}/{record.key}",
    }


def _messages(record: EpisodeRecord) -> Iterator[Json]:
    """The conversation with the thoughts in it."""
    thoughts = iter([step.reasoning for step in record.steps])
    for message in conversation(record):
        thought = next(thoughts) if message["role"] == "assistant" else ""
        if thought:
            parts = [{"type": "reasoning", "reasoning": thought}]
            message["content"] = [*parts, {"type": "text", "text": message["content"]}]
        yield message


def _output(record: EpisodeRecord, messages: list[Json]) -> Json:
    answers = [message for message in messages if message["role"] == "assistant"]
    last = answers[-1:] or [{"role": "assistant", "content": ""}]
    choices = [{"message": message, "stop_reason": "stop"} for message in last]
    return {"model": record.model or _NO_MODEL, "choices": choices}


def _score(record: EpisodeRecord) -> Json:
    return {
        "value": {"success": int(record.success), "reward": record.reward},
        "answer": record.steps[-1].action if record.steps else None,
        "explanation": MEANINGS[record.end],
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


def _usage_of(record: EpisodeRecord) -> dict[str, Json]:
    """Tokens of its model; what no server counted is left out."""
    counted = [(call.usage, call.cost) for call in record.calls if call.usage is not None]
    if not counted:
        return {}
    usages = [usage for usage, _ in counted]
    cached = sum(usage.cached_tokens for usage in usages)
    written = sum(usage.cache_write_tokens for usage in usages)
    prompt = sum(usage.prompt_tokens for usage in usages)
    completion = sum(usage.completion_tokens for usage in usages)
    total: Json = {
        "input_tokens": max(0, prompt - cached - written),
        "output_tokens": completion,
        "total_tokens": prompt + completion,
        "input_tokens_cache_read": cached,
        "input_tokens_cache_write": written,
        "reasoning_tokens": sum(usage.reasoning_tokens for usage in usages),
    }
    costs = [cost for _, cost in counted if cost is not None]
    if len(costs) == len(counted):
        total["total_cost"] = sum(costs)
    return {record.model or _NO_MODEL: total}
