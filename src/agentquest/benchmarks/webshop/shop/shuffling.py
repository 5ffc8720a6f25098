"""The order of the goals: a shuffle that must be the original's, number by number.

Millions of goals take Python several seconds to shuffle, so a long order is kept
beside the catalogue, together with the state of the generator after it.
"""

import random
import zipfile
import zlib
from array import array
from contextlib import suppress
from os import getpid
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED = 233
WORTH_KEEPING = 200_000
_STATE_NUMBERS = 625

State = tuple[Any, ...]


def shuffled(count: int, folder: Path) -> tuple[NDArray[np.int64], State]:
    """The numbers below `count` in the order of the goals, and the generator's state after it."""
    path = folder / f"order-{count}.npz"
    known = _kept(path, count)
    if known is not None:
        return known
    rng = random.Random(SEED)
    numbers = array("q", range(count))
    rng.shuffle(numbers)
    order, state = np.frombuffer(numbers, np.int64), rng.getstate()
    if count > WORTH_KEEPING:
        scratch = folder / f"order-{count}.{getpid()}.tmp.npz"
        with suppress(OSError):  # a cache that cannot be written to costs time, nothing else
            np.savez(scratch, order=order, state=np.array(state[1], np.uint64))
            scratch.replace(path)
    return order, state


def _kept(path: Path, count: int) -> tuple[NDArray[np.int64], State] | None:
    """The order kept at `path`; None where there is none, or a damaged one (it has checksums)."""
    try:
        with np.load(path) as kept:
            order, state = kept["order"], kept["state"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    if order.shape != (count,) or state.shape != (_STATE_NUMBERS,):
        return None
    return order, (3, tuple(state.tolist()), None)
