"""Reading `THINK: … ACTION: …` tolerantly, without repairing anything.

Only decoration is taken off (markdown stars, quotes, backticks, a full stop at
the end); the words of the command stay as they were written. Of several ACTION
lines the first counts: a model that goes on to imagine the game's answers has
made its move by then. `how` tells what had to be done.
"""

import re
from typing import NamedTuple

# `ACTION:`, `Action :`, `**Action:**`, `- ACTION:` at the start of a line.
_ACTION = re.compile(r"^[ \t>*#_-]*action[ \t*_]*:[ \t*_]*(.*)$", re.IGNORECASE | re.MULTILINE)
_THINK = re.compile(r"^[ \t>*#_-]*(?:think|thought)[ \t*_]*:[ \t*_]*", re.IGNORECASE | re.MULTILINE)


class Parsed(NamedTuple):
    """`how`: exact, undecorated, next_line, first_of_several, or missing (no action)."""

    action: str | None
    thought: str
    how: str


def parse_react(text: str) -> Parsed:
    found = list(_ACTION.finditer(text))
    if not found:
        return Parsed(None, _thought(text), "missing")
    first = found[0]
    raw, how = first.group(1), "exact"
    if not raw.strip(" \t*`\"'_"):
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
    return next((line for line in rest.splitlines() if line.strip()), "")


def _undecorated(raw: str) -> str:
    action = raw.strip().strip("*_` \t")
    if len(action) > 1 and action[0] == action[-1] and action[0] in "\"'":
        action = action[1:-1].strip()
    return action.removesuffix(".").strip()


def _thought(text: str) -> str:
    return _THINK.sub("", text, count=1).strip()
