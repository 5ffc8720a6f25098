"""How a person at the terminal sees an ALFWorld game."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from agentquest.benchmarks.alfworld.engine.narrator import ROOM, TASK
from agentquest.benchmarks.alfworld.reading import kind_of, read_statements
from agentquest.lib import Observation, TerminalView


class AlfWorldView(TerminalView):
    """Shows the room with its furniture counted by kind, and groups commands by their verb."""

    def room(self, observation: Observation) -> str:
        said = read_statements(observation.text)
        names = [name for one in said if one.sentence == ROOM for name in one.names]
        if names:
            return f"You are in the middle of a room. Around you: {group_names(names)}."
        scene, _, _ = observation.text.partition(f"\n\n{TASK}")
        return scene.partition("\n\n")[2] or scene

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        if command.startswith("go to "):
            return "go to", command.removeprefix("go to ")
        return super().verb_and_rest(command)

    def suggestion(self, command: str, admissible: Sequence[str]) -> str | None:
        """What was meant, here or elsewhere: `open fridge` is `open fridge 1` from everywhere."""
        meant = super().suggestion(command, admissible)
        verb, _, place = command.strip().lower().rpartition(" ")
        if meant is None and verb:
            there = (each.removeprefix("go to ") for each in admissible if each.startswith("go to"))
            named = next((name for name in there if kind_of(name) == place), None)
            meant = f"{verb} {named}" if named else None
        return meant


def group_names(names: Iterable[str]) -> str:
    """`desk 1`, `shelf 2` and `shelf 1` as `desk 1, shelf 1–2`."""
    numbers: dict[str, set[int]] = {}
    for name in names:
        kind, _, number = name.partition(" ")
        numbers.setdefault(kind, set()).add(int(number))
    return ", ".join(f"{kind} {_group_runs(numbers[kind])}" for kind in sorted(numbers))


def _group_runs(numbers: set[int]) -> str:
    runs = []
    # Within a run of consecutive numbers, number minus position stays the same.
    for _, members in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in members]
        runs.append(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}")
    return " ".join(runs)
