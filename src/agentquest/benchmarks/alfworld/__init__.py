"""ALFWorld, natively: household text games of six task types."""

from agentquest.benchmarks.alfworld.driver import (
    AlfWorldAction,
    AlfWorldDriver,
    AlfWorldMetrics,
    AlfWorldObservation,
    AlfWorldState,
    AlfWorldUtils,
)

__all__ = [
    "AlfWorldAction",
    "AlfWorldDriver",
    "AlfWorldMetrics",
    "AlfWorldObservation",
    "AlfWorldState",
    "AlfWorldUtils",
]
