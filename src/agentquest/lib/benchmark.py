"""A benchmark: a folder that declares everything the rest of AgentQuest must know about it.

To add one, subclass `Benchmark` and name it in the registry (one line), in the
entry-point group `agentquest.benchmarks`, or as `package.module:Class`.
`agentquest check-benchmark NAME` verifies it. See examples/custom_benchmark.py.
"""

import copy
import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from agentquest.errors import UnknownName, UserError
from agentquest.lib.agent import Briefing, Explorer, Oracle
from agentquest.lib.commands import fill_at_random, make_tool
from agentquest.lib.driver import Driver
from agentquest.lib.game import DriverGame, Game
from agentquest.lib.people import TerminalView
from agentquest.lib.settings import Settings, read_list, suggestion, validate_settings
from agentquest.lib.types import Moment, Observation, Task
from agentquest.records.manifest import Provenance, Verbs
from agentquest.words import parse_whole_number

if TYPE_CHECKING:  # playing needs no HTML
    from htpy import Node


ANY_COMMAND = make_tool("act", "Give a command.", "<command>", command="The command.")


class RandomExplorer(Explorer):
    """Gives random commands: those that are possible, as far as it is told."""

    thought = "I try something."

    def __init__(self, actions: Sequence[str]) -> None:
        self._actions = actions
        self._random: random.Random | None = None

    def next_action(self, observation: str) -> str:
        return self._pick(self._actions, observation)

    def choose(self, observation: Observation) -> str:
        return self._pick(observation.admissible or self._actions, observation.text)

    def _pick(self, commands: Sequence[str], text: str) -> str:
        if not commands:
            raise UserError(
                "this benchmark has no rule-based player: declare its `actions`, list what is"
                " admissible, or return an Explorer from explorer()"
            )
        if self._random is None:  # the same game is played in the same way
            self._random = random.Random(text.encode("utf-8", "surrogatepass"))
        return fill_at_random(self._random.choice(commands), self._random, text)


def _read_task_types(value: Any) -> Any:
    many = read_list(value)
    if not isinstance(many, list | tuple):
        return many
    # An option that was given twice may hold a list each time.
    parts = (read_list(each) if isinstance(each, str) else [each] for each in many)
    return [_number_or_name(part) for some in parts for part in some]


def _number_or_name(given: Any) -> Any:
    number = parse_whole_number(given) if isinstance(given, str) else None
    return given if number is None else number


# Task types as people choose them, by number or name; None means all.
TaskTypes = Annotated[
    Annotated[tuple[int | str, ...], Field(min_length=1)] | None, BeforeValidator(_read_task_types)
]


class BenchmarkSettings(Settings):
    """Settings of every benchmark; each adds its own."""

    split: str | None = None
    """Which split; null: the benchmark's first."""

    task_types: TaskTypes = None
    """Task types by number or name, as a list or `1,2,3`; null means all."""


class Benchmark(ABC):
    """One configured benchmark; cheap to make, holds no open game."""

    name: ClassVar[str]
    title: ClassVar[str]
    Settings: ClassVar[type[BenchmarkSettings]] = BenchmarkSettings
    # Name and number of tasks (None: depends on the data), the default first.
    splits: ClassVar[Mapping[str, int | None]]
    # Other names for splits, such as those of the original.
    split_aliases: ClassVar[Mapping[str, str]] = {}
    task_types: ClassVar[tuple[str, ...]]
    # Other names for task types.
    task_type_aliases: ClassVar[Mapping[str, str]] = {}
    # Its commands, with blanks where they vary (see lib/commands.py), for the default player and
    # examples; and what an agent is told of the rules.
    actions: ClassVar[tuple[str, ...]] = ()
    instructions: ClassVar[str] = ""
    # How its commands for opening, closing and walking begin, for the behaviour metrics.
    verbs: ClassVar[Verbs] = Verbs()
    # How commands that look for something new begin: none of them is a step in the wrong direction.
    exploring: ClassVar[tuple[str, ...]] = ()
    # Metrics of its own, as `package.module:METRIC`, shown in every report.
    metrics: ClassVar[tuple[str, ...]] = ()
    # The step limit if the configuration sets none.
    step_limit: ClassVar[int] = 50
    # Whether a step takes long to compute, so that it must not hold up other episodes.
    slow_steps: ClassVar[bool] = False
    # Commands of its own for the command line (serve, download, …), as `package.module:function`.
    commands: ClassVar[Mapping[str, str]] = {}

    def __init__(self, settings: BenchmarkSettings | None = None, **given: Any) -> None:
        self.settings: Any = settings or validate_settings(self.Settings, given, self.name)
        self.split = self.split_named(self.settings.split)
        self.wanted_types = self._wanted_types()

    @abstractmethod
    def tasks(self) -> list[Task]:
        """All tasks of the configured split and types, in a fixed order."""

    @abstractmethod
    def driver(self, task: Task) -> Driver:
        """A driver for one task, not yet reset."""

    def explorer(self) -> Explorer:
        """The rule-based baseline player of this benchmark, for one episode; by default it plays
        at random."""
        return RandomExplorer(self.actions)

    def briefing(self, driver: Driver, task: Task, demonstrations: int) -> Briefing:
        """The texts for prompts, with up to `demonstrations` games, never the task itself.

        By default the `instructions` and one tool that takes any command, and no games.
        """
        rng = random.Random(task.id)
        examples = [fill_at_random(rng.choice(self.actions), rng) for _ in range(2) if self.actions]
        return Briefing(
            instructions=self.instructions or f"You play {self.title}.",
            role=f"You are an agent that plays {self.title}.",
            examples=" or ".join(f'"{command}"' for command in examples) or "as you are told",
            tools=(ANY_COMMAND,),
        )

    def provenance(self) -> Provenance:
        """Where the data comes from, for the records; by default it is generated."""
        return Provenance(data="generated", split=self.split)

    def oracle(self, driver: Driver) -> Oracle | None:
        """The oracle for this driver's game; None if there is none."""
        return None

    def game(self, task: Task) -> Game:
        """A task's game for training loops, not yet reset; games share what never changes."""
        return DriverGame(self.driver(task), self.oracle)

    def task_list(self) -> Sequence[Task]:
        """The tasks, listed once; a benchmark with millions can make each on demand."""
        return self._tasks

    def task_named(self, task_id: str) -> Task | None:
        """The task of this id, if the split has it."""
        return self._tasks_by_id.get(task_id)

    @cached_property
    def _tasks(self) -> Sequence[Task]:
        return self.tasks()

    @cached_property
    def _tasks_by_id(self) -> Mapping[str, Task]:
        return {task.id: task for task in self._tasks}

    def in_split(self, name: str) -> "Benchmark":
        """The same benchmark, with the same settings and data, in another split."""
        twin = copy.copy(self)
        for listed in ("_tasks", "_tasks_by_id"):
            twin.__dict__.pop(listed, None)
        twin.split = self.split_named(name)
        twin.settings = self.settings.model_copy(update={"split": twin.split})
        return twin

    def goal_in(self, observation: str) -> str:
        """The goal in a game's first observation, for agents that get no other."""
        return ""

    def view(self) -> TerminalView:
        """How a person plays it in the terminal."""
        return TerminalView()

    @classmethod
    def pictures(cls, moments: Sequence[Moment]) -> "Iterable[Node]":
        """What the viewer draws for each moment of an episode; None if there is nothing to draw."""
        return repeat(None, len(moments))

    @classmethod
    def controls(cls, moments: Sequence[Moment]) -> "Node":
        """The newest moment as the content of a form in which a person clicks on commands.

        A button named `command` has a command as its value; one named `fill` has a command
        with a blank, for which an input named `blank` has the words. None: the viewer shows the
        picture and a list of all commands.
        """
        return None

    def fingerprint(self, tasks: Sequence[Task]) -> str:
        """A hash over all that these tasks were made from, for the records."""
        digest = hashlib.sha256()
        for task in tasks:
            digest.update(f"{task.id}\0{self.data_hash(task)}\n".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def data_hash(self, task: Task) -> str:
        """A hash over all that one task was made from."""
        return self.driver(task).data_hash

    def folder(self, task: Task) -> Path | None:
        """The folder that is all a task needs from disk, so that it can be sent to a machine
        without the data; None: it needs none, or more than that."""
        return None

    @classmethod
    def split_named(cls, name: str | None) -> str:
        """A split by its name or one of its other names; None: the first."""
        if name is None:
            return next(iter(cls.splits))
        known = cls.split_aliases.get(name, name)
        if known not in cls.splits:
            raise UnknownName(
                f"{name!r} is not a split of {cls.name}; {suggestion(name, list(cls.splits))}"
            )
        return known

    @classmethod
    def type_named(cls, wanted: str | int) -> str:
        """A task type by its name, one of its other names, or its number from 1."""
        text = str(wanted).strip().lower()
        number = parse_whole_number(text)
        if number is not None and 1 <= number <= len(cls.task_types):
            return cls.task_types[number - 1]
        known = cls.task_type_aliases.get(text, text)
        if known not in cls.task_types:
            raise UnknownName(
                f"{wanted!r} is not a task type of {cls.name}; "
                f"{suggestion(text, list(cls.task_types))}"
            )
        return known

    def _wanted_types(self) -> tuple[str, ...]:
        wanted = self.settings.task_types
        if wanted is None:
            return self.task_types
        named = {self.type_named(one) for one in wanted}
        return tuple(name for name in self.task_types if name in named)
