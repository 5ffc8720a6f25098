"""AgentBoard's two figures for ALFWorld, as metrics that every report shows.

    agentquest eval metrics=agentquest.adapters.agentboard:SUBGOALS

AgentBoard labels each game with patterns of observations (hkust-nlp/AgentBoard,
agentboard/environment/alfworld/alfworld_env.py, bb7255e2): the thing is seen, it is picked up,
and where the goal asks for more, it is treated, the lamp is seen, or the first of two is put down.
The labels follow from the goal sentence, so they are made from it here, for every game and in
both dialects. Winning counts as one subgoal more.
"""

import re

from agentquest.benchmarks.alfworld.task_types import read_goal_sentence
from agentquest.metrics.table import PERCENT, Metric
from agentquest.records.episode import EpisodeRecord

_ALWAYS = frozenset({"look", "check valid actions"})


def find_subgoals(goal: str) -> tuple[str, ...] | None:
    """The patterns of observations that a goal sentence asks for; None for another sentence."""
    stated = read_goal_sentence(goal)
    if stated is None:
        return None
    thing = rf"{stated.thing} \d+"
    further = {
        "clean": rf"You clean the {thing}",
        "heat": rf"You heat the {thing} using the",
        "cool": rf"You cool the {thing} using the",
        "look": rf"^(?=.* you see)(?=.*a {stated.lamp})",
        "two": rf"You (?:put|move) the {thing} (?:in/on|to) the {stated.place} \d+",
    }.get(stated.task.short)
    seen = rf"^(?=.* you see)(?=.*a {thing})"
    return (seen, f"You pick up the {thing}", *([further] if further else []))


def measure_subgoals(record: EpisodeRecord) -> float | None:
    """The share of subgoals reached, 1 for a won game; None where the goal names none."""
    patterns = find_subgoals(record.goal)
    if record.success or patterns is None:
        return 1.0 if record.success else None
    said = [step.observation for step in record.steps]
    reached = sum(any(re.search(pattern, text) for text in said) for pattern in patterns)
    return reached / (len(patterns) + 1)


def measure_grounding(record: EpisodeRecord) -> float | None:
    """The share of steps whose action was among those possible then."""
    lists = [record.first_admissible, *(step.admissible for step in record.steps)]
    hits = [
        step.action in _ALWAYS or step.action in possible
        for step, possible in zip(record.steps, lists, strict=False)
    ]
    return sum(hits) / len(hits) if hits else None


SUBGOALS = Metric(
    "subgoals",
    "subgoals",
    PERCENT,
    "AgentBoard's progress rate: subgoals reached",
    measure_subgoals,
    bounds=(0.0, 1.0),
)
GROUNDED = Metric(
    "grounded",
    "grounded",
    PERCENT,
    "AgentBoard's grounding accuracy: steps whose action was possible",
    measure_grounding,
    bounds=(0.0, 1.0),
)
