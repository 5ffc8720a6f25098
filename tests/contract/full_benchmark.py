"""A benchmark that replaces every default: metrics, settings, tools, examples, players.

The broken benchmarks beside it differ from this one by a single defect each.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import ClassVar

from agentquest.lib import (
    Action,
    Benchmark,
    BenchmarkSettings,
    Briefing,
    Demonstration,
    Driver,
    Explorer,
    Metrics,
    Observation,
    Oracle,
    Outcome,
    State,
    Task,
)
from agentquest.records.manifest import Provenance
from agentquest.records.messages import ToolSpec

HIGHEST = {"up to 100": 100, "up to 10000": 10_000}
PER_TYPE = 10
COMMAND = re.compile(r"guess ([0-9]{1,9})")


@dataclass(frozen=True)
class GuessState(State):
    """How many numbers it may still be; 0 once it was guessed."""

    value: int


class GuessMetrics(Metrics):
    highest = 1

    def progress_function(self, state: State) -> float:
        """How much of the uncertainty is gone; halving what is left counts the same each time."""
        return 1 - log(1 + state.value) / log(1 + self.highest)


class GuessDriver(Driver):
    """Plays one secret number."""

    metrics_class: ClassVar[type[Metrics]] = GuessMetrics

    def __init__(self, secret: int, highest: int = 100) -> None:
        super().__init__()
        self.secret, self.highest = secret, highest
        self.possible = range(1, highest + 1)

    @property
    def outcome(self) -> Outcome:
        won = not self.possible
        progress = self.metrics.progress_function(GuessState(len(self.possible)))
        return Outcome(done=won, success=won, reward=float(won), progress=progress)

    @property
    def data_hash(self) -> str:
        return hashlib.sha256(f"{self.secret} of {self.highest}".encode()).hexdigest()

    def _accepts(self, value: str) -> bool:
        return COMMAND.fullmatch(value) is not None

    def plan(self) -> list[str]:
        return [f"guess {self.secret}"] if self.possible else []

    def _reset(self) -> tuple[str, Observation]:
        self.possible = range(1, self.highest + 1)
        self.metrics.highest = self.highest
        goal = f"guess the number between 1 and {self.highest}"
        return goal, self._say(f"Please {goal}. Answer with 'Action: guess <number>'.")

    def _step(self, action: Action) -> tuple[State, Observation]:
        answer = self._answer(action.value)
        valid = COMMAND.fullmatch(action.value) is not None
        return GuessState(len(self.possible)), self._say(answer, valid)

    def _answer(self, command: str) -> str:
        read = COMMAND.fullmatch(command)
        if read is None:
            return "That is no guess. Nothing happens."
        guess = int(read[1])
        first, last = self.possible[0], self.possible[-1]
        if guess == self.secret:
            self.possible = range(0)
            return "Right!"
        if guess < self.secret:
            self.possible = range(max(first, guess + 1), last + 1)
            return "Too low."
        self.possible = range(first, min(last + 1, guess))
        return "Too high."

    def _say(self, text: str, valid: bool = True) -> Observation:
        return self.observe(text, [f"guess <1-{self.highest}>"], valid)


class GuessExplorer(Explorer):
    """Splits what is left in two. Reads only what is printed."""

    def __init__(self) -> None:
        self.low, self.high, self.last = 1, 1, 0

    def next_action(self, observation: str) -> str:
        if bounds := re.search(r"between ([0-9]+) and ([0-9]+)", observation):
            self.low, self.high = int(bounds[1]), int(bounds[2])
        elif observation == "Too low.":
            self.low = self.last + 1
        elif observation == "Too high.":
            self.high = self.last - 1
        self.last = (self.low + self.high) // 2
        self.thought = f"It is between {self.low} and {self.high}, so I try the middle."
        return f"guess {self.last}"


class GuessSettings(BenchmarkSettings):
    series: int = 1
    """Another series is another set of secret numbers."""


class GuessBenchmark(Benchmark):
    name: ClassVar[str] = "guess"
    title: ClassVar[str] = "Guess the number"
    Settings: ClassVar[type[BenchmarkSettings]] = GuessSettings
    splits: ClassVar[Mapping[str, int | None]] = dict.fromkeys(
        ("test", "train"), PER_TYPE * len(HIGHEST)
    )
    task_types: ClassVar[tuple[str, ...]] = tuple(HIGHEST)

    def tasks(self) -> list[Task]:
        return [self._task(kind, place) for kind in self.wanted_types for place in range(PER_TYPE)]

    def driver(self, task: Task) -> GuessDriver:
        """The secret is made from the task's name, the same on every machine."""
        digest = hashlib.sha256(f"{self.settings.series}/{task.problem}".encode()).digest()
        highest = HIGHEST[task.task_type]
        return GuessDriver(1 + int.from_bytes(digest, "big") % highest, highest)

    def briefing(self, driver: Driver, task: Task, demonstrations: int) -> Briefing:
        tool = ToolSpec(
            name="guess",
            description="Guess the number.",
            parameters={
                "type": "object",
                "properties": {"number": {"type": "integer", "minimum": 1}},
                "required": ["number"],
            },
            command="guess <number>",
        )
        return Briefing(
            instructions="Find a secret whole number. The only command is `guess [number]`; you "
            "are told whether the guess was too low or too high.",
            role="You are an agent that guesses numbers.",
            examples='"guess 50" or "guess 75"',
            demonstrations=tuple(self._examples(task, driver, demonstrations)),
            tools=(tool,),
        )

    def explorer(self) -> Explorer:
        return GuessExplorer()

    def oracle(self, driver: Driver) -> Oracle | None:
        assert isinstance(driver, GuessDriver)
        return Oracle(driver.plan)

    def provenance(self) -> Provenance:
        return Provenance(data="generated", split=self.split)

    def _task(self, kind: str, place: int, split: str | None = None) -> Task:
        split = split or self.split
        name = f"{split}/{kind.replace(' ', '-')}/{place}"
        return Task(id=name, task_type=kind, split=split, problem=name)

    def _examples(self, task: Task, driver: Driver, count: int) -> list[Demonstration]:
        """Games of the train split, played on the spot; never one with the task's own number."""
        assert isinstance(driver, GuessDriver)
        games = [self.driver(self._task(task.task_type, n, "train")) for n in range(PER_TYPE)]
        others = [game for game in games if game.secret != driver.secret]
        return [_played(game) for game in others[:count]]


def _played(driver: GuessDriver) -> Demonstration:
    explorer = GuessExplorer()
    first = observation = driver.reset()
    turns = []
    while observation.can_proceed and len(turns) < driver.highest:
        action = explorer.next_action(observation.text)
        observation = driver.step(Action(value=action))
        turns.append((explorer.thought, action, observation.text))
    return Demonstration(driver.metrics.goal, first.text, tuple(turns))
