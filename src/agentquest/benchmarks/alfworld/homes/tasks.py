"""Which games there are: the splits, and the task of every game in them.

Sizes and counts per task type are those of the published benchmark. The last
three rooms of each kind are kept for valid_unseen; the other splits share the
rest, with other placements and mostly other tasks.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from agentquest.benchmarks.alfworld.homes.layouts import NOWHERE, Layout, layout, open_places
from agentquest.benchmarks.alfworld.homes.rooms import STOCK, scenes_of
from agentquest.benchmarks.alfworld.homes.vocabulary import (
    CLEAN,
    COOL,
    HEAT,
    LOOK,
    NEEDED_PROPERTY,
    PICK,
    TOOL,
    TWO,
    can_contain,
)
from agentquest.benchmarks.alfworld.task_types import TASK_TYPE_NAMES
from agentquest.lib.dice import Dice

# Games per task type, in the order of TASK_TYPE_NAMES: those of the published benchmark.
COUNTS = {
    "train": (790, 308, 650, 459, 533, 813),
    "valid_seen": (35, 13, 27, 16, 25, 24),
    "valid_unseen": (24, 18, 31, 23, 21, 17),
    "valid_train": (46, 19, 37, 25, 28, 45),
}
SPLITS = tuple(COUNTS)

_TRIALS_PER_TASK = 3

# How often a task type is set in a kind of room, and asks for a kind of receptacle: rounded
# frequencies of the published validation games.
_ROOMS = {
    PICK: {"kitchen": 3, "living": 4, "bedroom": 4, "bathroom": 4},
    LOOK: {"bedroom": 14, "living": 1},
    CLEAN: {"kitchen": 7, "bathroom": 3},
    HEAT: {"kitchen": 1},
    COOL: {"kitchen": 1},
    TWO: {"kitchen": 2, "living": 3, "bedroom": 2, "bathroom": 4},
}
_UNSEEN_ROOMS = {
    **_ROOMS,
    PICK: {"kitchen": 9, "living": 6, "bedroom": 6, "bathroom": 3},
    LOOK: {"bedroom": 1},
    CLEAN: {"kitchen": 2, "bathroom": 1},
    TWO: {"kitchen": 3, "living": 5, "bedroom": 3, "bathroom": 6},
}
_RECEPTACLES = {
    PICK: {
        "Toilet": 8, "Drawer": 8, "Safe": 6, "SideTable": 6, "Cabinet": 6, "Desk": 4, "Shelf": 4,
        "Sofa": 4, "Dresser": 4, "ArmChair": 3, "CoffeeTable": 3, "GarbageCan": 3, "Cart": 2,
        "Microwave": 2, "ToiletPaperHanger": 2, "Bed": 2, "CounterTop": 2, "DiningTable": 2,
        "Ottoman": 1, "BathtubBasin": 1,
    },
    LOOK: {"DeskLamp": 1},
    CLEAN: {
        "CounterTop": 22, "Cabinet": 10, "Drawer": 9, "DiningTable": 5, "CoffeeMachine": 4,
        "Microwave": 3, "Fridge": 3, "Toilet": 3, "BathtubBasin": 2, "Cart": 1, "SideTable": 1,
        "Shelf": 1,
    },
    HEAT: {
        "GarbageCan": 11, "Cabinet": 10, "Fridge": 9, "CoffeeMachine": 4, "DiningTable": 4,
        "CounterTop": 2, "SinkBasin": 2, "SideTable": 1,
    },
    COOL: {
        "CounterTop": 16, "Microwave": 12, "Cabinet": 6, "CoffeeMachine": 4, "DiningTable": 4,
        "GarbageCan": 3, "StoveBurner": 2, "SinkBasin": 2, "SideTable": 1,
    },
    TWO: {
        "Drawer": 8, "Safe": 6, "GarbageCan": 6, "Cabinet": 5, "Toilet": 4, "Dresser": 3,
        "Desk": 3, "Sofa": 3, "CoffeeTable": 2, "Shelf": 2, "CounterTop": 2, "SideTable": 2,
        "ArmChair": 1, "Ottoman": 1, "DiningTable": 1,
    },
}  # fmt: skip


class HomeTask(NamedTuple):
    """What one game asks for; `target` is a receptacle type, or the lamp to look under."""

    task_type: str
    thing: str
    target: str
    scene: int

    @property
    def folder(self) -> str:
        """The name of the task's folder, as the published benchmark spells it."""
        return f"{self.task_type}-{self.thing}-None-{self.target}-{self.scene}"


def starting_places(task: HomeTask, home: Layout, thing: str) -> dict[str, int]:
    """Weighted receptacle types where copies of a thing may be when the game starts.

    As in the published games, the things a task is about are never in the receptacle
    that cleans, heats or cools them, nor in the target if placing them is the whole task.
    """
    places = open_places(STOCK[home.room][thing].places, home.by_kind)
    if thing == task.thing:
        places.pop(TOOL.get(task.task_type, ""), None)
        if task.task_type in (PICK, TWO):
            places.pop(task.target, None)
    return places


@cache
def _tasks_in(task_type: str, scene: int) -> Mapping[str, tuple[str, ...]]:
    """The tasks of a type that a room can set: target -> things that may be asked for."""
    home = layout(scene)
    standing = {f.kind for f in home.fittings if f.inside}  # so that a lamp lights something
    possible: dict[str, tuple[str, ...]] = {}
    for target in _RECEPTACLES[task_type]:
        if target not in (standing if task_type == LOOK else home.by_kind):
            continue
        things = tuple(t for t in home.kinds if _fits(HomeTask(task_type, t, target, scene), home))
        if things:
            possible[target] = things
    return possible


def _fits(task: HomeTask, home: Layout) -> bool:
    if task.task_type != LOOK and task.thing not in can_contain(task.target):
        return False
    if task.thing not in NEEDED_PROPERTY.get(task.task_type, (task.thing,)):
        return False
    return any(place != NOWHERE for place in starting_places(task, home, task.thing))


@cache
def games(split: str) -> Mapping[str, HomeTask]:
    """All games of a split, id -> task, ordered by id."""
    found: dict[str, HomeTask] = {}
    for task_type, count in zip(TASK_TYPE_NAMES, COUNTS[split], strict=True):
        dice = Dice(f"agentquest homes {split} {task_type}")
        trials: dict[HomeTask, int] = {}
        wanted = len(found) + count
        while len(found) < wanted:
            task = _draw(dice, split, task_type)
            trial = trials.get(task, 0)
            if trial < _TRIALS_PER_TASK:
                trials[task] = trial + 1
                found[f"{split}/{task.folder}/{_trial_name(split, task, trial)}"] = task
    return dict(sorted(found.items()))


def _draw(dice: Dice, split: str, task_type: str) -> HomeTask:
    weights = (_UNSEEN_ROOMS if split == "valid_unseen" else _ROOMS)[task_type]
    rooms = {room: w for room, w in weights.items() if _playable(split, task_type, room)}
    scene = dice.one_of(_playable(split, task_type, dice.one_weighted(rooms)))
    possible = _tasks_in(task_type, scene)
    target = dice.one_weighted({t: _RECEPTACLES[task_type][t] for t in possible})
    return HomeTask(task_type, dice.one_of(possible[target]), target, scene)


@cache
def _playable(split: str, task_type: str, room: str) -> tuple[int, ...]:
    scenes = scenes_of(room, unseen=split == "valid_unseen")
    return tuple(scene for scene in scenes if _tasks_in(task_type, scene))


def _trial_name(split: str, task: HomeTask, trial: int) -> str:
    """A name in the published form, a time stamp; ours is a hash of the game."""
    digest = hashlib.sha256(f"{split}/{task.folder}/{trial}".encode()).digest()
    number = int.from_bytes(digest[:8], "big")
    parts = []
    for base in (28, 12, 24, 60, 60, 1_000_000):
        number, part = divmod(number, base)
        parts.append(part)
    day, month, hour, minute, second, rest = parts
    return f"trial_T2019{month + 1:02d}{day + 1:02d}_{hour:02d}{minute:02d}{second:02d}_{rest:06d}"
