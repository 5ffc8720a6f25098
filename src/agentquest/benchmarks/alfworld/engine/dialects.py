"""The two dialects of ALFWorld, and how a game file's own is recognised.

Release 0.4 renamed `put X in/on Y` to `move X to Y` and changed what arriving prints; agents
tuned on one fail on the other, so every record names its dialect. A file's domain must match
a known one exactly, because the engine implements only those rules. A game with an unknown
grammar is opened only if the caller names a dialect.
"""

import hashlib
import json
import re
from enum import Enum
from functools import lru_cache

from agentquest.benchmarks.alfworld.engine.pddl import strip_comments
from agentquest.errors import DataError, UnknownName

_TASK_LINE = re.compile(r'"Your task is to: ((?:[^"\\]|\\.)*)\."')
_GRAMMAR_MARKUP = frozenset("{}[]#|\\")
_LONGEST_GOAL = 300


class Dialect(str, Enum):
    """Named after the ALFWorld release that speaks it."""

    V0_3 = "0.3"
    V0_4 = "0.4"

    @property
    def has_help(self) -> bool:
        """Whether `help` is a command."""
        return self is Dialect.V0_4

    def put(self, thing: str, place: str) -> str:
        """The command that puts a thing down."""
        if self is Dialect.V0_3:
            return f"put {thing} in/on {place}"
        return f"move {thing} to {place}"


DEFAULT = Dialect.V0_4


def dialect(wanted: "str | Dialect | None") -> Dialect | None:
    """A dialect by its name; None means the game file's own."""
    if wanted is None or isinstance(wanted, Dialect):
        return wanted
    try:
        return Dialect(str(wanted))
    except ValueError:
        raise UnknownName(f"{wanted!r} is not a dialect; there are: 0.3, 0.4") from None


# SHA-256 (first 16 digits) of the texts of releases 0.3.5 and 0.4.2 and of the published games:
# domains without comments and blanks, grammars without the goal. The only visible difference
# between the rules is what an object is cleaned with.
_BASIN = frozenset({"sinkbasintype"})
_SINK_OR_BASIN = frozenset({"sinktype", "sinkbasintype"})
_CLEANERS_BY_DOMAIN = {
    "c398bac7936b4387": _BASIN,
    "68c0c8ed4392a559": _BASIN,
    "9549a55d7ecd967f": _SINK_OR_BASIN,
}
DEFAULT_CLEANERS = _BASIN
_GRAMMARS = {
    "ddf5264d950a669e": Dialect.V0_3,
    "6c84ce706244e255": Dialect.V0_4,
    "e8421073855128b4": Dialect.V0_4,
}


@lru_cache(maxsize=16)
def cleaners_of(domain: str) -> frozenset[str]:
    """Receptacle types that clean under these rules; raises DataError for unknown rules."""
    fingerprint = _fingerprint(" ".join(strip_comments(domain).split()))
    if fingerprint not in _CLEANERS_BY_DOMAIN:
        raise DataError(
            f"unknown pddl_domain (fingerprint {fingerprint}): only the rules of "
            "ALFWorld 0.3.x and 0.4.x are implemented"
        )
    return _CLEANERS_BY_DOMAIN[fingerprint]


def read_grammar(grammar: str) -> tuple[Dialect | None, str, str]:
    """A TWL2 grammar's dialect (None if unknown), its goal ("" if none was found) and its
    fingerprint, of everything but its goal; raises DataError if the goal cannot be read.
    """
    found = _TASK_LINE.search(grammar)
    if found is None:
        return None, "", _grammar_fingerprint(grammar)
    try:
        goal = plain_goal(json.loads(f'"{found.group(1)}"'))
    except ValueError as error:
        raise DataError(f"the grammar's goal sentence is not a text: {error}") from None
    rest = _grammar_fingerprint(grammar[: found.start(1)] + "#" + grammar[found.end(1) :])
    return _GRAMMARS.get(rest), goal, rest


def plain_goal(goal: str) -> str:
    """The goal, unless it is not one short line of plain text: agents read it as orders."""
    if len(goal) > _LONGEST_GOAL:
        raise DataError(f"the goal sentence has {len(goal)} characters, more than {_LONGEST_GOAL}")
    if not goal.strip() or not goal.isprintable() or _GRAMMAR_MARKUP & set(goal):
        raise DataError(f"the goal sentence is not plain text: {goal[:80]!r}")
    return goal


@lru_cache(maxsize=16)
def _grammar_fingerprint(grammar_without_goal: str) -> str:
    lines = grammar_without_goal.strip().splitlines()
    return _fingerprint("\n".join(line.rstrip() for line in lines))


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
