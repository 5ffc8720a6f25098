"""Patterns of two to five commands that an agent goes through again and again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentquest.metrics.behaviour.commands import normalised

SHORTEST = 2
LONGEST = 5


@dataclass(frozen=True)
class Cycle:
    """`repetitions` copies of `pattern`, one behind the other, from `start_index` on."""

    pattern: tuple[str, ...]
    length: int
    repetitions: int
    start_index: int

    @property
    def steps(self) -> range:
        """The places of all commands that belong to it."""
        return range(self.start_index, self.start_index + self.length * self.repetitions)

    @property
    def first_copy(self) -> range:
        """The places of the first copy, which repeats nothing yet."""
        return range(self.start_index, self.start_index + self.length)


@dataclass(frozen=True)
class Cycles:
    """Every cycle of a game, one listed for each start; all zero in games of under four steps.

    `cycle_steps` are the commands in any cycle of any length, listed or not;
    `cycle_rate` is their share. `wasted_steps` are the commands in listed cycles
    that belong to no listed cycle's first copy.
    """

    cycles_detected: int
    cycle_patterns: tuple[Cycle, ...]
    cycle_rate: float
    wasted_steps: int
    cycle_steps: int


def find_cycles(commands: Iterable[str]) -> Cycles:
    """Look for each pattern length on its own; a partial copy at the end does not count."""
    actions = tuple(normalised(commands))
    found = [c for length in range(SHORTEST, LONGEST + 1) for c in _of_length(actions, length)]
    listed: dict[int, Cycle] = {}
    for cycle in found:
        # Shorter lengths come first, so the shortest cycle of a start is the one kept.
        listed.setdefault(cycle.start_index, cycle)
    marked = {step for cycle in found for step in cycle.steps}
    repeated = {step for cycle in listed.values() for step in cycle.steps}
    needed = {step for cycle in listed.values() for step in cycle.first_copy}
    return Cycles(
        cycles_detected=len(listed),
        cycle_patterns=tuple(listed.values()),
        cycle_rate=len(marked) / len(actions) if actions else 0.0,
        wasted_steps=len(repeated - needed),
        cycle_steps=len(marked),
    )


def _of_length(actions: Sequence[str], length: int) -> list[Cycle]:
    found = []
    start = 0
    while start <= len(actions) - 2 * length:
        pattern = actions[start : start + length]
        end = start + length
        while actions[end : end + length] == pattern:
            end += length
        copies = (end - start) // length
        if copies >= 2:
            found.append(Cycle(tuple(pattern), length, copies, start))
            start = end
        else:
            start += 1
    return found
