"""People who play a benchmark's games: what they see of them, and what is recorded.

A benchmark may have its own view for people; everything else about playing is the
same for all benchmarks, and lives in the room `people`.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agentquest.lib.types import Observation, Task
from agentquest.records.episode import EpisodeRecord
from agentquest.records.how import How

if TYPE_CHECKING:
    from agentquest.lib.benchmark import Benchmark

_ALIKE = 0.7


class TerminalView:
    """A game of any benchmark."""

    def room(self, observation: Observation) -> str:
        """The first observation without its goal, as short as possible."""
        return observation.text or observation.output

    def show(self, observation: Observation) -> str:
        """What the game answers, laid out for reading."""
        return observation.text or observation.output

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        """A command in two parts: commands with the same first part are listed together."""
        verb, _, rest = command.partition(" ")
        return verb, rest

    def suggestion(self, command: str, admissible: Sequence[str]) -> str | None:
        """The possible command that was probably meant; None if nothing is similar."""
        words = command.lower().split()
        if words and (fuller := [each for each in admissible if fits(words, each.lower().split())]):
            return min(fuller, key=len)
        close = difflib.get_close_matches(command.strip().lower(), admissible, n=1, cutoff=_ALIKE)
        return close[0] if close else None


def fits(typed: Sequence[str], words: Sequence[str]) -> bool:
    """Whether each word typed begins a word of a command, in order."""
    remaining = iter(words)
    return all(any(word.startswith(part) for word in remaining) for part in typed)


@dataclass(frozen=True)
class PlayedMove:
    """One step of a person's game, and how it came about; no command means giving up."""

    command: str | None
    seconds: float
    how: str = How.TYPED

    @property
    def inherited(self) -> bool:
        """Whether somebody else took this step, before the person went on from there."""
        return self.how == How.INHERITED


@dataclass(frozen=True)
class PlayedGame:
    """A game that its player has left; `facts` and `details` are added to the record's own."""

    task: Task
    moves: Sequence[PlayedMove]
    started_at: str
    facts: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)


class Recorder(Protocol):
    """Writes people's games to a run, as episodes like any agent's."""

    @property
    def path(self) -> Path:
        """The folder of the run."""
        ...

    def count_games(self) -> Mapping[str, int]:
        """How many games of each task the run has, by the task's id."""
        ...

    def save(self, game: PlayedGame) -> EpisodeRecord:
        """Record a game; one that was neither finished nor given up is cancelled."""
        ...


OpenRecorder = Callable[
    ["Benchmark", Mapping[str, Any], Path, int], AbstractContextManager[Recorder]
]
"""Opens the run in a folder for a benchmark with these settings and a step limit.

The command line passes it to a benchmark's own commands as the context's object: what writes
runs is above the benchmarks, which cannot import it.
"""
