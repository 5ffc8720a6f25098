"""Which tasks of a split are played: seeded, reproducible, spread over the types.

The order depends on the seed and the tasks' ids alone, never on the file system.
Too few games of a type are reported, and no game is played twice to make up for it.
"""

import hashlib
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentquest.errors import UnknownName
from agentquest.lib import Task
from agentquest.words import counted

_MISFITS_SHOWN = 5
_LONGEST_SHOWN = 120


@dataclass(frozen=True)
class Selection:
    """The tasks in the order of play; `notes` say where there were too few."""

    tasks: tuple[Task, ...]
    notes: tuple[str, ...] = ()


def select(
    tasks: Sequence[Task],
    task_types: Sequence[str],
    seed: int,
    num_games: int | None = None,
    per_type: int | None = None,
) -> Selection:
    """Tasks taken in turn from each type (in the types' order).

    `num_games` is the total, shared out so that the types' counts differ by at
    most one, as far as each has games: what one type lacks the others make up
    for. `per_type` is a number for each type and overrides it. Neither: all
    tasks, also taken in turn, so that figures of an unfinished run do not mislead.
    """
    if num_games is None and per_type is None:
        types = dict.fromkeys(task.task_type for task in tasks)
        return Selection(_in_turn([[t for t in tasks if t.task_type == name] for name in types]))
    piles = {name: _shuffle(tasks, name, seed) for name in dict.fromkeys(task_types)}
    if per_type is not None:
        wanted = dict.fromkeys(piles, per_type)
        played = _in_turn([pile[:per_type] for pile in piles.values()])
    else:
        each, left = divmod(num_games or 0, len(piles))
        wanted = {name: each + (place < left) for place, name in enumerate(piles)}
        played = _in_turn(list(piles.values()))[:num_games]
    notes = [
        f"{name}: {counted(wanted[name], 'game')} requested, only {len(pile)} available"
        for name, pile in piles.items()
        if len(pile) < wanted[name]
    ]
    return Selection(played, tuple(notes))


def _in_turn(piles: Sequence[Sequence[Task]]) -> tuple[Task, ...]:
    rounds = max(map(len, piles), default=0)
    return tuple(pile[i] for i in range(rounds) for pile in piles if i < len(pile))


def pick_by_name(
    tasks: Sequence[Task], names: Sequence[str], places: Mapping[str, str] | None = None
) -> Selection:
    """Exactly the tasks named, by id or by a unique part of it.

    `places` says where a name was read, for messages.
    """
    by_id = {task.id: task for task in tasks}
    chosen: dict[str, Task] = {}
    misfits = []
    for name in names:
        exact = by_id.get(name)
        found = [exact] if exact else [task for task in tasks if name.lower() in task.id.lower()]
        if len(found) == 1:
            chosen[found[0].id] = found[0]
        else:
            misfits.append(_misfit(name, found, (places or {}).get(name)))
    if misfits:
        more = len(misfits) - _MISFITS_SHOWN
        shown = [*misfits[:_MISFITS_SHOWN], *([f"tasks: and {more} more"] if more > 0 else [])]
        raise UnknownName("\n".join(shown))
    return Selection(tuple(chosen.values()))


def _misfit(name: str, found: Sequence[Task], place: str | None) -> str:
    where = f"tasks: {place}: " if place else "tasks: "
    shown = repr(name[:_LONGEST_SHOWN])
    if found:
        return f"{where}{shown} matches {len(found)} tasks of this split, such as {found[0].id!r}"
    if place is None and os.path.isfile(name):  # noqa: PTH113 - any text at all may be asked for
        return f"{where}no task is called {shown}; for the ids in that file: tasks.file={name}"
    return f"{where}no task of this split is called {shown}; `agentquest tasks` lists them"


def episode_seed(seed: int, task_id: str, trial: int) -> int:
    """An episode's own seed, the same whatever else is in the run."""
    digest = hashlib.sha256(f"{seed}/{task_id}/{trial}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def _shuffle(tasks: Sequence[Task], task_type: str, seed: int) -> list[Task]:
    pile = sorted((task for task in tasks if task.task_type == task_type), key=lambda t: t.id)
    random.Random(f"{seed}/{task_type}").shuffle(pile)
    return pile
