"""ALFWorld, natively: household text games of six task types."""

from agentquest.benchmarks.alfworld.driver import AlfWorldDriver, AlfWorldUtils
from agentquest.benchmarks.alfworld.metrics import AlfWorldMetrics
from agentquest.benchmarks.alfworld.types import (
    AlfWorldAction,
    AlfWorldObservation,
    AlfWorldState,
)

__all__ = [
    "AlfWorldAction",
    "AlfWorldDriver",
    "AlfWorldMetrics",
    "AlfWorldObservation",
    "AlfWorldState",
    "AlfWorldUtils",
]
