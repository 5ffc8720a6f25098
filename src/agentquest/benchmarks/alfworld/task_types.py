"""The six task types, their numbers, and the sentences that state their goals."""

import hashlib
import re
from functools import cache
from typing import NamedTuple

from agentquest.errors import UnknownName


class TaskType(NamedTuple):
    """One of the six. `short` is its one-word name; a goal is worded by one of two `sentences`."""

    number: int
    name: str
    short: str
    sentences: tuple[str, str]
    sliced_sentences: tuple[str, str]


def _treatment(number: int, verb: str, adjective: str) -> TaskType:
    return TaskType(
        number,
        f"pick_{verb}_then_place_in_recep",
        verb,
        (
            f"put a {adjective} {{obj}} in {{recep}}",
            f"{verb} some {{obj}} and put it in {{recep}}",
        ),
        (
            f"put a {adjective} slice of {{obj}} in {{recep}}",
            f"{verb} some sliced {{obj}} and put it in {{recep}}",
        ),
    )


TASK_TYPES: tuple[TaskType, ...] = (
    TaskType(
        1,
        "pick_and_place_simple",
        "pick",
        ("put a {obj} in {recep}", "put some {obj} on {recep}"),
        ("slice {obj} and put in {recep}", "put sliced {obj} in {recep}"),
    ),
    TaskType(
        2,
        "look_at_obj_in_light",
        "look",
        ("look at {obj} under the {toggle}", "examine the {obj} with the {toggle}"),
        ("look at sliced {obj} under the {toggle}", "examine the sliced {obj} with the {toggle}"),
    ),
    _treatment(3, "clean", "clean"),
    _treatment(4, "heat", "hot"),
    _treatment(5, "cool", "cool"),
    TaskType(
        6,
        "pick_two_obj_and_place",
        "two",
        ("put two {obj} in {recep}", "find two {obj} and put them in {recep}"),
        ("put two sliced {obj} in {recep}", "find two sliced {obj} and put them in {recep}"),
    ),
)
TASK_TYPE_NAMES: tuple[str, ...] = tuple(task.name for task in TASK_TYPES)


def task_type(wanted: str | int) -> TaskType:
    """A task type by number, full name, short name, or a documented shortening.

    "pick_and_place" and "pick_heat_then_place" are often written: any
    unambiguous beginning of a full name is understood.
    """
    key = str(wanted).strip().lower()
    for task in TASK_TYPES:
        if key in (str(task.number), task.name, task.short):
            return task
    starting = [task for task in TASK_TYPES if len(key) > 4 and task.name.startswith(key)]
    if len(starting) == 1:
        return starting[0]
    names = ", ".join(f"{task.number} {task.name}" for task in TASK_TYPES)
    raise UnknownName(f"{str(wanted)[:80]!r} is not a task type; there are: {names}")


def goal_sentence(
    task: TaskType, task_id: str, target: str, receptacle: str, toggle: str, sliced: bool = False
) -> str:
    """The goal of a task whose files state none: one of the two sentences, fixed by its id."""
    choice = hashlib.sha256(task_id.encode()).digest()[0] % 2
    sentence = (task.sliced_sentences if sliced else task.sentences)[choice]
    return sentence.format(obj=target.lower(), recep=receptacle.lower(), toggle=toggle.lower())


class StatedGoal(NamedTuple):
    """A goal sentence taken apart; `target` is the receptacle's class, or the lamp's."""

    task: TaskType
    thing: str
    target: str
    sliced: bool

    @property
    def place(self) -> str:
        """The class of receptacle to bring the thing to; "" if it is to be looked at."""
        return "" if self.lamp else self.target

    @property
    def lamp(self) -> str:
        """The class of lamp to look at the thing under; "" if it is to be placed."""
        return self.target if self.task.short == "look" else ""

    @property
    def number(self) -> int:
        """How many things the goal asks for."""
        return 2 if self.task.short == "two" else 1


def read_goal_sentence(sentence: str) -> StatedGoal | None:
    """What a goal sentence states; None if it fits no task type."""
    plain = sentence.strip().removesuffix(".").lower()
    for task, sliced, pattern in _patterns():
        if found := pattern.fullmatch(plain):
            return StatedGoal(task, found["thing"], found["target"], sliced)
    return None


@cache
def _patterns() -> tuple[tuple[TaskType, bool, re.Pattern[str]], ...]:
    thing, target = r"(?P<thing>\w+)", r"(?P<target>\w+)"
    return tuple(
        (task, sliced, re.compile(sentence.format(obj=thing, recep=target, toggle=target)))
        for task in TASK_TYPES
        for sliced, sentences in ((False, task.sentences), (True, task.sliced_sentences))
        for sentence in sentences
    )
