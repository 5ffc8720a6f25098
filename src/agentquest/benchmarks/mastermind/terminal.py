"""How a person at the terminal sees a Mastermind game."""

import re

from agentquest.lib import Observation, TerminalView

_LENGTH = re.compile(r"secret number of ([0-9]+) digits")


class MasterMindView(TerminalView):
    """Says how long the number is, and lists guesses under one heading."""

    def room(self, observation: Observation) -> str:
        length = _LENGTH.search(observation.text)
        digits = f"{length[1]} digits" if length else "some digits"
        return f"A secret number of {digits}, which may repeat. Type a number to guess it."

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        verb, _, rest = command.partition(" ")
        return verb.removesuffix(":"), rest
