"""The oracle: a shortest plan from the current state of an episode."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Oracle:
    """Bound to one episode; `plan()` is asked again after every step.

    It returns the commands that solve the task from here; none when solved or unreachable.
    """

    plan: Callable[[], list[str]]
