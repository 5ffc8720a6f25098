"""Goals from `traj_data.json`: a template filled in, or what a person wrote.

ALFRED's annotators described each task in their own words; some studies give those
to the agent instead of the template (in ALFWorld: `goal_desc_human_anns_prob`). The
description is used as it was written. Which of the several is chosen depends on the
task's own id and a seed, so that the same task reads the same everywhere.
"""

import hashlib
from enum import Enum
from typing import Any

from agentquest.benchmarks.alfworld.engine import dialects
from agentquest.benchmarks.alfworld.task_types import goal_sentence, task_type
from agentquest.errors import DataError, UnknownName

TRAJECTORY_FILE = "traj_data.json"


class Goals(str, Enum):
    """Whose words the goal is in."""

    TEMPLATE = "template"
    HUMAN = "human"


def goals_named(wanted: "str | Goals") -> Goals:
    """The choice of that name; raises UnknownName with the names there are."""
    try:
        return Goals(wanted)
    except ValueError:
        names = ", ".join(goals.value for goals in Goals)
        raise UnknownName(f"unknown goals {wanted!r}; there are: {names}") from None


def goal_from_trajectory(trajectory: dict[str, Any], task_id: str) -> str:
    """The sentence for a task without a game file, chosen by the task's own id."""
    params = trajectory.get("pddl_params")
    if not isinstance(params, dict) or not isinstance(trajectory.get("task_type"), str):
        raise DataError(f"{TRAJECTORY_FILE} has no 'task_type' and 'pddl_params'")
    target, receptacle, toggle = (
        params.get(key, "") for key in ("object_target", "parent_target", "toggle_target")
    )
    if not all(isinstance(name, str) for name in (target, receptacle, toggle)):
        raise DataError(f"{TRAJECTORY_FILE}: 'pddl_params' holds something that is not text")
    if not target or not (receptacle or toggle):
        raise DataError(f"{TRAJECTORY_FILE}: 'pddl_params' does not say what the task is about")
    try:
        task = task_type(trajectory["task_type"])
    except UnknownName as error:
        raise DataError(f"{TRAJECTORY_FILE}: {error}") from None
    sliced = bool(params.get("object_sliced"))
    return dialects.plain_goal(goal_sentence(task, task_id, target, receptacle, toggle, sliced))


def human_goal(trajectory: dict[str, Any], task_id: str, seed: int) -> str:
    """One of the descriptions that people wrote of a task."""
    annotations = trajectory.get("turk_annotations")
    written = annotations.get("anns") if isinstance(annotations, dict) else None
    if not isinstance(written, list) or not written:
        raise DataError(f"{TRAJECTORY_FILE} has no descriptions written by people")
    digest = hashlib.sha256(f"{seed} {task_id}".encode()).digest()
    chosen = written[int.from_bytes(digest[:8], "big") % len(written)]
    text = chosen.get("task_desc") if isinstance(chosen, dict) else None
    if not isinstance(text, str):
        raise DataError(f"{TRAJECTORY_FILE} has a description without a 'task_desc'")
    return dialects.plain_goal(text.strip())
