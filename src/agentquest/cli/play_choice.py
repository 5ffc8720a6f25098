"""Finding the task a player means: a number, a name, or enough of one."""

import random
from collections.abc import Sequence

from agentquest.errors import UnknownName
from agentquest.lib import Task
from agentquest.words import counted, parse_whole_number

SHOWN = 8


def find_type(all_types: Sequence[str], offered: Sequence[str], wanted: str) -> str:
    """A task type by its number among all types, its name, or part of it."""
    number = parse_whole_number(wanted)
    if number is not None:
        fitting = [name for name in all_types[number - 1 : number] if name in offered]
    else:
        fitting = [name for name in offered if name == wanted] or [
            name for name in offered if wanted.lower() in name.lower()
        ]
    if len(fitting) != 1:
        problem = "matches several task types" if fitting else "is not one of these task types"
        raise UnknownName(f"{wanted[:80]!r} {problem}")
    return fitting[0]


def find_task(tasks: Sequence[Task], wanted: str) -> Task:
    """A task by its position in the list (from 1), its id, or a unique part of it."""
    where = f"the {counted(len(tasks), 'task')} of {tasks[0].split} to choose from"
    number = parse_whole_number(wanted)
    if number is not None:
        if not 1 <= number <= len(tasks):
            raise UnknownName(f"task {number} is not among {where}: 1 to {len(tasks)}")
        return tasks[number - 1]
    fitting = [task for task in tasks if task.id == wanted] or [
        task for task in tasks if wanted.lower() in task.id.lower()
    ]
    if not fitting:
        raise UnknownName(
            f"task {wanted[:120]!r} is not among {where};"
            " `agentquest tasks` lists them; use --split or --type to choose from others"
        )
    if len(fitting) > 1:
        first = ", ".join(task.id for task in fitting[:3])
        raise UnknownName(
            f"task {wanted[:120]!r} matches {len(fitting)} of {where}, such as {first};"
            " give more of the id"
        )
    return fitting[0]


def some_tasks(tasks: Sequence[Task], rng: random.Random) -> list[int]:
    """The positions (from 1) of a few tasks to offer."""
    return sorted(rng.sample(range(1, len(tasks) + 1), min(SHOWN, len(tasks))))
