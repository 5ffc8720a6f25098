"""Where an episode went wrong: loops, repetitions, and the oracle's distance at each step.

An episode is played again from its actions to ask the oracle. Where that is not
possible (no data here, no oracle) the record's own progress is shown alone.
"""

from dataclasses import dataclass

from agentquest.errors import AgentQuestError
from agentquest.metrics.behaviour import find_cycles
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.viewer.replay import carried_out, opened


@dataclass(frozen=True)
class Insight:
    """One entry per step; `distances` has one more, for the start, or none at all."""

    distances: tuple[int | None, ...]
    plans: tuple[tuple[str, ...], ...]
    repeated: tuple[bool, ...]
    in_cycle: tuple[bool, ...]
    first_harmful: int | None
    lost_for_good: int | None
    can_play: bool


def insight(record: EpisodeRecord, manifest: Manifest) -> Insight:
    """Everything known about an episode's way to the goal."""
    actions = [action.strip().lower() for action in record.actions]
    seen: set[str] = set()
    repeated = []
    for action in actions:
        repeated.append(action in seen)
        seen.add(action)
    looped = {step for cycle in find_cycles(actions).cycle_patterns for step in cycle.steps}
    can_play = True
    try:
        distances, plans = _ask_oracle(record, manifest)
    except (AgentQuestError, OSError, AssertionError):
        distances, plans, can_play = (), (), False
    return Insight(
        distances=distances,
        plans=plans,
        repeated=tuple(repeated),
        in_cycle=tuple(place in looped for place in range(len(actions))),
        first_harmful=_first_harmful(distances),
        lost_for_good=_lost_for_good(record),
        can_play=can_play,
    )


def _first_harmful(distances: tuple[int | None, ...]) -> int | None:
    """The first step after which the goal was further away than before."""
    for place in range(1, len(distances)):
        before, after = distances[place - 1], distances[place]
        if before is not None and (after is None or after > before):
            return place
    return None


def _lost_for_good(record: EpisodeRecord) -> int | None:
    """The step after which the goal stayed unreachable."""
    first = None
    for step in record.steps:
        if step.reachable:
            first = None
        elif first is None:
            first = step.index
    return first


Replay = tuple[tuple[int | None, ...], tuple[tuple[str, ...], ...]]


def _ask_oracle(record: EpisodeRecord, manifest: Manifest) -> Replay:
    benchmark, driver = opened(record, manifest)
    driver.reset()
    oracle = benchmark.oracle(driver)
    if oracle is None:
        return (), ()
    plans = [tuple(oracle.plan())]
    reachable = [True]
    for step in record.steps:
        command = carried_out(step, driver)
        if command is not None:
            driver.step(driver.action_class(value=command))
        # A step that changed nothing leaves the distance as it was.
        plans.append(tuple(oracle.plan()) if command is not None and step.valid else plans[-1])
        reachable.append(step.reachable)
    distances = tuple(
        len(plan) if fine else None for plan, fine in zip(plans, reachable, strict=True)
    )
    return distances, tuple(plans)
