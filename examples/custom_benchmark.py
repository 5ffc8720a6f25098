"""A whole benchmark in one file: guess a number by "too low" and "too high".

    cd examples
    agentquest check-benchmark custom_benchmark:GuessBenchmark
    agentquest eval benchmark=custom_benchmark:GuessBenchmark agent=random num_games=4

The driver plays one task; the benchmark says which tasks there are. Prompts, tools, a
player for comparison, records and reports have defaults: docs/own_benchmark.md lists them.
"""

import random
import re

from agentquest.lib import Benchmark, Driver, Outcome, State, Task


class GuessDriver(Driver):
    """Plays one secret number."""

    def __init__(self, secret):
        super().__init__()
        self.secret, self.won = secret, False

    @property
    def outcome(self):
        won = self.won
        return Outcome(done=won, success=won, reward=float(won), progress=float(won))

    def _reset(self):
        self.won = False
        goal = "guess the number between 1 and 100"
        return goal, self._say(f"Please {goal}. Answer with 'Action: guess <number>'.")

    def _step(self, action):
        read = re.fullmatch("guess ([0-9]{1,9})", action.value)
        if read is None:
            return State(0.0), self._say("That is no guess. Nothing happens.", valid=False)
        guess = int(read[1])
        self.won = guess == self.secret
        text = "Right!" if self.won else "Too low." if guess < self.secret else "Too high."
        return State(float(self.won)), self._say(text)

    def _say(self, text, valid=True):
        return self.observe(text, GuessBenchmark.actions, valid)


class GuessBenchmark(Benchmark):
    name = "guess"
    title = "Guess the number"
    splits = dict.fromkeys(("test", "train"), 20)
    task_types = ("1 to 100",)
    actions = ("guess <1-100>",)
    instructions = "Find a secret number with `guess [number]`: you are told too low or too high."

    def tasks(self):
        names = [f"{self.split}/{place}" for place in range(20)]
        return [Task(name, "1 to 100", self.split, name) for name in names]

    def driver(self, task):
        return GuessDriver(random.Random(task.id).randint(1, 100))
