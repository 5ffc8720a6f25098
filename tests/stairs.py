"""A game without a benchmark: three steps up."""

from agentquest.lib import Action, Driver, Observation, Outcome, State


class Stairs(Driver):
    """Three steps up."""

    lookups = 0

    def __init__(self) -> None:
        super().__init__()
        self.height = 0

    @property
    def outcome(self) -> Outcome:
        top = self.height == 3
        return Outcome(done=top, success=top, reward=float(top), progress=self.height / 3)

    def _reset(self) -> tuple[str, Observation]:
        self.height = 0
        return "go up", self.observe("You are at the bottom.", ["up"])

    def _step(self, action: Action) -> tuple[State, Observation]:
        self.lookups += 1
        valid = action.value == "up"
        self.height += valid
        return State(self.height), self.observe(f"Step {self.height}.", ["up"], valid)
