"""Benchmarks that declare something wrong. A docstring is the check that finds it."""

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from full_benchmark import GuessBenchmark, GuessDriver
from other_driver import OfDriver
from pydantic import ConfigDict

from agentquest.lib import (
    BenchmarkSettings,
    Briefing,
    Demonstration,
    Driver,
    Observation,
    Task,
    TerminalView,
)
from agentquest.records.manifest import Provenance

COUNTER = itertools.count()


# made


class Unmade(GuessBenchmark):
    """made"""

    SAYS = "data folder"

    def tasks(self) -> list[Task]:
        raise FileNotFoundError("where is the data folder?")


class Empty(GuessBenchmark):
    """made"""

    SAYS = "no tasks"

    def tasks(self) -> list[Task]:
        return []


# declarations


class Untitled(GuessBenchmark):
    """declarations"""

    SAYS = "title"
    title: ClassVar[str] = ""


class StepsAsText(GuessBenchmark):
    """declarations"""

    SAYS = "step_limit is '50'"
    step_limit: ClassVar[Any] = "50"


class AliasIntoNothing(GuessBenchmark):
    """declarations"""

    SAYS = "alias 'eval' points to 'validation'"
    split_aliases: ClassVar[Mapping[str, str]] = {"eval": "validation"}


class CommandIntoNothing(GuessBenchmark):
    """declarations"""

    SAYS = "cannot be imported"
    commands: ClassVar[Mapping[str, str]] = {"serve": "full_benchmark:no_such_function"}


# settings


class _Lax(BenchmarkSettings):
    model_config = ConfigDict(extra="ignore")


class _Unexplained(BenchmarkSettings):
    depth: int = 3


class LaxSettings(GuessBenchmark):
    """settings"""

    SAYS = "an unknown setting is accepted"
    Settings: ClassVar[type[BenchmarkSettings]] = _Lax

    def driver(self, task: Task) -> GuessDriver:
        return GuessDriver(len(task.id))


class UnexplainedSettings(GuessBenchmark):
    """settings"""

    SAYS = "'depth' has no description"
    Settings: ClassVar[type[BenchmarkSettings]] = _Unexplained

    def driver(self, task: Task) -> GuessDriver:
        return GuessDriver(len(task.id))


class AnySplit(GuessBenchmark):
    """settings"""

    SAYS = "split='no-such-thing' is accepted"

    @classmethod
    def split_named(cls, name: str | None) -> str:
        return name or "test"


# tasks


class SameIds(GuessBenchmark):
    """tasks"""

    SAYS = "same id"

    def tasks(self) -> list[Task]:
        return [replace(task, id="task") for task in super().tasks()]


class ShuffledTasks(GuessBenchmark):
    """tasks"""

    SAYS = "order"

    def tasks(self) -> list[Task]:
        tasks = super().tasks()
        random.shuffle(tasks)
        return tasks


class UndeclaredType(GuessBenchmark):
    """tasks"""

    SAYS = "is not declared"

    def tasks(self) -> list[Task]:
        return [*super().tasks(), Task("odd", "up to 7", self.split, "odd")]

    def driver(self, task: Task) -> GuessDriver:
        return GuessDriver(3, 7) if task.id == "odd" else super().driver(task)


class TypesIgnored(GuessBenchmark):
    """tasks"""

    SAYS = "does not give the tasks of that type"

    def __init__(self, settings: BenchmarkSettings | None = None, **given: Any) -> None:
        super().__init__(settings, **given)
        self.wanted_types = self.task_types


# splits, provenance, fingerprint


class WrongSize(GuessBenchmark):
    """splits"""

    SAYS = "has 20 tasks, but declares 134"
    splits: ClassVar[Mapping[str, int | None]] = {"test": 134, "train": None}


class OddProvenance(GuessBenchmark):
    """provenance"""

    SAYS = "data is 'mine'"

    def provenance(self) -> Provenance:
        return Provenance(data="mine", split=self.split)


class UnhashedDriver(GuessDriver):
    @property
    def data_hash(self) -> str:
        return ""


class Unhashed(OfDriver):
    """fingerprint"""

    SAYS = "not a SHA-256"
    driver_class = UnhashedDriver


class SameHash(GuessBenchmark):
    """fingerprint"""

    SAYS = "same data_hash"

    def data_hash(self, task: Task) -> str:
        return "0" * 64


class OtherEveryTime(GuessBenchmark):
    """fingerprint"""

    SAYS = "asked again"

    def fingerprint(self, tasks: Sequence[Task]) -> str:
        return str(next(COUNTER))


# briefing


class Wordless(GuessBenchmark):
    """briefing"""

    SAYS = "role is empty"

    def briefing(self, driver: Driver, task: Task, demonstrations: int) -> Briefing:
        return replace(super().briefing(driver, task, demonstrations), role="")


class OddTool(GuessBenchmark):
    """briefing"""

    SAYS = "has the blanks ['digits']"

    def briefing(self, driver: Driver, task: Task, demonstrations: int) -> Briefing:
        told = super().briefing(driver, task, demonstrations)
        odd = told.tools[0].model_copy(update={"command": "guess <digits>"})
        return replace(told, tools=(odd,))


class GivesItAway(GuessBenchmark):
    """briefing"""

    SAYS = "solves the task"

    def briefing(self, driver: Driver, task: Task, demonstrations: int) -> Briefing:
        assert isinstance(driver, GuessDriver)
        turn = ("", f"guess {driver.secret}", "Right!")
        example = Demonstration("guess", "Please guess.", (turn,))
        told = super().briefing(driver, task, 0)
        return replace(told, demonstrations=(example,) * demonstrations)


class TooManyExamples(GuessBenchmark):
    """briefing"""

    SAYS = "although none were requested"

    def briefing(self, driver: Driver, task: Task, demonstrations: int) -> Briefing:
        return super().briefing(driver, task, 3)


# view


class _Silent(TerminalView):
    def show(self, observation: Observation) -> str:
        return ""


class SilentView(GuessBenchmark):
    """view"""

    SAYS = "show()"

    def view(self) -> TerminalView:
        return _Silent()
