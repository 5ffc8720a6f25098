"""The oracle: a shortest plan from the current state of an episode."""

from collections.abc import Callable
from typing import Protocol


class Oracle(Protocol):
    """Bound to one episode; asked again after every step."""

    def plan(self) -> list[str]:
        """The commands that solve the task from here; empty when solved or unreachable."""
        ...


class DriverOracle:
    """The oracle of a driver that computes its own plan."""

    def __init__(self, plan: Callable[[], list[str]]) -> None:
        self._plan = plan

    def plan(self) -> list[str]:
        """The driver's plan from its current state; empty when solved or unreachable."""
        return self._plan()
