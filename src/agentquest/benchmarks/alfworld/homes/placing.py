"""Putting things into a room: where everything is when a game starts."""

from dataclasses import dataclass

from agentquest.benchmarks.alfworld.homes.layouts import (
    NOWHERE,
    Layout,
    Point,
    Receptacle,
    thing_name,
)
from agentquest.benchmarks.alfworld.homes.rooms import STOCK
from agentquest.benchmarks.alfworld.homes.tasks import HomeTask, starting_places
from agentquest.benchmarks.alfworld.homes.vocabulary import COOL, PICK, TWO, VESSELS
from agentquest.lib.dice import Dice

# Of the things in a receptacle that overlaps another one, those that are in both.
_IN_BOTH = 0.95
# Of the games, those with one copy more of the thing they are about.
_ONE_MORE = 0.35
_MOST_COPIES = 4
# Of the games, those in which some thing lies in a bowl, a pan or the like.
_SOMETHING_NESTED = 0.15


@dataclass(frozen=True)
class Thing:
    """A thing that can be picked up; `inside` has two names where receptacles overlap."""

    kind: str
    name: str
    location: str
    inside: tuple[str, ...]
    cool: bool = False


@dataclass(frozen=True)
class Setup:
    """Everything in a room that differs from game to game."""

    things: tuple[Thing, ...]
    agent_at: str
    nested: tuple[tuple[str, str], ...]
    """(a thing, the vessel that it lies in): both in the same receptacle."""


def set_up(task: HomeTask, home: Layout, dice: Dice) -> Setup:
    """Draw where the agent starts, and where each thing lies, so that the task can be done."""
    agent_at, *floor = dice.shuffled(home.floor)
    taken: set[str] = set()
    things = tuple(
        _put(dice, task, home, kind, must_be_reachable, floor, taken)
        for kind in home.kinds
        for must_be_reachable in _copies(dice, task, home, kind)
    )
    return Setup(things, agent_at, _nest(dice, things))


def _copies(dice: Dice, task: HomeTask, home: Layout, kind: str) -> list[bool]:
    """One entry per copy of a thing: whether the task depends on this one."""
    number = int(dice.one_of(STOCK[home.room][kind].copies))
    if kind != task.thing:
        return [False] * number
    needed = 2 if task.task_type == TWO else 1
    number = max(number, needed) + dice.chance(_ONE_MORE)
    return [copy < needed for copy in range(min(number, _MOST_COPIES))]


def _put(
    dice: Dice,
    task: HomeTask,
    home: Layout,
    kind: str,
    must_be_reachable: bool,
    floor: list[str],
    taken: set[str],
) -> Thing:
    places = starting_places(task, home, kind)
    if must_be_reachable:
        places.pop(NOWHERE, None)
    place = dice.one_weighted(places) if places else NOWHERE
    if place == NOWHERE:
        return Thing(kind, _name(dice, kind, Point(0, 5, 0), taken), dice.one_of(floor), ())
    receptacle = dice.one_of(home.by_kind[place])
    if must_be_reachable and receptacle.openable:
        # Published games hide what they are about less often than other things.
        place = dice.one_weighted(places)
        receptacle = dice.one_of(home.by_kind[place])
    cool = kind == task.thing and place == "Fridge" and task.task_type != COOL
    name = _name(dice, kind, receptacle.at, taken)
    inside = _inside(dice, task, home, kind, receptacle)
    return Thing(kind, name, receptacle.location, inside, cool)


def _inside(
    dice: Dice, task: HomeTask, home: Layout, kind: str, receptacle: Receptacle
) -> tuple[str, ...]:
    """The receptacles that hold a thing put into one: that one, and what overlaps it."""
    inside = [receptacle.name]
    kind_of = {r.name: r.kind for r in home.receptacles}
    for first, second in home.overlaps:
        solves = kind == task.thing and kind_of[second] == task.target
        spoilt = solves and task.task_type in (PICK, TWO)
        if first == receptacle.name and not spoilt and dice.chance(_IN_BOTH):
            inside.append(second)
    return tuple(inside)


def _name(dice: Dice, kind: str, at: Point, taken: set[str]) -> str:
    """A name that no other thing has: things lie a little apart."""
    reach = 30
    while True:
        x, z = dice.between(-reach, reach), dice.between(-reach, reach)
        name = thing_name(kind, Point(at.x + x, at.y + dice.between(1, 12), at.z + z))
        if name not in taken:
            taken.add(name)
            return name
        reach += 1


def _nest(dice: Dice, things: tuple[Thing, ...]) -> tuple[tuple[str, str], ...]:
    if not dice.chance(_SOMETHING_NESTED):
        return ()
    pairs = [
        (inner.name, outer.name)
        for outer in things
        if outer.kind in VESSELS and outer.inside
        for inner in things
        if inner.kind not in VESSELS and inner.inside == outer.inside
    ]
    return (dice.one_of(pairs),) if pairs else ()
