"""The sections of a prompt file, and what each may name.

`[first]` is the message of the first turn and `[turn]` that of later ones (`[first]`
again, where there is none); `[history]` is one earlier turn, `[admissible]` one command
that is possible now, `[piece]` one piece of an observation, `[examples]` the example
games, and `[system]` the system message.
"""

from functools import cache
from pathlib import Path

from agentquest.agents.template_file import TemplateFile, read_template

_TURN = frozenset(
    {
        *("goal", "instructions", "role", "examples", "observation", "admissible", "step"),
        *("steps_taken", "max_steps", "history", "history_length"),
    }
)
FIELDS = {
    "system": frozenset({"goal", "instructions", "role", "examples", "max_steps"}),
    "examples": frozenset({"demonstrations"}),
    "first": _TURN,
    "turn": _TURN,
    "history": frozenset({"number", "observation", "action", "thought", "reply"}),
    "admissible": frozenset({"command"}),
    "piece": frozenset({"piece"}),
}


class TurnTemplates:
    """A prompt file, read and checked; each method fills one of its sections in."""

    def __init__(self, text: str, where: str) -> None:
        self._file = TemplateFile(text, where, FIELDS, "first")

    def system(self, **values: str) -> str:
        """The system message; empty where the file has none."""
        return self._file.fill("system", **values).strip()

    def examples(self, demonstrations: str) -> str:
        """The example games as the file frames them; empty where there are none."""
        return self._file.fill("examples", demonstrations=demonstrations) if demonstrations else ""

    def message(self, is_first: bool, **values: str) -> str:
        """A turn's message: `[turn]` where the file has it and the turn is not the first."""
        later = not is_first and self._file.has("turn")
        return self._file.fill("turn" if later else "first", **values).strip("\n")

    def line(self, section: str, otherwise: str, **values: str) -> str:
        """One entry of a list; `otherwise` where the file does not say how it looks."""
        if not self._file.has(section):
            return otherwise
        return self._file.fill(section, **values).strip("\n")


def load_turns(file: Path) -> TurnTemplates:
    """The templates that a file holds now."""
    return _made(read_template(file), str(file))


@cache
def _made(text: str, where: str) -> TurnTemplates:
    return TurnTemplates(text, where)
