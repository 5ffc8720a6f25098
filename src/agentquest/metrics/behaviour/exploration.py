"""How much of its walking takes an agent to new places; reported, not scored."""

from collections.abc import Iterable
from dataclasses import dataclass

from agentquest.metrics.behaviour.commands import argument, normalised
from agentquest.records.manifest import Verbs


@dataclass(frozen=True)
class Exploration:
    """Places walked to; a game without walking has efficiency 1.0."""

    unique_locations_visited: int
    total_navigation_actions: int
    exploration_efficiency: float
    revisit_count: int


def measure_exploration(commands: Iterable[str], verbs: Verbs) -> Exploration:
    """Count the places that the commands for walking name."""
    places = [p for a in normalised(commands) if (p := argument(a, verbs.walk)) is not None]
    unique = len(set(places))
    return Exploration(
        unique_locations_visited=unique,
        total_navigation_actions=len(places),
        exploration_efficiency=unique / len(places) if places else 1.0,
        revisit_count=len(places) - unique,
    )
