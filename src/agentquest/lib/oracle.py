"""The oracle: a shortest plan from the current state of an episode."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Oracle:
    """Bound to one episode; `plan()` is asked again after every step.

    It returns the commands that solve the task from here; none when solved or unreachable.
    """

    plan: Callable[[], list[str]]


def __getattr__(name: str) -> Any:
    if name == "DriverOracle":
        warnings.warn("DriverOracle is agentquest.lib.Oracle now", DeprecationWarning, stacklevel=2)
        return Oracle
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
