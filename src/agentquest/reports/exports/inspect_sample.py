"""An episode as a sample of an Inspect log."""

from collections.abc import Iterable, Iterator
from typing import Any

from agentquest.records.episode import Call, EpisodeRecord
from agentquest.records.outcome import MEANINGS, End

Json = dict[str, Any]
SCORE = "outcome"
_NO_MODEL = "none"


def sample_of(record: EpisodeRecord) -> Json:
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


def summary_of(record: EpisodeRecord) -> Json:
    """EvalSampleSummary: what lists show."""
    summary = {**_head(record), "metadata": _metadata(record), "completed": True}
    error = summary.pop("error")
    summary["error"] = error["message"] if error else None
    limit = summary.pop("limit")
    summary["limit"] = limit["type"] if limit else None
    return summary


def file_of(record: EpisodeRecord) -> str:
    """The sample's place in the log's archive; trials are epochs, which count from 1."""
    return f"samples/{record.task_id}_epoch_{record.trial + 1}.json"


def _head(record: EpisodeRecord) -> Json:
    return {
        "id": record.task_id,
        "epoch": record.trial + 1,
        "input": _input(record),
        "target": "solved",
        "scores": {SCORE: _score(record)} if record.scored else None,
        "model_usage": usage_of(record.model, record.calls),
        "started_at": record.started_at,
        "total_time": record.seconds,
        "error": _error(record),
        "limit": _limit(record),
        "uuid": f"{record.run_id}/{record.key}",
    }


def _input(record: EpisodeRecord) -> str:
    return f"Goal: {record.goal}\n\n{record.first_observation}"


def conversation(record: EpisodeRecord) -> Iterator[Json]:
    """The episode as one chat of plain texts: each step's answer, and what was seen then."""
    if record.steps and record.steps[0].prompt:
        first = record.prompt(record.steps[0])[0]
        if first.role == "system":
            yield {"role": "system", "content": first.content}
    yield {"role": "user", "content": _input(record)}
    for step in record.steps:
        yield {"role": "assistant", "content": step.reply or step.action or ""}
        yield {"role": "user", "content": step.observation}


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


def usage_of(model: str | None, calls: Iterable[Call]) -> dict[str, Json]:
    """Tokens of a model; what no server counted is left out."""
    counted = [call for call in calls if call.usage is not None]
    if not counted:
        return {}
    usages = [call.usage for call in counted if call.usage is not None]
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
    costs = [call.cost for call in counted]
    if all(cost is not None for cost in costs):
        total["total_cost"] = sum(cost or 0.0 for cost in costs)
    return {model or _NO_MODEL: total}
