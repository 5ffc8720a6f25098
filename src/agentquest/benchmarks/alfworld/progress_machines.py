"""One finite state machine for each ALFWorld task type: how far did the agent get?

The machine of the heat tasks is AgentQuest's published one; the others follow it.

pick_and_place_simple
    State 0, initial: Correct object not in hand. (Start)                               0.0
    State 1, object picked up: Correct object in hand                                   0.5
    State 2, object placed correctly: Object placed in correct position. (End)          1.0

pick_clean_then_place_in_recep, pick_heat_then_place_in_recep and
pick_cool_then_place_in_recep, with "cleaned", "heated" or "cooled"
    State 0, initial: Object not picked up and not heated. (Start)                      0.0
    State 1, object picked up: Correct object picked up and not heated                  0.25
    State 2, object heated and picked up: Correct object heated and in hand             0.75
    State 3, object heated and not picked up: Correct object heated and not in hand     0.5
    State 4, object placed correctly: Hot object placed in correct position. (End)      1.0

look_at_obj_in_light
    State 0, initial: Object not picked up and lamp not turned on. (Start)              0.0
    State 1, lamp turned on: Correct lamp turned on, object not in hand                 0.25
    State 2, object picked up: Correct object in hand, lamp not turned on               0.5
    State 3, object picked up and lamp turned on: Both, but the lamp is elsewhere       0.75
    State 4, object examined in light: Object in hand beside the lit lamp. (End)        1.0

pick_two_obj_and_place
    State 0, initial: No correct object in hand or in position. (Start)                 0.0
    State 1, first object picked up: One correct object in hand, none in position       0.25
    State 2, first object placed correctly: One in position, none in hand               0.5
    State 3, first object placed and second picked up: One in position, one in hand     0.75
    State 4, both objects placed correctly: Both in one receptacle. (End)               1.0

The correct object is any of the class that the goal names; where there are
several, the one that is furthest counts, so treating one and placing another is
no success. Heating undoes cooling and the other way round, as in the game.
Where the goal asks for slices, an object counts as placed once it is sliced.
A game that was won is in its last state whatever else was read: an object may
have been cool, or a lamp on, before the agent came.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from agentquest.benchmarks.alfworld.task_types import StatedGoal
from agentquest.benchmarks.alfworld.transcript_state import Knowledge, class_of, read_quest
from agentquest.errors import UserError
from agentquest.lib import Interaction


class Milestone(NamedTuple):
    """A state of a machine: its name and its progress."""

    name: str
    progress: float


Machine = Callable[[StatedGoal, Knowledge], Milestone]

INITIAL = Milestone("initial", 0.0)
_PLACED = Milestone("object placed correctly", 1.0)
_EXAMINED = Milestone("object examined in light", 1.0)
_BOTH_PLACED = Milestone("both objects placed correctly", 1.0)


def follow(goal: str, steps: Iterable[Interaction], wanted: str | None = None) -> list[Milestone]:
    """The state after each step; `wanted` is the only task type that will do."""
    quest = read_quest(goal)
    if wanted is not None and quest.task.name != wanted:
        raise UserError(f"the goal {goal[:120]!r} is a {quest.task.name} task, not {wanted}")
    machine, last = _MACHINES[quest.task.short]
    knowledge = Knowledge()
    milestones = []
    for step in steps:
        knowledge.update(step)
        milestones.append(last if knowledge.won else machine(quest, knowledge))
    return milestones


def _pick(quest: StatedGoal, known: Knowledge) -> Milestone:
    if any(_placed(quest, known, thing) for thing in _candidates(quest, known)):
        return _PLACED
    return Milestone("object picked up", 0.5) if _holds(quest, known) else INITIAL


def _treat(verb: str, done: str) -> Machine:
    picked_up = Milestone("object picked up", 0.25)
    in_hand = Milestone(f"object {done} and picked up", 0.75)
    put_down = Milestone(f"object {done} and not picked up", 0.5)

    def state_of(quest: StatedGoal, known: Knowledge, thing: str) -> Milestone:
        if thing not in known.treated[verb]:
            return picked_up if thing == known.held else INITIAL
        if _placed(quest, known, thing):
            return _PLACED
        return in_hand if thing == known.held else put_down

    def machine(quest: StatedGoal, known: Knowledge) -> Milestone:
        states = [state_of(quest, known, thing) for thing in _candidates(quest, known)]
        return max(states, key=lambda state: state.progress, default=INITIAL)

    return machine


def _look(quest: StatedGoal, known: Knowledge) -> Milestone:
    places = {p for lamp, at in known.lit.items() if class_of(lamp) == quest.target for p in at}
    if not _holds(quest, known):
        return Milestone("lamp turned on", 0.25) if places else INITIAL
    if not places:
        return Milestone("object picked up", 0.5)
    if known.place in places and (not quest.sliced or known.held in known.treated["slice"]):
        return _EXAMINED
    return Milestone("object picked up and lamp turned on", 0.75)


def _two(quest: StatedGoal, known: Knowledge) -> Milestone:
    best = Milestone("first object picked up", 0.25) if _holds(quest, known) else INITIAL
    for things in known.in_any(quest.target):
        there = {thing for thing in things if _fits(quest, known, thing)}
        if len(there) > 1:
            return _BOTH_PLACED
        if there and _holds(quest, known) and known.held not in there:
            best = Milestone("first object placed and second picked up", 0.75)
        elif there and best.progress < 0.5:
            best = Milestone("first object placed correctly", 0.5)
    return best


_MACHINES: dict[str, tuple[Machine, Milestone]] = {
    "pick": (_pick, _PLACED),
    "look": (_look, _EXAMINED),
    "clean": (_treat("clean", "cleaned"), _PLACED),
    "heat": (_treat("heat", "heated"), _PLACED),
    "cool": (_treat("cool", "cooled"), _PLACED),
    "two": (_two, _BOTH_PLACED),
}


def _candidates(quest: StatedGoal, known: Knowledge) -> list[str]:
    """The correct objects heard of so far."""
    names = {known.held}.union(*known.inside.values(), *known.treated.values())
    return sorted(name for name in names if class_of(name) == quest.thing)


def _holds(quest: StatedGoal, known: Knowledge) -> bool:
    return class_of(known.held) == quest.thing


def _fits(quest: StatedGoal, known: Knowledge, thing: str) -> bool:
    return class_of(thing) == quest.thing and (not quest.sliced or thing in known.treated["slice"])


def _placed(quest: StatedGoal, known: Knowledge, thing: str) -> bool:
    return _fits(quest, known, thing) and any(
        thing in things for things in known.in_any(quest.target)
    )
