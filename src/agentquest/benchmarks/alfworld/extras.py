"""Progress in words: what the agent had achieved after each step, by finite state machine.

    qualitative, quantitative = get_progress(driver.metrics)

Needs the recorded interactions only, so it works on any episode whoever played
it, in both dialects. The states of each task type stand in milestone_machines.
"""

from agentquest.benchmarks.alfworld.progress_machines import follow
from agentquest.lib import Metrics
from agentquest.lib.aggregate import aggregate_metrics

__all__ = [
    "aggregate_metrics",
    "get_progress",
    "get_progress_look_at_obj_in_light",
    "get_progress_pick_and_place",
    "get_progress_pick_clean_then_place",
    "get_progress_pick_cool_then_place",
    "get_progress_pick_heat_then_place",
    "get_progress_pick_two_obj_and_place",
]

Progress = tuple[list[str], list[float]]


def get_progress(metrics: Metrics) -> Progress:
    """Names and values of the states after each step, for whatever task the goal states."""
    return _progress(metrics, None)


def get_progress_pick_and_place(metrics: Metrics) -> Progress:
    """`get_progress` for an episode known to be of pick_and_place_simple."""
    return _progress(metrics, "pick_and_place_simple")


def get_progress_look_at_obj_in_light(metrics: Metrics) -> Progress:
    """`get_progress` for an episode known to be of look_at_obj_in_light."""
    return _progress(metrics, "look_at_obj_in_light")


def get_progress_pick_clean_then_place(metrics: Metrics) -> Progress:
    """`get_progress` for an episode known to be of pick_clean_then_place_in_recep."""
    return _progress(metrics, "pick_clean_then_place_in_recep")


def get_progress_pick_heat_then_place(metrics: Metrics) -> Progress:
    """`get_progress` for an episode known to be of pick_heat_then_place_in_recep."""
    return _progress(metrics, "pick_heat_then_place_in_recep")


def get_progress_pick_cool_then_place(metrics: Metrics) -> Progress:
    """`get_progress` for an episode known to be of pick_cool_then_place_in_recep."""
    return _progress(metrics, "pick_cool_then_place_in_recep")


def get_progress_pick_two_obj_and_place(metrics: Metrics) -> Progress:
    """`get_progress` for an episode known to be of pick_two_obj_and_place."""
    return _progress(metrics, "pick_two_obj_and_place")


def _progress(metrics: Metrics, wanted: str | None) -> Progress:
    milestones = follow(metrics.goal, metrics.interactions, wanted)
    return [state.name for state in milestones], [state.progress for state in milestones]
