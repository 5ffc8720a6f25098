"""Which available action a free reply asks for, if it asks for exactly one.

Nothing is guessed: decoration is taken off, an option's number or a command
inside a sentence is understood, and everything else is not an action. In
particular `go to cabinet 1` never becomes `go to cabinet 10`.

Replies are whatever a stranger's agent says, so they are scanned plainly: the
work grows with the length of the reply and no faster.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from agentquest.lib.commands import has_blank
from agentquest.lib.matching import lowered, matcher
from agentquest.llms.thinking import split_thinking

EXACT, NORMALIZED, NUMBER, CONTAINED = "exact", "normalized", "number", "contained"
INVALID = "invalid"

_FENCE = re.compile(r"```[A-Za-z]*")
_NUMBER = re.compile(r"([0-9]{1,6})[.)]?")
_BEFORE_ACTION = " \t>*#_-"
_AROUND_COLON = " \t*_"


class Understood(NamedTuple):
    """The command to execute (None: none), and how the reply was read."""

    command: str | None
    how: str


def understand(reply: str, admissible: Sequence[str]) -> Understood:
    """Read a reply. An available action such as `search[<query>]` covers all its fillings."""
    plain = reply.strip()
    if plain in admissible and not has_blank(plain):
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
        if 1 <= position <= len(admissible) and not has_blank(admissible[position - 1]):
            return Understood(admissible[position - 1], NUMBER)
        return Understood(None, INVALID)
    return _contained(text, admissible)


def _action_line(text: str) -> str:
    """What follows the last `Action:`, or else the whole text."""
    lines = _FENCE.sub(" ", text).splitlines()
    for place in range(len(lines) - 1, -1, -1):
        behind = _behind_action(lines[place])
        if behind is not None:
            rest = [behind] if behind.strip(" \t*_`\"'") else lines[place + 1 :]
            return next((line for line in rest if line.strip()), "")
    return text


def _behind_action(line: str) -> str | None:
    """What follows `Action:` at the beginning of a line, through any decoration of it."""
    word = line.lstrip(_BEFORE_ACTION)
    if word[:6].lower() != "action":
        return None
    colon = word[6:].lstrip(_AROUND_COLON)
    return colon[1:].lstrip(_AROUND_COLON) if colon.startswith(":") else None


def _tidy(text: str) -> str:
    """One line without fences, quotes, stars, a leading `>` and punctuation at the end."""
    text = " ".join(_FENCE.sub(" ", text).split())
    return text.lstrip(">*_`\"'“”‘’ ").rstrip(".,;:!*_`\"'“”‘’ ")


def _same(text: str, admissible: Sequence[str]) -> str | None:
    wanted = text.casefold()
    for command in admissible:
        if has_blank(command):
            if matcher(command).fits(text):
                return text
        elif _tidy(command).casefold() == wanted:
            return command
    return None


def _contained(text: str, admissible: Sequence[str]) -> Understood:
    """The longest command that stands in the text as whole words, if it is the only one so long."""
    found: dict[str, int] = {}
    small = lowered(text)
    for command in admissible:
        wanted = matcher(command)
        for start, end in wanted.occurrences(text, small):
            if not (_is_word(text, start - 1) or _is_word(text, end)):
                found[text[start:end] if wanted.has_blank else command] = end - start
    longest = max(found.values(), default=0)
    fitting = [command for command, length in found.items() if length == longest]
    return Understood(fitting[0], CONTAINED) if len(fitting) == 1 else Understood(None, INVALID)


def _is_word(text: str, place: int) -> bool:
    return 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")
