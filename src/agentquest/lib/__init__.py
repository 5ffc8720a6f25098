"""The AgentQuest vocabulary: the base classes a benchmark or a metric is written on."""

from agentquest.lib.agent import (
    Agent,
    Answer,
    Briefing,
    Demonstration,
    Episode,
    Explorer,
    InformedAgent,
    Oracle,
)
from agentquest.lib.arena import Arena
from agentquest.lib.benchmark import Benchmark, BenchmarkSettings
from agentquest.lib.driver import Driver, Outcome
from agentquest.lib.game import Game
from agentquest.lib.loop_agent import LoopAgent
from agentquest.lib.metrics import Metrics, repetition_rate, repetitions, similarity
from agentquest.lib.parsing import Parser, parse_action
from agentquest.lib.people import TerminalView
from agentquest.lib.session import Session, Turn
from agentquest.lib.settings import Settings, operational
from agentquest.lib.types import Action, Interaction, Moment, Observation, State, Task
from agentquest.lib.vector import SessionVector
from agentquest.records.manifest import Verbs

__all__ = [
    "Action",
    "Agent",
    "Answer",
    "Arena",
    "Benchmark",
    "BenchmarkSettings",
    "Briefing",
    "Demonstration",
    "Driver",
    "Episode",
    "Explorer",
    "Game",
    "InformedAgent",
    "Interaction",
    "LoopAgent",
    "Metrics",
    "Moment",
    "Observation",
    "Oracle",
    "Outcome",
    "Parser",
    "Session",
    "SessionVector",
    "Settings",
    "State",
    "Task",
    "TerminalView",
    "Turn",
    "Verbs",
    "operational",
    "parse_action",
    "repetition_rate",
    "repetitions",
    "similarity",
]
