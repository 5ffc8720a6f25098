"""Benchmarks whose players do what they should not. A docstring is the check that finds it."""

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

from full_benchmark import GuessBenchmark, GuessDriver, GuessExplorer
from other_driver import OfDriver

from agentquest.lib import (
    Action,
    BenchmarkSettings,
    Briefing,
    Driver,
    Explorer,
    Observation,
    Oracle,
    Task,
)

COUNTER = itertools.count()


# oracle, explorer, records, secrecy


class LosingOracle(GuessBenchmark):
    """oracle"""

    SAYS = "does not win"

    def oracle(self, driver: Driver) -> Oracle | None:
        return Oracle(lambda: [] if driver.outcome.done else ["guess 1"])


class MeddlingOracle(GuessBenchmark):
    """oracle"""

    SAYS = "asked again"

    def oracle(self, driver: Driver) -> Oracle | None:
        def plan() -> list[str]:
            driver.step(Action(value="guess 1"))
            return [f"guess {next(COUNTER)}"]

        return Oracle(plan)


class _Babbling(Explorer):
    def next_action(self, observation: str) -> str:
        return "Let me think about it."


class BabblingExplorer(GuessBenchmark):
    """explorer"""

    SAYS = "is not accepted"

    def explorer(self) -> Explorer:
        return _Babbling()


_THE_ONE = GuessExplorer()


class SharedExplorer(GuessBenchmark):
    """explorer"""

    SAYS = "fresh Explorer"

    def explorer(self) -> Explorer:
        return _THE_ONE


class CrashingDriver(GuessDriver):
    def _answer(self, command: str) -> str:
        if command == "guess 50":
            raise ZeroDivisionError("the fiftieth")
        return super()._answer(command)


class Crashing(OfDriver):
    """records"""

    SAYS = "environment failed: ZeroDivisionError: the fiftieth at broken_players.py:"
    driver_class = CrashingDriver


class _Spying(GuessExplorer):
    def __init__(self, games: list[GuessDriver]) -> None:
        super().__init__()
        self.games = games


class SpyingExplorer(GuessBenchmark):
    """secrecy"""

    SAYS = "is a GuessDriver"

    def __init__(self, settings: BenchmarkSettings | None = None, **given: Any) -> None:
        super().__init__(settings, **given)
        self.games: list[GuessDriver] = []

    def driver(self, task: Task) -> GuessDriver:
        self.games.append(super().driver(task))
        return self.games[-1]

    def explorer(self) -> Explorer:
        return _Spying(self.games)


class Notes:
    """Something that changes and is part of the game."""

    def __init__(self, secret: int) -> None:
        self.secret = secret


@dataclass(frozen=True)
class NotedObservation(Observation):
    notes: list[Notes] = field(default_factory=list, metadata={"internal": True})


class NotingDriver(GuessDriver):
    """Its observations carry a part of the game along; the explorer of nobody looks there."""

    def __init__(self, secret: int, highest: int = 100) -> None:
        super().__init__(secret, highest)
        self.notes = Notes(secret)

    def _say(self, text: str, valid: bool = True) -> Observation:
        said = super()._say(text, valid)
        return NotedObservation(
            said.output,
            said.success,
            said.can_proceed,
            text=said.text,
            admissible=said.admissible,
            valid=said.valid,
            notes=[self.notes],
        )


class Noting(OfDriver):
    """secrecy"""

    SAYS = "part of the game"
    driver_class = NotingDriver

    def briefing(self, driver: Driver, task: Task, demonstrations: int) -> Briefing:
        told = super().briefing(driver, task, demonstrations)
        assert isinstance(driver, NotingDriver)
        return replace(told, help_lines=(driver.notes,))  # type: ignore[arg-type]
