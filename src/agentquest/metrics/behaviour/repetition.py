"""How often an agent does the very same thing again at once."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from agentquest.metrics.behaviour.commands import normalised


@dataclass(frozen=True)
class RepeatedSteps:
    """Runs of equal consecutive commands; all zero where no run is."""

    repeated_count: int
    repeated_sequences: tuple[tuple[str, int], ...]
    repetition_rate: float
    max_repeat_length: int


def find_repeated_steps(commands: Iterable[str]) -> RepeatedSteps:
    """Each run of r >= 2 equal commands holds r - 1 repetitions; the rate is over all commands."""
    actions = normalised(commands)
    lengths = ((action, sum(1 for _ in run)) for action, run in groupby(actions))
    runs = tuple((action, length) for action, length in lengths if length >= 2)
    count = sum(length - 1 for _, length in runs)
    return RepeatedSteps(
        repeated_count=count,
        repeated_sequences=runs,
        repetition_rate=count / len(actions) if actions else 0.0,
        max_repeat_length=max((length for _, length in runs), default=0),
    )
