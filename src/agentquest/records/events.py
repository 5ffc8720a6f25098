"""What watchers of a run are told while its episodes are in progress."""

from typing import Literal

from pydantic import Field

from agentquest.records.base import Record, Text
from agentquest.records.episode import Step
from agentquest.records.messages import Message
from agentquest.records.outcome import End


class LiveEvent(Record):
    """An episode began, made a step, or ended."""

    event: Literal["start", "step", "end"]
    key: str
    task_id: str
    trial: int
    worker: str = ""
    goal: Text = ""
    step: Step | None = None
    prompt: list[Message] = Field(default_factory=list)
    end: End | None = None
    success: bool | None = None
    message: Text = ""
