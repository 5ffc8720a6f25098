"""How a person at the terminal sees one benchmark's games.

Everything else about playing is the same for all benchmarks. One without a
view of its own is shown in its own words.
"""

import difflib
from collections.abc import Sequence

from agentquest.lib.types import Observation

_ALIKE = 0.7


class TerminalView:
    """A game of any benchmark."""

    def room(self, observation: Observation) -> str:
        """The first observation without its goal, as short as possible."""
        return observation.text or observation.output

    def said(self, observation: Observation) -> str:
        """What the game answers, laid out for reading."""
        return observation.text or observation.output

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        """A command in two parts: commands with the same first part are listed together."""
        verb, _, rest = command.partition(" ")
        return verb, rest

    def suggestion(self, command: str, admissible: Sequence[str]) -> str | None:
        """The command that was probably meant by one that is not possible; None for no idea."""
        words = command.lower().split()
        if words and (fuller := [each for each in admissible if fits(words, each.lower().split())]):
            return min(fuller, key=len)
        close = difflib.get_close_matches(command.strip().lower(), admissible, n=1, cutoff=_ALIKE)
        return close[0] if close else None


def fits(typed: Sequence[str], words: Sequence[str]) -> bool:
    """Whether each word typed begins a word of a command, in order."""
    remaining = iter(words)
    return all(any(word.startswith(part) for word in remaining) for part in typed)
