"""An episode's entry in `results.json`, in the shape that scripts know (docs/records.md)."""

from collections.abc import Mapping
from typing import Any

from agentquest.metrics.rows import EpisodeRow
from agentquest.records.episode import EpisodeRecord, Step, attempted


def result_entry(
    record: EpisodeRecord, row: EpisodeRow, numbers: Mapping[str, int]
) -> dict[str, Any]:
    """`numbers` are those of the task types; prompts of the record are not looked at."""
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
        "metrics": dict(row.values),
    }


def type_numbers(task_types: list[str]) -> dict[str, int]:
    """The number of each task type in `results.json`."""
    return {name: number for number, name in enumerate(task_types, start=1)}


def _action(step: Step) -> str:
    """What the agent asked for; a reply without an action is marked as such."""
    return step.action if step.action is not None else attempted(step)
