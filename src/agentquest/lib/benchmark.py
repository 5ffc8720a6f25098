"""A benchmark: where tasks come from and what plays them."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from agentquest.lib.agent import Explorer
from agentquest.lib.driver import Driver
from agentquest.lib.task import Task


class Demonstration(NamedTuple):
    """An example game for a prompt; `turns` are (thought, action, observation)."""

    goal: str
    first_observation: str
    turns: tuple[tuple[str, str, str], ...]


class Benchmark(ABC):
    """One configured benchmark; cheap to make, holds no open game."""

    name: ClassVar[str]
    task_types: ClassVar[tuple[str, ...]]
    help_lines: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def tasks(self) -> list[Task]:
        """All tasks of the configured split and types, in a fixed order."""

    @abstractmethod
    def driver(self, task: Task) -> Driver:
        """A driver for one task, not yet reset."""

    @abstractmethod
    def explorer(self) -> Explorer:
        """The rule-based baseline player of this benchmark, for one episode."""

    @abstractmethod
    def instructions(self, dialect: str) -> str:
        """What an agent must know of the environment: its commands and rules."""

    def demonstrations(self, task: Task, dialect: str, count: int) -> list[Demonstration]:
        """Example games for a prompt, of the same kind as the task but never the task itself."""
        return []

    def fingerprint(self, tasks: Sequence[Task]) -> str:
        """A hash over all that these tasks were made from, for the records."""
        digest = hashlib.sha256()
        for task in tasks:
            digest.update(f"{task.id}\0{self.driver(task).data_hash}\n".encode())
        return digest.hexdigest()

    @abstractmethod
    def provenance(self) -> dict[str, Any]:
        """Where the data comes from, for the records."""
