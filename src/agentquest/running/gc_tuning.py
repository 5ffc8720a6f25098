"""Keeping Python's garbage collector out of a run's way.

A run holds many objects that live until their episode ends and hardly any cycles.
The collector would look at all of them again and again, which is a tenth of the
processor time of a step and holds every episode up while it lasts.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = (50_000, 20, 50)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Freeze existing objects and collect less often; everything is restored at the end."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
