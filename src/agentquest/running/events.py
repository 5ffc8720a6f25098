"""What happens in a run, told to whoever listens.

The live view, the sinks, the budget, the live file and the writer of records are all
listeners: each overrides the events that it needs, and a `Broadcast` passes every event
on to all of them.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.messages import Message
from agentquest.running.spec import EpisodeSpec


class RunEvents:
    """The events of a run; subclass it and override some. By itself it does nothing."""

    def playing(self, trouble: Callable[[], str]) -> None:
        """Called before the first episode; `trouble()` says what is wrong with the model now."""

    def started(self, spec: EpisodeSpec, worker: str) -> None:
        """An episode begins; `worker` says where, empty in this process."""

    def introduced(self, spec: EpisodeSpec, goal: str) -> None:
        """The agent is told its goal: the episode's first step follows."""

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        """A step was taken; `prompt` is what the model was sent for it."""

    async def save(self, record: EpisodeRecord) -> None:
        """Comes before `finished` and `cut_short`; returns when the record is safe."""

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        """An episode has ended, and its record is saved."""

    def cut_short(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        """An episode was stopped half-way; its record is saved, because its calls cost money."""

    def noted(self, text: str) -> None:
        """A message about the run as a whole."""


class Broadcast(RunEvents):
    """Passes every event on to all listeners, in their order."""

    def __init__(self, listeners: Iterable[RunEvents]) -> None:
        self._listeners = tuple(listeners)
        for name in vars(RunEvents):
            if not name.startswith("_") and name != "save":
                setattr(self, name, partial(self._tell, name))

    def _tell(self, name: str, *said: Any) -> None:
        for listener in self._listeners:
            getattr(listener, name)(*said)

    async def save(self, record: EpisodeRecord) -> None:
        for listener in self._listeners:
            await listener.save(record)
