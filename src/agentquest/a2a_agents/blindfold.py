"""The driver of an agent that is served: there is none to look at."""

from typing import NoReturn

from agentquest.errors import UserError
from agentquest.lib import Action, Driver, Observation, Outcome, State


class Blindfold(Driver):
    """Stands where an agent expects the game; whatever is asked of it is refused."""

    @property
    def outcome(self) -> Outcome:
        return self._refuse()

    def accepts(self, value: str) -> bool:
        return self._refuse()

    def _reset(self) -> tuple[str, Observation]:
        return self._refuse()

    def _step(self, action: Action) -> tuple[State, Observation]:
        return self._refuse()

    def _refuse(self) -> NoReturn:
        raise UserError("an agent that is served over A2A cannot look at the game")
