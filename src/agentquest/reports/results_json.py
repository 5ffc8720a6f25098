"""`results.json`: the run in the shape that document 002 gives, for scripts that read it.

The documented keys come first and mean what they meant there; everything more
stands behind them. Only scored episodes are results: what infrastructure lost
is listed apart and never counted as a failed game.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agentquest.metrics.statistics import wilson
from agentquest.records.episode import EpisodeRecord, Step, attempted
from agentquest.reports.about import plain
from agentquest.reports.completeness import requested_episodes

SCHEMA_VERSION = 1


def results_document(
    records: Sequence[EpisodeRecord], manifest: Mapping[str, Any]
) -> dict[str, Any]:
    """The content of `results.json`; a figure over nothing is null."""
    numbers = _section(manifest, "task_type_numbers")
    scored = [record for record in records if record.scored]
    unscored = [record for record in records if not record.scored]
    return {
        "model": _model(records, manifest),
        "timestamp": manifest.get("created_at"),
        "config": _config(records, _section(manifest, "config"), numbers),
        "summary": _summary(scored, requested_episodes(records, manifest), len(unscored)),
        "results": [_result(record, numbers) for record in scored],
        "unscored_results": [_result(record, numbers) for record in unscored],
        "schema_version": SCHEMA_VERSION,
        "run_id": manifest.get("run_id"),
        "agent": plain(manifest.get("agent")) or None,
        "protocol": manifest.get("protocol"),
        "provenance": dict(_section(manifest, "provenance")),
        "versions": dict(_section(manifest, "versions")),
    }


def _model(records: Sequence[EpisodeRecord], manifest: Mapping[str, Any]) -> str | None:
    """The model, or the agent where no model answers."""
    known = plain(manifest.get("model")) or next((r.model for r in records if r.model), None)
    return known or plain(manifest.get("agent")) or next((r.agent for r in records), None)


def _config(
    records: Sequence[EpisodeRecord], config: Mapping[str, Any], numbers: Mapping[str, Any]
) -> dict[str, Any]:
    types = config.get("task_types") or [
        *(name for name in numbers if any(r.task_type == name for r in records)),
        *sorted({r.task_type for r in records if r.task_type not in numbers}),
    ]
    tasks = len({record.task_id for record in records})
    games = config.get("num_games")
    max_steps = config.get("max_steps") or next((r.max_steps for r in records), None)
    return {
        "num_games": tasks if games is None else games,
        "task_types": [numbers.get(name, name) for name in types],
        "seed": config.get("seed"),
        "use_few_shot": _setting(config, "use_few_shot", "agent"),
        "max_steps": max_steps,
        "temperature": _setting(config, "temperature", "llm"),
        "max_tokens": _setting(config, "max_tokens", "llm"),
    }


def _summary(scored: Sequence[EpisodeRecord], requested: int, unscored: int) -> dict[str, Any]:
    steps = [len(record.steps) for record in scored]
    of_successes = [len(record.steps) for record in scored if record.success]
    success = wilson(len(of_successes), len(scored))
    return {
        "total_games": len(scored),
        "successes": len(of_successes),
        "success_rate": success.value if success else None,
        "avg_steps": _mean(steps),
        "avg_steps_success": _mean(of_successes),
        "interval": [success.low, success.high] if success else None,
        "requested": requested,
        "unscored": unscored,
    }


def _result(record: EpisodeRecord, numbers: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "task_type": numbers.get(record.task_type, record.task_type),
        "game_id": record.task_id,
        "success": record.success,
        "steps": len(record.steps),
        "actions": [_action(step) for step in record.steps],
        "observations": [step.observation for step in record.steps],
        "game_file": record.problem,
        "trial": record.trial,
        "end": record.end.value,
        "error": record.error.model_dump() if record.error else None,
        "goal": record.goal,
        "first_observation": record.first_observation,
        "reward": record.reward,
        "progress": record.progress,
        "repetition_rate": record.repetition_rate,
    }


def _action(step: Step) -> str:
    """What the agent asked for; a reply without an action is marked as such."""
    return step.action if step.action is not None else attempted(step)


def _setting(config: Mapping[str, Any], name: str, section: str) -> Any:
    """A setting under its flat name or in its section; null where it was not decided."""
    return config[name] if name in config else _section(config, section).get(name)


def _section(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = content.get(name)
    return section if isinstance(section, Mapping) else {}


def _mean(values: Sequence[int]) -> float | None:
    return sum(values) / len(values) if values else None
