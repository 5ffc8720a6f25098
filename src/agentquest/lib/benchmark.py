"""A benchmark: where tasks come from and what plays them."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from agentquest.lib.agent import Explorer
from agentquest.lib.driver import Driver
from agentquest.lib.task import Task


class Benchmark(ABC):
    """One configured benchmark; cheap to make, holds no open game."""

    name: ClassVar[str]
    task_types: ClassVar[tuple[str, ...]]

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
    def provenance(self) -> dict[str, Any]:
        """Where the data comes from, for the records."""
