"""A whole benchmark in one file: guess a number between 1 and 100.

A benchmark needs a driver, with `_reset` and `_step`, and metrics that say what
progress means. Recording, parsing of free text, export and repetition come from
`agentquest.lib`. Run it: `python examples/custom_benchmark.py`
"""

from dataclasses import dataclass
from math import log
from typing import ClassVar

from agentquest.lib import Action, Driver, Metrics, Observation, Outcome, State

HIGHEST = 100


@dataclass(frozen=True)
class GuessState(State):
    """How many numbers it may still be; 0 once it was guessed."""

    value: int


class GuessMetrics(Metrics):
    def progress_function(self, state: State) -> float:
        """How much of the uncertainty is gone; halving what is left counts the same each time."""
        return 1 - log(1 + state.value) / log(1 + HIGHEST)


class GuessDriver(Driver):
    metrics_class: ClassVar[type[Metrics]] = GuessMetrics

    def __init__(self, secret: int) -> None:
        super().__init__()
        self.secret = secret
        self.possible = range(1, HIGHEST + 1)

    @property
    def outcome(self) -> Outcome:
        won = not self.possible
        progress = self.metrics.progress()[-1:] or [0.0]
        return Outcome(done=won, success=won, reward=float(won), progress=progress[0])

    def _reset(self) -> tuple[str, Observation]:
        self.possible = range(1, HIGHEST + 1)
        goal = f"guess the number between 1 and {HIGHEST}"
        return goal, self._say(f"Please {goal}. Answer with 'Action: guess <number>'.")

    def _step(self, action: Action) -> tuple[State, Observation]:
        answer = self._answer(action.value)
        return GuessState(len(self.possible)), self._say(answer)

    def _answer(self, command: str) -> str:
        verb, _, number = command.partition(" ")
        if verb != "guess" or not number.isdecimal() or not self.possible:
            return "Nothing happens."
        guess = int(number)
        first, last = self.possible[0], self.possible[-1]
        if guess == self.secret:
            self.possible = range(0)
            return "Right!"
        if guess < self.secret:
            self.possible = range(max(first, guess + 1), last + 1)
            return "Too low."
        self.possible = range(first, min(last + 1, guess))
        return "Too high."

    def _say(self, text: str) -> Observation:
        won = not self.possible
        return Observation(output=text, success=won, can_proceed=not won, text=text)


def main() -> None:
    driver = GuessDriver(secret=37)
    observation = driver.reset()
    print(observation.output)
    low, high = 1, HIGHEST
    while observation.can_proceed and low <= high:
        middle = (low + high) // 2
        observation = driver.step_raw(f"I split what is left. Action: guess {middle}")
        print(f"> {middle}\n{observation.output}")
        if observation.output == "Too low.":
            low = middle + 1
        else:
            high = middle - 1
    exported = driver.metrics.export()
    print("success:", exported["success"])
    print("progress:", [round(value, 2) for value in exported["progress"]])
    print("repetition rate:", exported["repetition_rate"])


if __name__ == "__main__":
    main()
