"""The example benchmark with another driver."""

from typing import ClassVar

from full_benchmark import GuessBenchmark, GuessDriver

from agentquest.lib import Task


class OfDriver(GuessBenchmark):
    """The example with another driver."""

    driver_class: ClassVar[type[GuessDriver]] = GuessDriver

    def driver(self, task: Task) -> GuessDriver:
        right = super().driver(task)
        return self.driver_class(right.secret, right.highest)
