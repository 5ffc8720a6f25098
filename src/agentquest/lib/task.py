"""A task: one problem of a benchmark, with the same name on every machine."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """`problem` is what opens it here (a path, a number); `id` is the same everywhere."""

    id: str
    task_type: str
    split: str
    problem: str
