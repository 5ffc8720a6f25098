"""Whether an agent closes what it opened."""

from collections.abc import Iterable
from dataclasses import dataclass

from agentquest.metrics.behaviour.commands import argument, normalised
from agentquest.records.manifest import Verbs


@dataclass(frozen=True)
class Cleanup:
    """Opens and the closes that answer them.

    A game without opens leaves nothing open: rate 1.0, but `applicable` is False.
    `remaining_open_items` has one entry for each unanswered open, in order;
    `unclosed_items` names each such thing once, sorted.
    """

    total_opens: int
    correct_close_count: int
    remaining_open_count: int
    remaining_open_items: tuple[str, ...]
    cleanup_rate: float
    items_opened: tuple[str, ...]
    items_closed: tuple[str, ...]
    unclosed_items: tuple[str, ...]
    applicable: bool


def assess_cleanup(commands: Iterable[str], verbs: Verbs) -> Cleanup:
    """Opening a thing twice counts twice; closing what the agent did not open is ignored."""
    opened: list[str] = []
    closed: list[str] = []
    still_open: list[str] = []
    for action in normalised(commands):
        if (item := argument(action, verbs.open)) is not None:
            opened.append(item)
            still_open.append(item)
        elif (item := argument(action, verbs.close)) is not None and item in still_open:
            still_open.remove(item)
            closed.append(item)
    return Cleanup(
        total_opens=len(opened),
        correct_close_count=len(closed),
        remaining_open_count=len(still_open),
        remaining_open_items=tuple(still_open),
        cleanup_rate=len(closed) / len(opened) if opened else 1.0,
        items_opened=tuple(opened),
        items_closed=tuple(closed),
        unclosed_items=tuple(sorted(set(still_open))),
        applicable=bool(opened),
    )
