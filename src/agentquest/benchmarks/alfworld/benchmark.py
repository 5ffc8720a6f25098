"""ALFWorld as the runner sees it: tasks, drivers, and where the data came from."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from agentquest.benchmarks.alfworld import prompting
from agentquest.benchmarks.alfworld.driver import AlfWorldDriver
from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.dialects import dialect as dialect_named
from agentquest.benchmarks.alfworld.explorer.player import AlfWorldExplorer
from agentquest.benchmarks.alfworld.task_types import TASK_TYPE_NAMES, task_type
from agentquest.benchmarks.alfworld.tasks import BUILTIN, data_root, find_tasks, open_problem
from agentquest.lib import Benchmark, Demonstration, Explorer, Task


class AlfWorldBenchmark(Benchmark):
    name: ClassVar[str] = "alfworld"
    task_types: ClassVar[tuple[str, ...]] = TASK_TYPE_NAMES
    help_lines: ClassVar[tuple[str, ...]] = prompting.HELP_LINES

    def __init__(
        self,
        split: str = "valid_unseen",
        task_types: Iterable[str | int] | None = None,
        data_path: str | Path | None = None,
        dialect: str | None = None,
        playable: bool = True,
    ) -> None:
        self.split = split
        self.wanted = [task_type(wanted).name for wanted in task_types or TASK_TYPE_NAMES]
        self.data_path = data_path
        self.dialect = dialect_named(dialect)
        self.playable = playable

    def tasks(self) -> list[Task]:
        return find_tasks(self.split, self.wanted, self.data_path, self.playable)

    def driver(self, task: Task) -> AlfWorldDriver:
        return AlfWorldDriver(task.problem, self.dialect)

    def instructions(self, dialect: str) -> str:
        return prompting.instructions(Dialect(dialect))

    def demonstrations(self, task: Task, dialect: str, count: int) -> list[Demonstration]:
        if count == 0:
            return []
        return list(prompting.examples(task.task_type, Dialect(dialect), count))

    def fingerprint(self, tasks: Sequence[Task]) -> str:
        digest = hashlib.sha256()
        for task in tasks:
            digest.update(f"{task.id}\0{open_problem(task.problem).sha256}\n".encode())
        return digest.hexdigest()

    def explorer(self) -> Explorer:
        return AlfWorldExplorer()

    def provenance(self) -> dict[str, Any]:
        root = data_root(self.data_path)
        return {
            "benchmark": self.name,
            "data": BUILTIN if root is None else "real",
            "data_path": None if root is None else str(root),
            "split": self.split,
            "dialect": self.dialect.value if self.dialect else "the game file's own",
            "playable_only": self.playable,
        }
