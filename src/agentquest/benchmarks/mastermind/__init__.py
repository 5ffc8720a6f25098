"""Mastermind: find a secret number from what is told about each guess."""

from agentquest.benchmarks.mastermind.driver import (
    MasterMindAction,
    MasterMindDriver,
    MasterMindMetrics,
    MasterMindObservation,
    MasterMindState,
    MasterMindUtils,
)

__all__ = [
    "MasterMindAction",
    "MasterMindDriver",
    "MasterMindMetrics",
    "MasterMindObservation",
    "MasterMindState",
    "MasterMindUtils",
]
