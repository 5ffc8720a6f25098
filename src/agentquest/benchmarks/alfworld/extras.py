"""Progress in words: what the agent had achieved after each step, by finite state machine.

    qualitative, quantitative = get_progress(driver.metrics)

It reads only the recorded interactions, so it works for any player and in both dialects. The
machine of the heat tasks is AgentQuest's published one; the others follow it.

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

The correct object is any of the class that the goal names. Of several, the one that is
furthest along counts: treating one and placing another is no success. Heating undoes cooling
and vice versa, as in the game. If the goal asks for slices, an object counts as placed only
if it is sliced. A game that was won is in its last state whatever else was read: an object
may have been cool, or a lamp on, from the start.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from agentquest.benchmarks.alfworld.reading import Known, kind_of
from agentquest.benchmarks.alfworld.task_types import StatedGoal, read_goal_sentence
from agentquest.errors import UserError
from agentquest.lib import Metrics, Observation

__all__ = [
    "get_progress",
    "get_progress_look_at_obj_in_light",
    "get_progress_pick_and_place",
    "get_progress_pick_clean_then_place",
    "get_progress_pick_cool_then_place",
    "get_progress_pick_heat_then_place",
    "get_progress_pick_two_obj_and_place",
]

ProgressInWords = tuple[list[str], list[float]]


def get_progress(metrics: Metrics, task_type: str | None = None) -> ProgressInWords:
    """Names and values of the states after each step.

    Raises UserError if the goal states none of the six tasks, or not the `task_type` given.
    """
    goal = metrics.goal
    quest = read_goal_sentence(goal)
    if quest is None:
        raise UserError(f"the goal {goal[:120]!r} states none of ALFWorld's six tasks")
    if task_type is not None and quest.task.name != task_type:
        raise UserError(f"the goal {goal[:120]!r} is a {quest.task.name} task, not {task_type}")
    machine, last = _MACHINES[quest.task.short]
    known = Known()
    states = []
    for step in metrics.interactions:
        known.read(_text_of(step.observation))
        states.append(last if step.observation.success else machine(quest, known))
    return [state.name for state in states], [state.progress for state in states]


# For episodes known to be of one type.
get_progress_pick_and_place = partial(get_progress, task_type="pick_and_place_simple")
get_progress_look_at_obj_in_light = partial(get_progress, task_type="look_at_obj_in_light")
get_progress_pick_clean_then_place = partial(
    get_progress, task_type="pick_clean_then_place_in_recep"
)
get_progress_pick_heat_then_place = partial(get_progress, task_type="pick_heat_then_place_in_recep")
get_progress_pick_cool_then_place = partial(get_progress, task_type="pick_cool_then_place_in_recep")
get_progress_pick_two_obj_and_place = partial(get_progress, task_type="pick_two_obj_and_place")


class Milestone(NamedTuple):
    """A state of a machine: its name and its progress."""

    name: str
    progress: float


Machine = Callable[[StatedGoal, Known], Milestone]

INITIAL = Milestone("initial", 0.0)
_PLACED = Milestone("object placed correctly", 1.0)
_EXAMINED = Milestone("object examined in light", 1.0)
_BOTH_PLACED = Milestone("both objects placed correctly", 1.0)


def _text_of(observation: Observation) -> str:
    """The game's own words, without the list of admissible commands behind them."""
    return (observation.text or observation.output).partition("\nAdmissible commands:")[0]


def _pick(quest: StatedGoal, known: Known) -> Milestone:
    if any(_is_placed(quest, known, thing) for thing in _candidates(quest, known)):
        return _PLACED
    return Milestone("object picked up", 0.5) if _holds(quest, known) else INITIAL


def _treat(verb: str, done: str) -> Machine:
    picked_up = Milestone("object picked up", 0.25)
    in_hand = Milestone(f"object {done} and picked up", 0.75)
    put_down = Milestone(f"object {done} and not picked up", 0.5)

    def state_of(quest: StatedGoal, known: Known, thing: str) -> Milestone:
        if verb not in known.treated.get(thing, ()):
            return picked_up if thing == known.held else INITIAL
        if _is_placed(quest, known, thing):
            return _PLACED
        return in_hand if thing == known.held else put_down

    def machine(quest: StatedGoal, known: Known) -> Milestone:
        states = [state_of(quest, known, thing) for thing in _candidates(quest, known)]
        return max(states, key=lambda state: state.progress, default=INITIAL)

    return machine


def _look(quest: StatedGoal, known: Known) -> Milestone:
    places = {p for lamp, at in known.lit.items() if kind_of(lamp) == quest.target for p in at}
    if not _holds(quest, known):
        return Milestone("lamp turned on", 0.25) if places else INITIAL
    if not places:
        return Milestone("object picked up", 0.5)
    if known.spot in places and _is_sliced(quest, known, known.held):
        return _EXAMINED
    return Milestone("object picked up and lamp turned on", 0.75)


def _two(quest: StatedGoal, known: Known) -> Milestone:
    best = Milestone("first object picked up", 0.25) if _holds(quest, known) else INITIAL
    for things in _contents_of_any(quest.target, known):
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


def _candidates(quest: StatedGoal, known: Known) -> list[str]:
    """The correct objects heard of so far."""
    seen = (things for things in known.contents.values() if things)
    names = {known.held, *known.treated}.union(*seen)
    return sorted(name for name in names if kind_of(name) == quest.thing)


def _holds(quest: StatedGoal, known: Known) -> bool:
    return kind_of(known.held) == quest.thing


def _fits(quest: StatedGoal, known: Known, thing: str) -> bool:
    return kind_of(thing) == quest.thing and _is_sliced(quest, known, thing)


def _is_sliced(quest: StatedGoal, known: Known, thing: str) -> bool:
    return not quest.sliced or "slice" in known.treated.get(thing, ())


def _is_placed(quest: StatedGoal, known: Known, thing: str) -> bool:
    there = _contents_of_any(quest.target, known)
    return _fits(quest, known, thing) and any(thing in things for things in there)


def _contents_of_any(kind: str, known: Known) -> Sequence[Sequence[str]]:
    """What each receptacle of a kind holds, as far as it has been seen."""
    return [things or () for name, things in known.contents.items() if kind_of(name) == kind]
