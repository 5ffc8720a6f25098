"""Who knows the way: the shortest plan from where an episode stands."""

from collections.abc import Callable
from typing import Protocol


class Oracle(Protocol):
    """Bound to one episode; asked again after every step."""

    def plan(self) -> list[str]:
        """The commands that solve the task from here; empty when solved or out of reach."""
        ...


class DriverOracle:
    """The oracle of a driver that works its plan out itself."""

    def __init__(self, plan: Callable[[], list[str]]) -> None:
        self._plan = plan

    def plan(self) -> list[str]:
        """The driver's plan from where it stands; empty when solved or out of reach."""
        return self._plan()
