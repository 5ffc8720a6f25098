"""What answers an observation with an action.

Write your own by subclassing `Agent` and naming it in the configuration as
`package.module:Class` (see examples/custom_agent.py). One instance plays one
episode, so an agent may keep whatever it likes in `self`.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from agentquest.lib.driver import Driver
from agentquest.lib.parsing import PARSE_FAILURE
from agentquest.lib.task import Task
from agentquest.lib.types import Observation


class Turn(NamedTuple):
    """One message of a prompt, as it was sent."""

    role: str
    content: str


class ModelCall(NamedTuple):
    """What one model call took. Unknown token counts are None, never zero."""

    model: str
    kind: str
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cost: float | None
    latency_s: float
    attempts: int
    cached: bool


@dataclass(frozen=True)
class Answer:
    """What the agent wants to do, and how it came to say so.

    `action` is None when the reply holds no action: the turn is spent, and `told`
    is what the agent sees next. `how` says how the reply was read (`verbatim` for
    agents that answer with a command and nothing else).
    """

    action: str | None
    how: str = "verbatim"
    reply: str = ""
    reasoning: str = ""
    prompt: tuple[Turn, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    told: str = PARSE_FAILURE


@dataclass(frozen=True)
class Episode:
    """What an agent is told before the first step.

    `driver` is there for agents that are allowed to look behind the curtain
    (the oracle); an agent under test must not touch it.
    """

    task: Task
    goal: str
    dialect: str
    max_steps: int
    seed: int
    driver: Driver


class Agent(ABC):
    """Plays one episode."""

    async def begin(self, episode: Episode) -> None:
        """Called once, before the first observation."""
        self.episode = episode

    @abstractmethod
    async def act(self, observation: Observation) -> Answer:
        """The next action."""

    async def close(self) -> None:
        """Called once, however the episode ended."""
        return None


class Explorer(ABC):
    """A rule-based player that reads only the text an LLM would read.

    `thought` says in a sentence why it chose its last action.
    """

    thought: str = ""

    @abstractmethod
    def next_action(self, observation: str) -> str:
        """The next command, given the newest observation."""
