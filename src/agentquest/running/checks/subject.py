"""The benchmark that is being checked, and ways to play it that every check uses."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from agentquest.lib import Benchmark, Driver, Observation, Outcome, Task
from agentquest.lib.commands import fill_at_random
from agentquest.running.factory import make_benchmark

Problems = Iterator[str]

_STEPS = 12  # of a game that is played again and again; enough to be in the middle of it


@dataclass(frozen=True)
class Check:
    """`problems` yields what breaks a promise, and `remedy` is how to fix that."""

    problems: Callable[["Subject"], Problems]
    remedy: str

    @property
    def name(self) -> str:
        """What the check is called."""
        return self.problems.__name__.replace("_", " ")

    @property
    def promise(self) -> str:
        """What a passed check guarantees: the sentence under the function."""
        return str(self.problems.__doc__)


def check(remedy: str) -> Callable[[Callable[["Subject"], Problems]], Check]:
    """Make a check of the function below."""
    return lambda problems: Check(problems, remedy)


class Seen(NamedTuple):
    """All that an agent, a record or a metric sees of one moment of a game."""

    output: str
    text: str
    admissible: tuple[str, ...]
    success: bool
    can_proceed: bool
    valid: bool
    outcome: Outcome


class Subject:
    """`tasks` are the first ones of each type, `per_type` of them."""

    def __init__(self, name: str, settings: Mapping[str, Any], per_type: int = 1) -> None:
        self.name = name
        self.settings = dict(settings)
        self._per_type = per_type
        self._scripts: dict[str, list[str]] = {}

    def make(self, **more: Any) -> Benchmark:
        """A fresh instance, so that nothing one check did is there in the next."""
        return make_benchmark(self.name, {**self.settings, **more})

    @cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark with the settings that are checked; made once."""
        return self.make()

    @cached_property
    def all_tasks(self) -> list[Task]:
        """Every task of the configured split."""
        return self.benchmark.tasks()

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks that are played."""
        chosen: dict[str, list[Task]] = {}
        for task in self.all_tasks:
            of_type = chosen.setdefault(task.task_type, [])
            if len(of_type) < self._per_type:
                of_type.append(task)
        return [task for of_type in chosen.values() for task in of_type]

    def open(self, task: Task) -> tuple[Driver, Observation]:
        """A driver of its own, and the first observation."""
        driver = self.benchmark.driver(task)
        return driver, driver.reset()

    def script(self, task: Task) -> list[str]:
        """Commands for a game of some steps: the explorer's and random ones, in turn."""
        if task.id not in self._scripts:
            self._scripts[task.id] = list(self._write_script(task))
        return self._scripts[task.id]

    def _write_script(self, task: Task) -> Iterator[str]:
        driver, observation = self.open(task)
        explorer, rng = self.benchmark.explorer(), random.Random(task.id)
        for step in range(_STEPS):
            if driver.outcome.done:
                return
            command = explorer.choose(observation)
            if step % 3 == 2 and observation.admissible:
                command = fill_at_random(
                    rng.choice(observation.admissible), rng, driver.metrics.goal
                )
            yield command
            observation = carry_out(driver, command)


def carry_out(driver: Driver, command: str) -> Observation:
    """One step, as the evaluator makes it."""
    return driver.step(driver.action_class(value=command))


def observe(driver: Driver, observation: Observation) -> Seen:
    """What a player could tell apart at this moment."""
    return Seen(
        observation.output,
        observation.text,
        observation.admissible,
        observation.success,
        observation.can_proceed,
        observation.valid,
        driver.outcome,
    )


def transcript(driver: Driver, commands: Sequence[str]) -> list[Seen]:
    """A game from its start: what was there to see at first and after each command."""
    moments = [observe(driver, driver.reset())]
    return moments + [observe(driver, carry_out(driver, command)) for command in commands]


def difference(one: Sequence[Seen], other: Sequence[Seen], commands: Sequence[str]) -> str | None:
    """Where two transcripts of the same commands part; None if they do not."""
    for place, (left, right) in enumerate(zip(one, other, strict=True)):
        for name, was, now in zip(Seen._fields, left, right, strict=True):
            if was != now:
                after = f"after {commands[place - 1]!r}" if place else "at the start"
                return f"{name} {after} was {show(was)}, then {show(now)}"
    return None


def show(value: object) -> str:
    """A value in a message, cut to 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
