"""Records and specs for tests of what listens to a run."""

from collections.abc import Callable
from typing import Any

from agentquest.lib import Task
from agentquest.records.episode import EpisodeRecord, Failure, Step
from agentquest.records.messages import Message
from agentquest.records.outcome import End
from agentquest.running.events import RunEvents
from agentquest.running.spec import EpisodeSpec
from episode_players import a_context


def a_spec(name: str = "test/1", **context: Any) -> EpisodeSpec:
    return EpisodeSpec(a_context(**context), Task(name, "easy", "test", name))


def a_record(spec: EpisodeSpec | None = None, **given: Any) -> EpisodeRecord:
    spec = spec or a_spec()
    known: dict[str, Any] = {
        "run_id": "run",
        "key": spec.key,
        "benchmark": "alfworld",
        "task_id": spec.task.id,
        "task_type": spec.task.task_type,
        "split": spec.task.split,
        "trial": spec.trial,
        "seed": spec.seed,
        "problem": spec.task.problem,
        "data_hash": "",
        "versions": {},
        "agent": "random",
        "config_hash": "hash",
        "max_steps": 50,
        "first_observation": "You are here.",
        "goal": "win",
        "steps": [],
        "end": End.FAILED,
        "scored": True,
        "success": False,
        "reward": 0.0,
        "progress": 0.0,
        "repetition_rate": 0.0,
        "started_at": "2026-01-01T00:00:00+00:00",
        "seconds": 1.0,
    }
    return EpisodeRecord(**{**known, **given})


def a_failure(kind: str = "ServerError", **given: Any) -> EpisodeRecord:
    """An episode that the model's server failed."""
    error = Failure(source="model", kind=kind, message="the server failed")
    return a_record(end=End.INFRASTRUCTURE_FAULT, scored=False, error=error, **given)


def a_step(**given: Any) -> Step:
    known: dict[str, Any] = {
        "index": 1,
        "action": "look",
        "how": "verbatim",
        "valid": True,
        "observation": "You see a wall.",
    }
    return Step(**{**known, **given})


class Recorder(RunEvents):
    """Writes down every event with its arguments."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    def playing(self, trouble: Callable[[], str]) -> None:
        self.heard.append(("playing", trouble))

    def started(self, spec: EpisodeSpec, worker: str) -> None:
        self.heard.append(("started", spec, worker))

    def introduced(self, spec: EpisodeSpec, goal: str) -> None:
        self.heard.append(("introduced", spec, goal))

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        self.heard.append(("stepped", spec, step, prompt))

    async def save(self, record: EpisodeRecord) -> None:
        self.heard.append(("save", record))

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        self.heard.append(("finished", spec, record))

    def cut_short(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        self.heard.append(("cut_short", spec, record))

    def noted(self, text: str) -> None:
        self.heard.append(("noted", text))

    @property
    def names(self) -> list[str]:
        return [name for name, *_ in self.heard]
