"""How a person at the terminal sees an ALFWorld game."""

import re
from collections.abc import Sequence
from itertools import groupby

from agentquest.lib import Observation, TerminalView

_SEEN = re.compile(r"Looking quickly around you, you see (.+)\.")
_ARTICLE_KIND_NUMBER = re.compile(r"(?:and )?a (\S+) (\d{1,6})")


class AlfWorldView(TerminalView):
    """Shows the room with its furniture counted by kind, and groups commands by their verb."""

    def room(self, observation: Observation) -> str:
        seen = _SEEN.search(observation.text)
        names = grouped_names(seen[1]) if seen else None
        if names is None:
            scene, _, _ = observation.text.partition("\n\nYour task is to: ")
            return scene.partition("\n\n")[2] or scene
        return f"You are in the middle of a room. Around you: {names}."

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
            named = next((name for name in there if name.partition(" ")[0] == place), None)
            meant = f"{verb} {named}" if named else None
        return meant


def grouped_names(enumeration: str) -> str | None:
    """`a desk 1, a shelf 2, and a shelf 1` as `desk 1, shelf 1–2`; None if it reads otherwise."""
    numbers: dict[str, set[int]] = {}
    for item in enumeration.split(", "):
        found = _ARTICLE_KIND_NUMBER.fullmatch(item)
        if found is None:
            return None
        numbers.setdefault(found[1], set()).add(int(found[2]))
    return ", ".join(f"{kind} {_runs(numbers[kind])}" for kind in sorted(numbers))


def _runs(numbers: set[int]) -> str:
    runs = []
    # Within a run of consecutive numbers, number minus position stays the same.
    for _, members in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in members]
        runs.append(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}")
    return " ".join(runs)
