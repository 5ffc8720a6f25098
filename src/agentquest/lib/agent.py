"""Agents: they answer an observation with an action.

Write your own by subclassing `Agent` and naming it in the configuration as
`package.module:Class` (see examples/custom_agent.py). One instance plays one
episode, so an agent may keep whatever it likes in `self`.

A constructor may ask, by parameter name, for `settings` (an instance of the
class's `Settings`), `model` (the configured chat model), `explorer` (the
benchmark's rule-based player) and `shared` (what `open_shared` returned). An
agent never gets the environment itself; only an `InformedAgent` is given the
oracle, and every record says so.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from agentquest.lib.parsing import PARSE_FAILURE
from agentquest.lib.settings import Settings
from agentquest.lib.types import Observation
from agentquest.records.episode import Call
from agentquest.records.how import How
from agentquest.records.manifest import AssessedAgent
from agentquest.records.messages import Message, ToolCall, ToolSpec

T = TypeVar("T")


async def catch_exits(work: Coroutine[Any, Any, T]) -> T | SystemExit | KeyboardInterrupt:
    """What foreign code returns, or an exception with which its task would end the event loop."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:
        return error


@dataclass(frozen=True)
class Answer:
    """What the agent wants to do, and how it came to say so.

    `action` is None when the reply holds no action: the turn is spent, and `told`
    is what the agent sees next. `how` says how the reply was read (`verbatim` for
    agents that answer with a command and nothing else). An action that is
    `answered` asks for something the agent knows itself: it costs the turn, `told`
    is its result, and the environment is not asked. `give_up` ends the episode as a
    score: nothing is carried out. `prompt` and `tools` are what the model was sent.
    """

    action: str | None
    how: str = How.VERBATIM
    reply: str = ""
    reasoning: str = ""
    prompt: tuple[Message, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    calls: tuple[Call, ...] = ()
    told: str = PARSE_FAILURE
    answered: bool = False
    give_up: bool = False
    tools: tuple[ToolSpec, ...] = ()


@dataclass(frozen=True)
class Demonstration:
    """An example game for a prompt; `turns` are (thought, action, observation)."""

    goal: str
    first_observation: str
    turns: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Briefing:
    """What an agent may know of a benchmark before it plays: words and data, no game.

    `role` introduces an agent that is told nothing else (over A2A), `examples` are
    two commands as they are written. `tools` are the actions as tools of a model's own API;
    `typed_tools` the same with a tool for each kind of command, where that differs.
    """

    instructions: str
    role: str = ""
    examples: str = ""
    help_lines: tuple[str, ...] = ()
    demonstrations: tuple[Demonstration, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    typed_tools: tuple[ToolSpec, ...] = ()

    def choose_tools(self, kind: str) -> tuple[ToolSpec, ...]:
        """The `typed` tools where there are such and they are asked for, else the plain ones."""
        return self.typed_tools if kind == "typed" and self.typed_tools else self.tools


@dataclass(frozen=True)
class Episode:
    """What an agent is told before the first step."""

    benchmark: str
    goal: str
    task_type: str
    max_steps: int
    seed: int
    briefing: Briefing
    facts: Mapping[str, str] = field(default_factory=dict)
    model_seed: int | None = None


class Agent(ABC):
    """Plays one episode."""

    Settings: ClassVar[type[Settings]] = Settings
    demonstrations_wanted: int = 0  # read before `begin`
    calls_tools: bool = False  # whether its model must be able to; tried before a run
    called_by: ClassVar[str] = ""  # the command whose callers it is, which alone can play it
    needs_keyboard: ClassVar[bool] = False  # which a process that `launch` starts does not have

    @classmethod
    async def open_shared(cls, settings: Any) -> Any:
        """Made once per process for all episodes, for what they share (a connection, a process).

        What has an async `close` is closed when the run ends.
        """
        return None

    @classmethod
    async def identify(cls, settings: Any) -> AssessedAgent | None:
        """Who answers, if that is an agent elsewhere; a run is of one agent, so it is asked
        before anything is played."""
        return None

    async def begin(self, episode: Episode) -> None:
        """Called once, before the first observation."""
        self.episode = episode

    @abstractmethod
    async def act(self, observation: Observation) -> Answer:
        """The next action."""

    async def close(self) -> None:
        """Called once, however the episode ended."""
        return None


@dataclass(frozen=True)
class Oracle:
    """A shortest plan from the current state of one episode, asked again after every step.

    It has the commands that solve the task from here; none when solved or unreachable.
    """

    plan: Callable[[], list[str]]


class InformedAgent(Agent):
    """An agent that is shown the oracle's plan: an upper bound, never an agent under test."""

    oracle: Oracle


class Explorer(ABC):
    """A rule-based player that reads only the text an LLM would read.

    `thought` says in a sentence why it chose its last action. `table` is None for one
    without a table of what such tasks are usually like; one that has it can be told to
    do without.
    """

    thought: str = ""
    table: bool | None = None

    @abstractmethod
    def next_action(self, observation: str) -> str:
        """The next command, given the newest observation."""

    def choose(self, observation: Observation) -> str:
        """The next command, for callers that have more than the text."""
        return self.next_action(observation.text)

    def did(self, action: str) -> None:  # noqa: B027
        """Another command was played than it said, as when it advises a learner."""
