"""The AgentQuest vocabulary: the base classes a benchmark or a metric is written on."""

from agentquest.lib.driver import Driver, Outcome
from agentquest.lib.interaction import Action, Interaction, Observation, State
from agentquest.lib.metrics import Metrics
from agentquest.lib.parsing import Parser, parse_action
from agentquest.lib.similarity import repetition_rate, repetitions, similarity

__all__ = [
    "Action",
    "Driver",
    "Interaction",
    "Metrics",
    "Observation",
    "Outcome",
    "Parser",
    "State",
    "parse_action",
    "repetition_rate",
    "repetitions",
    "similarity",
]
