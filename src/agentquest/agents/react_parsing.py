"""Reading `THINK: … ACTION: …` tolerantly, without repairing anything.

Only decoration is taken off (markdown stars, quotes, backticks, brackets around
the whole, a full stop at the end); the words of the command stay as they were
written. Of several ACTION lines the first counts: a model that goes on to imagine
the game's answers has made its move by then. An `ACTION:` in capitals within a
line counts only where no line begins with one. `how` tells what had to be done.
"""

import re
from typing import NamedTuple

# `ACTION:`, `Action :`, `**Action:**`, `- ACTION:` at the start of a line.
_ACTION = re.compile(r"^[ \t>*#_-]*action[ \t*_]*[:：][ \t*_]*(.*)$", re.IGNORECASE | re.MULTILINE)
_INLINE = re.compile(r"(?<=\s)\**ACTION\**[:：][ \t*_]*(.*)$", re.MULTILINE)
_THINK = re.compile(
    r"^[ \t>*#_-]*(?:think|thought)[ \t*_]*[:：][ \t*_]*", re.IGNORECASE | re.MULTILINE
)
_PAIRS = frozenset({'""', "''", "[]", "<>"})


class Parsed(NamedTuple):
    """`how`: exact, undecorated, next_line, inline, first_of_several, or missing (no action)."""

    action: str | None
    thought: str
    how: str


def parse_react(text: str) -> Parsed:
    found, how = list(_ACTION.finditer(text)), "exact"
    if not found:
        found, how = list(_INLINE.finditer(text)), "inline"
    if not found:
        return Parsed(None, _thought(text), "missing")
    first = found[0]
    raw = first.group(1)
    if not _undecorated(raw):
        raw, how = _next_line(text[first.end() :]), "next_line"
    action = _undecorated(raw)
    if not action:
        return Parsed(None, _thought(text[: first.start()]), "missing")
    if len(found) > 1:
        how = "first_of_several"
    elif how == "exact" and action != raw.strip():
        how = "undecorated"
    return Parsed(action, _thought(text[: first.start()]), how)


def _next_line(rest: str) -> str:
    """The first line with words in it (not the rule of a code block)."""
    return next((line for line in rest.splitlines() if _undecorated(line)), "")


def _undecorated(raw: str) -> str:
    """Without decoration, layer by layer: a full stop can stand within the quotes or behind."""
    action, before = raw, None
    while action != before:
        before = action
        action = action.strip().strip("*_`").removesuffix(".")
        if action[:1] + action[-1:] in _PAIRS and len(action) > 1:
            action = action[1:-1]
    return action


def _thought(text: str) -> str:
    return _THINK.sub("", text, count=1).strip()
