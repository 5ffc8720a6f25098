"""What happened in one episode: one versioned record, one line of JSON.

Everything that reports or compares reads these and nothing else. The domain's
own verdicts (success, reward, progress) are recorded when they happen and
never derived again. Formats are described in docs/records.md.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field, model_validator

from agentquest.records.base import Anything, Facts, Many, Record, Text, Texts
from agentquest.records.how import How
from agentquest.records.messages import Message, ToolCall, ToolSpec
from agentquest.records.outcome import End
from agentquest.records.usage import (
    Amount,
    Count,
    Figure,
    KnownUsage,
    read_cost,
    read_number,
    read_usage,
)

SCHEMA_VERSION: Literal[2] = 2

Source = Literal["agent", "model", "environment", "run"]


class Call(Record):
    """One model call. Unknown usage, cost and latency are null, never zero."""

    model: Text
    kind: Text
    usage: KnownUsage = None
    cost: Amount = None
    latency_s: Amount = None
    attempts: Count = 1
    cached: bool = False


# The kind of a call that the agent told us of, in place of what its reply was.
REPORTED = "reported"
_LONGEST_NAME = 200


def read_call(said: object, kind: str = REPORTED) -> Call | None:
    """A model call as an agent reports it: `model`, `cost`, `latency_s`, and token counts in the
    format of any provider, beside these or under `usage`. None if it is no report."""
    if not isinstance(said, Mapping):
        return None
    block = said.get("usage") or said.get("usage_metadata") or said
    cost = read_cost(said)
    return Call(
        model=str(said.get("model") or "")[:_LONGEST_NAME],
        kind=kind,
        usage=read_usage(block),
        cost=read_cost(block) if cost is None else cost,
        latency_s=read_number(said.get("latency_s"), "latency_s"),
    )


class Step(Record):
    """One turn: what the agent was asked and said, what was done, what came of it.

    `prompt` lists places in the episode's `messages`. `action` is what was read
    out of the reply (null: nothing could be), `how` how it was read, `valid`
    whether the environment carried it out. `observation` and `admissible` are
    what the agent sees next.
    """

    index: int
    prompt: Many[int] = Field(default_factory=list)
    reply: Text = ""
    reasoning: Text = ""
    tool_calls: Many[ToolCall] = Field(default_factory=list)
    action: Text | None
    how: Text
    valid: bool
    observation: Text
    admissible: Texts = Field(default_factory=list)
    reward: Figure = 0.0
    progress: Figure = 0.0
    reachable: bool = True
    seconds: Figure = 0.0
    calls: Many[Call] = Field(default_factory=list)


class Failure(Record):
    """What went wrong, and on whose side. `traceback` has the frames of the user's own code."""

    source: Source
    kind: Text
    message: Text
    traceback: Text = ""

    def __str__(self) -> str:
        starts = self.message.startswith(self.kind)
        return self.message if starts else f"{self.kind}: {self.message}"


class EpisodeRecord(Record):
    """One episode of one task."""

    schema_version: Literal[2] = SCHEMA_VERSION
    run_id: Text
    key: Text
    benchmark: Text
    task_id: Text
    task_type: Text
    split: Text
    trial: int
    seed: int
    problem: Text
    game_file: Text = ""  # the main file of a problem that is a folder
    data_hash: Text
    facts: Facts = Field(default_factory=dict)
    goal: Text
    agent: Text
    model: Text | None = None
    config_hash: Text
    versions: dict[Text, Text]
    max_steps: int
    messages: Many[Message] = Field(default_factory=list)
    tools: Many[ToolSpec] = Field(default_factory=list)
    first_observation: Text
    first_admissible: Texts = Field(default_factory=list)
    milestones: Texts = Field(default_factory=list)
    steps: Many[Step]
    end: End
    scored: bool
    success: bool
    reward: Figure
    progress: Figure
    repetition_rate: Figure
    explanation: Text = ""
    error: Failure | None = None
    details: Anything = Field(default_factory=dict)
    worker: Text = ""
    started_at: Text
    seconds: Figure

    @model_validator(mode="after")
    def _has_its_prompts(self) -> "EpisodeRecord":
        named = [step.prompt for step in self.steps if step.prompt]
        if any(min(places) < 0 or max(places) >= len(self.messages) for places in named):
            raise ValueError("a prompt names a message that is not there")
        return self

    def prompt(self, step: Step) -> list[Message]:
        """The messages that a step's reply answered."""
        return [self.messages[place] for place in step.prompt]

    def slim(self) -> "EpisodeRecord":
        """The record without what only a reader of trajectories needs."""
        steps = [step.model_copy(update={"prompt": [], "admissible": []}) for step in self.steps]
        return self.model_copy(update={"steps": steps, "first_admissible": [], "messages": []})

    @property
    def actions(self) -> list[str]:
        """What was attempted, with unreadable replies as `invalid:<text>`."""
        return [attempted_command(step) for step in self.steps]

    @property
    def invalid_actions(self) -> int:
        """How many steps the environment did not carry out; to give up is no attempt at one."""
        return sum(not step.valid for step in self.commands)

    @property
    def commands(self) -> list[Step]:
        """The steps that were to do something: all but that of giving up."""
        return [step for step in self.steps if step.how != How.GAVE_UP]

    @property
    def calls(self) -> list[Call]:
        """Every model call of the episode, in order."""
        return [call for step in self.steps for call in step.calls]


class LiveEvent(Record):
    """What watchers are told while episodes are in progress: one began, made a step, or ended."""

    event: Literal["start", "step", "end"]
    key: Text
    task_id: Text
    trial: int
    worker: Text = ""
    goal: Text = ""
    step: Step | None = None
    prompt: Many[Message] = Field(default_factory=list)
    end: End | None = None
    success: bool | None = None
    message: Text = ""


class MessagePool:
    """Keeps each message of an episode once: prompts repeat most of what they said before."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._places: dict[str | tuple[str, str | None, str], int] = {}

    def places(self, prompt: Iterable[Message]) -> list[int]:
        """The place of each message of a prompt in the pool; new ones are added."""
        return [self._place(message) for message in prompt]

    def _place(self, message: Message) -> int:
        plain = not (message.tool_calls or message.opaque or message.reasoning)
        # A tuple of the texts themselves: they remember their hash.
        key = (
            (message.role, message.tool_call_id, message.content)
            if plain
            else message.model_dump_json()
        )
        place = self._places.setdefault(key, len(self.messages))
        if place == len(self.messages):
            self.messages.append(message)
        return place


def attempted_command(step: Step) -> str:
    """The command of a step as behaviour metrics see it: repeated nonsense is repetition too."""
    if step.valid and step.action is not None:
        return step.action
    return mark_invalid(step.action if step.action is not None else step.reply)


def mark_invalid(text: str) -> str:
    """A reply or command that was not carried out, as an action."""
    return f"invalid:{' '.join(text.split()).lower()}"


def episode_key(task_id: str, trial: int) -> str:
    """What identifies an episode within a run."""
    return f"{task_id}#{trial}"
