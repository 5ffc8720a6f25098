"""How an agent went about a game, from its executed commands alone.

Field names are those of the `behavior_metrics` of a game's result file.
"""

from agentquest.metrics.behaviour.cleanup import Cleanup, assess_cleanup
from agentquest.metrics.behaviour.cycles import Cycle, Cycles, find_cycles
from agentquest.metrics.behaviour.exploration import Exploration, measure_exploration
from agentquest.metrics.behaviour.repetition import RepeatedSteps, find_repeated_steps
from agentquest.metrics.behaviour.score import (
    Behaviour,
    Breakdown,
    Overall,
    Summary,
    assess_behaviour,
    behaviour_of,
    grade,
)

__all__ = [
    "Behaviour",
    "Breakdown",
    "Cleanup",
    "Cycle",
    "Cycles",
    "Exploration",
    "Overall",
    "RepeatedSteps",
    "Summary",
    "assess_behaviour",
    "assess_cleanup",
    "behaviour_of",
    "find_cycles",
    "find_repeated_steps",
    "grade",
    "measure_exploration",
]
