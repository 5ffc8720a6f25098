"""How the cost of reading a text grows with the text.

Eight times the text costs eight times as much where the cost is linear, and 64 times where it
is quadratic. The limit is far from both, and the best of many ratios decides, so that a busy
machine cannot fail a linear pattern. Small costs are all noise: the text is first made long
enough to be measured.
"""

import gc
import time
from collections.abc import Callable

FACTOR = 8
MOST = 24.0  # three times what is linear; 64 would be quadratic
_MEASURABLE_S = 0.004
_LONGEST = 400_000
_PATIENCE_S = 10.0


def growth(work: Callable[[str], object], text: Callable[[int], str], start: int = 2000) -> float:
    """The cost of `text(8 * n)` over that of `text(n)`; 0.0 where both are next to nothing."""
    length = start
    while (cost := _cost(work, text(length))) < _MEASURABLE_S:
        if length * FACTOR > _LONGEST:
            return 0.0
        length *= 2
    # Who shares the machine's caches slows large texts down, for seconds on end; what grows too
    # fast does so every time.
    ratios = [_cost(work, text(length * FACTOR)) / cost]
    until = time.process_time() + _PATIENCE_S
    while ratios[-1] > MOST and time.process_time() < until:
        ratios.append(_cost(work, text(length * FACTOR)) / _cost(work, text(length)))
    return min(ratios)


def _cost(work: Callable[[str], object], text: str) -> float:
    """The least of a few attempts, in processor time: what others do on the machine is not ours.

    Nor are Python's collections of garbage, which look at all that other tests have left.
    """
    costs = []
    gc.disable()
    try:
        for _ in range(3):
            began = time.process_time()
            work(text)
            costs.append(time.process_time() - began)
            if costs[0] > 1.0:
                break
    finally:
        gc.enable()
    return min(costs)


def repeated(unit: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """A text of about so many characters, made of one piece again and again."""
    return lambda length: before + unit * (length // len(unit)) + after
