"""A task, and what passes between an agent and a benchmark in one step.

Plain data: frozen, comparable, picklable. `export()` is what users see in
`metrics.export()`; a field marked `internal` stays out of the documented shape.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from agentquest.errors import DataError
from agentquest.words import is_writable, parse_whole_number


def internal(default: Any) -> Any:
    """A field that the documented export does not show."""
    return field(default=default, metadata={"internal": True}, compare=False, repr=False)


class Exportable:
    """A dataclass that can be shown to users as plain data."""

    __slots__ = ()

    def export(self) -> dict[str, Any]:
        """The fields as a dict, without those for our own use."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)  # type: ignore[arg-type]
            if not f.metadata.get("internal")
        }


@dataclass(frozen=True)
class Action(Exportable):
    """What the agent wants to do."""

    value: str

    def __post_init__(self) -> None:
        if not isinstance(self.value, str):
            raise TypeError(f"an action's value is text, not {self.value!r:.60}")


@dataclass(frozen=True)
class State(Exportable):
    """The benchmark's state after an action."""

    value: Any


@dataclass(frozen=True)
class Observation(Exportable):
    """What the agent is told.

    `output` is the whole message for an agent that sees nothing else; `text` is
    the engine's own words in it and `admissible` the commands possible now, for
    agents that build their own prompt. `valid` is False if the command was not
    carried out. `Driver.observe` makes one that agrees with the driver's outcome.
    """

    output: str
    success: bool = False
    can_proceed: bool = True
    text: str = internal("")
    admissible: tuple[str, ...] = internal(())
    valid: bool = internal(True)


class Interaction(NamedTuple):
    """One recorded step; unpacks as `action, state, observation`."""

    action: Action
    state: State
    observation: Observation


@dataclass(frozen=True)
class Task:
    """One problem of a benchmark.

    `problem` is what opens it here (a path, a number); `id` is the same on every machine; `file`
    is the problem's main file, if the problem is a folder.
    """

    id: str
    task_type: str
    split: str
    problem: str
    file: str = ""

    def __post_init__(self) -> None:
        for name in (self.id, self.task_type, self.split):
            if not isinstance(name, str) or not is_writable(name):
                raise DataError(
                    f"the task {name!r} has half a character in its name, or is no text"
                )

    def place(self, among: int) -> int:
        """Which of so many problems this is, by the number that `problem` ends with."""
        place = parse_whole_number(self.problem.rpartition("/")[2])
        if place is None or place >= among:
            raise DataError(f"there is no task {self.problem!r}")
        return place


class Moment(NamedTuple):
    """What a picture is drawn from: an observation, the commands possible then, and the action
    that led to it."""

    observation: str
    admissible: Sequence[str] = ()
    action: str = ""  # empty at the start
