"""The likeness by which AgentBench replaces an action with an admissible one.

BLEU of up to four words in a row, smoothed by Chen and Cherry's fourth method:
what does not occur at all counts a little, and less with each longer row.
"""

import math
from collections import Counter
from collections.abc import Sequence
from enum import Enum

LIMIT = 0.01
_LONGEST = 4
_K = 5


class Repair(str, Enum):
    """What happens to an action that is not admissible."""

    NONE = "none"
    BLEU = "bleu"


def nearest(action: str, admissible: Sequence[str]) -> str:
    """The admissible command that is most alike, if any is alike at all; else the action."""
    if not admissible or action in admissible:
        return action
    scores = [bleu(command, action) for command in admissible]
    best = max(range(len(scores)), key=scores.__getitem__)
    return admissible[best] if scores[best] > LIMIT else action


def bleu(reference: str, candidate: str) -> float:
    """How much of the candidate's words, and rows of words, the reference has."""
    wanted, given = reference.split(), candidate.split()
    counts = [_matches(wanted, given, length) for length in range(1, _LONGEST + 1)]
    if counts[0][0] == 0:
        return 0.0
    precisions = []
    missing = 0
    for found, total in counts:
        share: float = found
        if found == 0 and len(given) > 1:
            missing += 1
            share = math.log(len(given)) / (2**missing * _K)
        precisions.append(share / total)
    logs = [math.log(precision) / _LONGEST for precision in precisions if precision > 0]
    longer = len(given) > len(wanted)
    brevity = 1.0 if longer else math.exp(1 - len(wanted) / len(given))
    return brevity * math.exp(math.fsum(logs))


def _matches(wanted: Sequence[str], given: Sequence[str], length: int) -> tuple[int, int]:
    """Rows of words of the candidate that the reference has, and how many rows there are."""
    rows, there = _rows(given, length), _rows(wanted, length)
    return (rows & there).total(), max(1, rows.total())


def _rows(words: Sequence[str], length: int) -> Counter[tuple[str, ...]]:
    starts = range(len(words) - length + 1)
    return Counter(tuple(words[start : start + length]) for start in starts)
