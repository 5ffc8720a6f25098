"""ALFWorld, natively: household text games of six task types."""

from agentquest.benchmarks.alfworld.driver import AlfWorldDriver, AlfWorldUtils
from agentquest.benchmarks.alfworld.interaction import (
    AlfWorldAction,
    AlfWorldObservation,
    AlfWorldState,
)
from agentquest.benchmarks.alfworld.metrics import AlfWorldMetrics

__all__ = [
    "AlfWorldAction",
    "AlfWorldDriver",
    "AlfWorldMetrics",
    "AlfWorldObservation",
    "AlfWorldState",
    "AlfWorldUtils",
]
