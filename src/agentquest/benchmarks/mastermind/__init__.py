"""Mastermind: find a secret number from the answers to your guesses."""

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
