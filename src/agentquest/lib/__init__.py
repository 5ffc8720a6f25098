"""The AgentQuest vocabulary: the base classes a benchmark or a metric is written on."""

from agentquest.lib.agent import Agent, Answer, Episode, Explorer, ModelCall, Turn
from agentquest.lib.aggregate import aggregate_metrics
from agentquest.lib.benchmark import Benchmark, Demonstration
from agentquest.lib.driver import Driver, Outcome
from agentquest.lib.metrics import Metrics
from agentquest.lib.parsing import Parser, parse_action
from agentquest.lib.similarity import repetition_rate, repetitions, similarity
from agentquest.lib.task import Task
from agentquest.lib.types import Action, Interaction, Observation, State

__all__ = [
    "Action",
    "Agent",
    "Answer",
    "Benchmark",
    "Demonstration",
    "Driver",
    "Episode",
    "Explorer",
    "Interaction",
    "Metrics",
    "ModelCall",
    "Observation",
    "Outcome",
    "Parser",
    "State",
    "Task",
    "Turn",
    "aggregate_metrics",
    "parse_action",
    "repetition_rate",
    "repetitions",
    "similarity",
]
