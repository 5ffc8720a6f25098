"""Progress of a Mastermind episode."""

from agentquest.benchmarks.mastermind.types import marks, read_guess
from agentquest.lib import Metrics, State


class MasterMindMetrics(Metrics):
    """`number` is the secret, which the driver sets; agents are told only `goal`."""

    def __init__(self) -> None:
        super().__init__()
        self.number = ""

    @property
    def action_values(self) -> list[str]:
        """The guesses, however they were written: what repetition compares."""
        values = super().action_values
        return [read_guess(value) or value for value in values]

    def progress_function(self, state: State) -> float:
        """The share of digits in their correct position."""
        return marks(state.value, self.number).placed / len(self.number)
