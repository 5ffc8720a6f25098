"""Mastermind: find a secret number from what is told about each guess."""

from agentquest.benchmarks.mastermind.driver import MasterMindDriver, MasterMindUtils
from agentquest.benchmarks.mastermind.metrics import MasterMindMetrics
from agentquest.benchmarks.mastermind.types import (
    MasterMindAction,
    MasterMindObservation,
    MasterMindState,
)

__all__ = [
    "MasterMindAction",
    "MasterMindDriver",
    "MasterMindMetrics",
    "MasterMindObservation",
    "MasterMindState",
    "MasterMindUtils",
]
