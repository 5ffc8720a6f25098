"""A benchmark in all its splits, shared by any number of sessions.

Whatever never changes is opened once and lives here: the lists of tasks, and
through the benchmark its data (catalogue, index, parsed games).
"""

from collections.abc import Sequence

from agentquest.errors import UnknownName, UserError
from agentquest.lib.benchmark import Benchmark
from agentquest.lib.types import Task

Wanted = Task | str | int
"""A task: itself, its id, or its index in a split."""


class Arena:
    """Where sessions find their tasks, by split and index or by id."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self._splits = {benchmark.split: benchmark}

    @property
    def split(self) -> str:
        """The default split."""
        return self.benchmark.split

    def tasks(self, split: str | None = None) -> Sequence[Task]:
        """All tasks of a split, in their fixed order."""
        return self._of(split).task_list()

    def task(self, wanted: Wanted, split: str | None = None) -> Task:
        """A task by its index in a split, or by its id in any split."""
        if isinstance(wanted, Task):
            return wanted
        if isinstance(wanted, str):
            return self._find(wanted, split)
        if isinstance(wanted, bool) or not isinstance(wanted, int):
            kind = type(wanted).__name__
            raise UserError(f"choose a task by its index or its id, not by a {kind}")
        benchmark = self._of(split)
        tasks = benchmark.task_list()
        if not 0 <= wanted < len(tasks):
            raise UnknownName(
                f"{benchmark.name} has no task {wanted} in split {benchmark.split!r}: "
                + (f"they are numbered 0 to {len(tasks) - 1}" if tasks else "it has none")
            )
        return tasks[wanted]

    def _of(self, split: str | None) -> Benchmark:
        name = self.split if split is None else self.benchmark.split_named(split)
        if name not in self._splits:
            self._splits[name] = self.benchmark.in_split(name)
        return self._splits[name]

    def _find(self, name: str, split: str | None) -> Task:
        splits = [split] if split is not None else [self.split, *self.benchmark.splits]
        for each in dict.fromkeys(splits):
            found = self._of(each).task_named(name)
            if found is not None:
                return found
        where = f"split {split!r} of {self.benchmark.name}" if split else self.benchmark.name
        raise UnknownName(f"no task {name[:200]!r} in {where}; see `agentquest tasks`")
