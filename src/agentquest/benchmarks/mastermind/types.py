"""What passes between an agent and a Mastermind game, and how a guess is written and judged."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from agentquest.lib import Action, Observation, State

_COMMAND = re.compile(r"(?:guess:?\s*)?([0-9]+)", re.IGNORECASE)


@dataclass(frozen=True)
class MasterMindAction(Action):
    """A guess: the number, or the whole command `Guess: <number>`."""


@dataclass(frozen=True)
class MasterMindState(State):
    """The newest guess that could be read, as far as it counts; '' after reset."""

    value: str = ""


@dataclass(frozen=True)
class MasterMindObservation(Observation):
    """The game's text, the same for all agents."""


class Marks(NamedTuple):
    """How near a guess is: digits in the correct position, correct ones in a wrong position."""

    placed: int
    misplaced: int


def read_guess(command: str) -> str | None:
    """The number in a command; None for a text of any other form."""
    found = _COMMAND.fullmatch(command.strip())
    return found[1] if found else None


def written_guess(number: str) -> str:
    """The command that guesses a number."""
    return f"Guess: {number}"


def marks(guess: str, goal: str) -> Marks:
    """How near `guess` is to `goal`; each digit of the goal counts once."""
    placed = sum(one == other for one, other in zip(guess, goal, strict=False))
    shared = sum(min(guess.count(digit), goal.count(digit)) for digit in set(guess))
    return Marks(placed, shared - placed)
