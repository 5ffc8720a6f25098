"""Benchmarks whose games go wrong. A docstring is the check that finds it."""

import os
import time
from dataclasses import replace
from typing import Any, ClassVar

from full_benchmark import GuessBenchmark, GuessDriver
from other_driver import OfDriver

from agentquest.lib import Action, Observation, Outcome, State, Task
from agentquest.lib.game import DriverGame, Game

# observations


class MuteDriver(GuessDriver):
    def _answer(self, command: str) -> str:
        said = super()._answer(command)
        return "" if said == "Too high." else said


class Mute(OfDriver):
    """observations"""

    SAYS = "text or output is empty"
    driver_class = MuteDriver


class BoastingDriver(GuessDriver):
    @property
    def outcome(self) -> Outcome:
        return replace(super().outcome, reward=5.0)


class Boasting(OfDriver):
    """observations"""

    SAYS = "reward is 5.0"
    driver_class = BoastingDriver


class UnendingDriver(GuessDriver):
    @property
    def outcome(self) -> Outcome:
        return replace(super().outcome, done=False)

    def _answer(self, command: str) -> str:
        return super()._answer(command) if self.possible else "Still right."


class Unending(OfDriver):
    """observations"""

    SAYS = "success before the game is over"
    driver_class = UnendingDriver


class ContradictingDriver(GuessDriver):
    def _say(self, text: str, valid: bool = True) -> Observation:
        return replace(super()._say(text, valid), can_proceed=True)


class Contradicting(OfDriver):
    """observations"""

    SAYS = "can_proceed is True, outcome.done is True"
    driver_class = ContradictingDriver


class PretendingDriver(GuessDriver):
    """Says that a sentence was carried out which it does not accept."""

    def _say(self, text: str, valid: bool = True) -> Observation:
        return super()._say(text)


class Pretending(OfDriver):
    """invalid commands"""

    SAYS = "is observed as valid"
    driver_class = PretendingDriver


class StrangeDetailsDriver(GuessDriver):
    def details(self) -> dict[str, Any]:
        return {"numbers": {1, 2}}


class StrangeDetails(OfDriver):
    """observations"""

    SAYS = "details() cannot be written as JSON"
    driver_class = StrangeDetailsDriver


# determinism, other process, copies, isolation


class ClockDriver(GuessDriver):
    def _answer(self, command: str) -> str:
        return f"{super()._answer(command)} ({time.perf_counter_ns()})"


class Clock(OfDriver):
    """determinism"""

    SAYS = "output after 'guess"
    driver_class = ClockDriver


class PerProcessDriver(GuessDriver):
    def _answer(self, command: str) -> str:
        return f"{super()._answer(command)} ({os.getpid()})"


class PerProcess(OfDriver):
    """other process"""

    SAYS = "differs in another process"
    driver_class = PerProcessDriver


class HashOrder(GuessBenchmark):
    """other process"""

    SAYS = "list of tasks"

    def tasks(self) -> list[Task]:
        names = {task.id: task for task in super().tasks()}
        return [names[name] for name in set(names)]


class _Generous(DriverGame):
    def _note(self, observation: Observation) -> str:
        said = super()._note(observation)
        self.reward = 1.0
        return said


class OtherGame(GuessBenchmark):
    """training games"""

    SAYS = "game() is"

    def game(self, task: Task) -> Game:
        return _Generous(self.driver(task), self.oracle)


class OtherGoal(GuessBenchmark):
    """observations"""

    SAYS = "goal_in()"

    def goal_in(self, observation: str) -> str:
        return "win"


class LambdaDriver(GuessDriver):
    def __init__(self, secret: int, highest: int = 100) -> None:
        super().__init__(secret, highest)
        self.judge = lambda guess: guess == secret


class Unpicklable(OfDriver):
    """copies"""

    SAYS = "a driver cannot be pickled: "
    driver_class = LambdaDriver


class SharedCopyDriver(GuessDriver):
    """A copy goes on counting in the same list."""

    def __init__(self, secret: int, highest: int = 100) -> None:
        super().__init__(secret, highest)
        self.guesses: list[str] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> "SharedCopyDriver":
        other = SharedCopyDriver(self.secret, self.highest)
        other.__dict__.update(self.__dict__)
        return other

    def _reset(self) -> tuple[str, Observation]:
        self.guesses = []
        return super()._reset()

    def _answer(self, command: str) -> str:
        self.guesses.append(command)
        return f"{super()._answer(command)} Guess {len(self.guesses)}."


class SharedCopy(OfDriver):
    """copies"""

    SAYS = "the original continues differently"
    driver_class = SharedCopyDriver


class LeakingDriver(GuessDriver):
    """What was guessed in any game is remembered in all of them."""

    guesses: ClassVar[list[str]] = []

    def _reset(self) -> tuple[str, Observation]:
        self.guesses.clear()
        return super()._reset()

    def _answer(self, command: str) -> str:
        self.guesses.append(command)
        return f"{super()._answer(command)} Guess {len(self.guesses)}."


class Leaking(OfDriver):
    """isolation"""

    SAYS = "next to other games"
    driver_class = LeakingDriver


class ForgetfulDriver(GuessDriver):
    """A reset forgets to forget."""

    guesses = 0

    def _answer(self, command: str) -> str:
        self.guesses += 1
        return f"{super()._answer(command)} Guess {self.guesses}."


class Forgetful(OfDriver):
    """isolation"""

    SAYS = "after a reset"
    driver_class = ForgetfulDriver


# invalid commands, finished games, admissible commands


class AcceptsAllDriver(GuessDriver):
    def accepts(self, value: str) -> bool:
        return True


class AcceptsAll(OfDriver):
    """invalid commands"""

    SAYS = "is True"
    driver_class = AcceptsAllDriver


class PunishingDriver(GuessDriver):
    """A sentence that is not understood takes possible numbers away."""

    def _answer(self, command: str) -> str:
        said = super()._answer(command)
        if "Nothing happens" in said:
            self.possible = self.possible[:-1] or self.possible
        return said


class Punishing(OfDriver):
    """invalid commands"""

    SAYS = "changes the outcome"
    driver_class = PunishingDriver


class RestlessDriver(GuessDriver):
    """Goes on after the end, past the base class."""

    def step(self, action: Action) -> Observation:
        if not self.possible:
            self.metrics.record(action, State(0), Observation("", True, False))
            return Observation("It is over already.", True, False, text="It is over already.")
        return super().step(action)


class Restless(OfDriver):
    """finished games"""

    SAYS = "is over, but"
    driver_class = RestlessDriver


class StaysOverDriver(GuessDriver):
    def _reset(self) -> tuple[str, Observation]:
        won = not self.possible
        goal, first = super()._reset()
        self.possible = range(0) if won else self.possible
        return goal, first


class StaysOver(OfDriver):
    """finished games"""

    SAYS = "reset does not start it over"
    driver_class = StaysOverDriver


class OffersTooMuchDriver(GuessDriver):
    def _say(self, text: str, valid: bool = True) -> Observation:
        said = super()._say(text, valid)
        return replace(said, admissible=(*said.admissible, "look around"))


class OffersTooMuch(OfDriver):
    """admissible commands"""

    SAYS = "'look around' is listed but not accepted"
    driver_class = OffersTooMuchDriver


class OffersNothingDriver(GuessDriver):
    def _say(self, text: str, valid: bool = True) -> Observation:
        return replace(super()._say(text, valid), admissible=())


class OffersNothing(OfDriver):
    """admissible commands"""

    SAYS = "nothing is admissible"
    driver_class = OffersNothingDriver
