"""Which available action a free reply asks for, if it asks for exactly one.

Nothing is guessed: decoration is taken off, an option's number or a command
inside a sentence is understood, and everything else is no action. In
particular `go to cabinet 1` never becomes `go to cabinet 10`.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from agentquest.llms.messages import split_thinking

EXACT, NORMALIZED, NUMBER, CONTAINED = "exact", "normalized", "number", "contained"
INVALID = "invalid"

_ACTION_LINE = re.compile(r"^[ \t>*#_-]*action[ \t*_]*:[ \t*_]*(.*)$", re.IGNORECASE | re.MULTILINE)
_FENCE = re.compile(r"```[A-Za-z]*")
_NUMBER = re.compile(r"([0-9]{1,6})[.)]?")
_BLANK = re.compile(r"<[a-z_ ]+>")
_FILLED = r"[^\[\]<>\n]+"


class Understood(NamedTuple):
    """The command to execute (None: none), and how the reply was read."""

    command: str | None
    how: str


def understand(reply: str, admissible: Sequence[str]) -> Understood:
    """Read a reply. An available action such as `search[<query>]` stands for all its fillings."""
    plain = reply.strip()
    if plain in admissible and not _BLANK.search(plain):
        return Understood(plain, EXACT)
    text = _tidy(_action_line(split_thinking(reply).text))
    if not text:
        return Understood(None, INVALID)
    command = _same(text, admissible)
    if command is not None:
        return Understood(command, NORMALIZED)
    number = _NUMBER.fullmatch(text)
    if number is not None:
        position = int(number.group(1))
        if 1 <= position <= len(admissible) and not _BLANK.search(admissible[position - 1]):
            return Understood(admissible[position - 1], NUMBER)
        return Understood(None, INVALID)
    return _contained(text, admissible)


def _action_line(text: str) -> str:
    """What stands behind the last `Action:`, or else the whole text."""
    found = list(_ACTION_LINE.finditer(_FENCE.sub(" ", text)))
    if not found:
        return text
    last = found[-1]
    if last.group(1).strip(" \t*_`\"'"):
        return last.group(1)
    rest = _FENCE.sub(" ", text)[last.end() :]
    return next((line for line in rest.splitlines() if line.strip()), "")


def _tidy(text: str) -> str:
    """One line without fences, quotes, stars, a leading `>` and punctuation at the end."""
    text = " ".join(_FENCE.sub(" ", text).split())
    return text.lstrip(">*_`\"'“”‘’ ").rstrip(".,;:!*_`\"'“”‘’ ")


def _same(text: str, admissible: Sequence[str]) -> str | None:
    wanted = text.casefold()
    for command in admissible:
        if _BLANK.search(command):
            if _pattern(command).fullmatch(text):
                return text
        elif _tidy(command).casefold() == wanted:
            return command
    return None


def _contained(text: str, admissible: Sequence[str]) -> Understood:
    """The longest command that stands in the text as whole words, if it is the only one so long."""
    found: dict[str, int] = {}
    for command in admissible:
        for match in re.finditer(rf"(?<!\w){_pattern(command).pattern}(?!\w)", text, re.IGNORECASE):
            asked = match.group(0) if _BLANK.search(command) else command
            found[asked] = len(match.group(0))
    longest = max(found.values(), default=0)
    fitting = [command for command, length in found.items() if length == longest]
    return Understood(fitting[0], CONTAINED) if len(fitting) == 1 else Understood(None, INVALID)


def _pattern(command: str) -> re.Pattern[str]:
    parts = [re.escape(re.sub(r"\s+", " ", part)) for part in _BLANK.split(command.strip())]
    return re.compile(_FILLED.join(parts), re.IGNORECASE)
