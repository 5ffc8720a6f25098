"""What happened in one episode: one versioned record, one line of JSON.

Everything that reports or compares reads these and nothing else. The domain's
own verdicts (success, reward, progress) are written down when they happen and
never derived again. Formats are described in docs/records.md.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from agentquest.errors import Cause
from agentquest.records.base import Record, Text, writable
from agentquest.records.messages import Message

SCHEMA_VERSION: Literal[1] = 1


class Call(Record):
    """One model call. Unknown token counts are null, never zero."""

    model: Text
    kind: Text
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    latency_s: float = 0.0
    attempts: int = 1
    cached: bool = False


class Step(Record):
    """One turn: what the agent was asked and said, what was done, what came of it.

    `action` is what was read out of the reply (null: nothing could be), `how`
    how it was read, `valid` whether the environment carried it out.
    `observation` and `admissible` are what the agent sees next.
    """

    index: int
    prompt: list[Message] = Field(default_factory=list)
    reply: Text = ""
    reasoning: Text = ""
    action: Text | None
    how: Text
    valid: bool
    observation: Text
    admissible: list[str] = Field(default_factory=list)
    reward: float = 0.0
    progress: float = 0.0
    reachable: bool = True
    seconds: float = 0.0
    calls: list[Call] = Field(default_factory=list)


class Failure(Record):
    """Why an episode has no score."""

    kind: Text
    message: Text


class EpisodeRecord(Record):
    """One episode of one task."""

    schema_version: Literal[1] = SCHEMA_VERSION
    run_id: str
    key: str
    benchmark: str
    task_id: str
    task_type: str
    split: str
    trial: int
    seed: int
    problem: str
    data_hash: str
    dialect: str
    goal: Text
    agent: str
    model: Text | None = None
    config_hash: str
    versions: dict[str, str]
    max_steps: int
    first_observation: Text
    first_admissible: list[str] = Field(default_factory=list)
    milestones: list[str] = Field(default_factory=list)
    steps: list[Step]
    end: Cause
    success: bool
    reward: float
    progress: float
    repetition_rate: float
    error: Failure | None = None
    details: Annotated[dict[str, Any], BeforeValidator(writable)] = Field(default_factory=dict)
    started_at: str
    seconds: float

    @property
    def scored(self) -> bool:
        """Whether the episode says something about the agent (see errors.Cause)."""
        return self.end.scored

    def slim(self) -> "EpisodeRecord":
        """The record without what only a reader of trajectories needs."""
        steps = [step.model_copy(update={"prompt": [], "admissible": []}) for step in self.steps]
        return self.model_copy(update={"steps": steps, "first_admissible": []})

    @property
    def actions(self) -> list[str]:
        """What was attempted, with unreadable replies as `invalid:<text>`."""
        return [attempted(step) for step in self.steps]

    @property
    def invalid_actions(self) -> int:
        return sum(not step.valid for step in self.steps)

    @property
    def calls(self) -> list[Call]:
        return [call for step in self.steps for call in step.calls]


def attempted(step: Step) -> str:
    """The command of a step as behaviour metrics see it: repeated nonsense is repetition too."""
    if step.valid and step.action is not None:
        return step.action
    text = step.action if step.action is not None else step.reply
    return f"invalid:{' '.join(text.split()).lower()}"


def episode_key(task_id: str, trial: int) -> str:
    """What identifies an episode within a run."""
    return f"{task_id}#{trial}"
