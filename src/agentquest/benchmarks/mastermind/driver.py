"""The AgentQuest driver of Mastermind: how guesses are written, judged and answered.

The agent sees `metrics.goal`, a sentence; the secret number, which the
documented API calls the driver's `goal`, is never part of it.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from agentquest.benchmarks.mastermind.tasks import CATEGORIES, goals_of
from agentquest.errors import ParseError, UserError
from agentquest.lib import Action, Driver, Metrics, Observation, Outcome, Parser, State
from agentquest.lib.generated import TEST

WON = "You Won!"
UNREADABLE = "Could not read a guess. Make sure it is in the format: `Guess: <number>`"
_GOAL = "Guess the secret number of {digits} digits."
_RULES = """You are playing Mastermind: find a secret number of {digits} digits.
Every digit is one of 0 to 9, and digits may repeat.
After each guess you are told how many of its digits are correct and in the correct position, and \
how many are correct but in the wrong position.
Your response should be in the format:
Guess: <number>

Start guessing the {digits} digits number."""
_LENGTH = re.compile(r"find a secret number of ([0-9]+) digits")
_GUESS = re.compile(r"guess:\s*([0-9]+)", re.IGNORECASE)
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


def write_guess(number: str) -> str:
    """The command that guesses a number."""
    return f"Guess: {number}"


def marks(guess: str, goal: str) -> Marks:
    """How near `guess` is to `goal`; each digit of the goal counts once."""
    placed = sum(one == other for one, other in zip(guess, goal, strict=False))
    shared = sum(min(guess.count(digit), goal.count(digit)) for digit in set(guess))
    return Marks(placed, shared - placed)


class MasterMindMetrics(Metrics):
    """`number` is the secret, which the driver sets; agents see only `goal`."""

    def __init__(self) -> None:
        super().__init__()
        self.number = ""

    @property
    def action_values(self) -> list[str]:
        """The guesses, however they were written: what repetition compares."""
        return [read_guess(value) or value for value in super().action_values]

    def progress_function(self, state: State) -> float:
        """The share of digits in their correct position."""
        return marks(state.value, self.number).placed / len(self.number)


class MasterMindDriver(Driver):
    """Plays one secret number, given as text so that it may begin with 0."""

    action_class: ClassVar[type[Action]] = MasterMindAction
    observation_class: ClassVar[type[Observation]] = MasterMindObservation
    metrics_class: ClassVar[type[Metrics]] = MasterMindMetrics
    metrics: MasterMindMetrics

    def __init__(self, goal: str) -> None:
        super().__init__()
        if not (isinstance(goal, str) and goal.isascii() and goal.isdigit()):
            raise UserError(f"goal must be a text of digits, such as '0123', not {goal!r}")
        self.goal = goal
        self.current_state = MasterMindState()

    @property
    def data_hash(self) -> str:
        return hashlib.sha256(self.goal.encode()).hexdigest()

    @property
    def outcome(self) -> Outcome:
        won = self.current_state.value == self.goal
        return Outcome(
            done=won,
            success=won,
            reward=float(won),
            progress=self.metrics.progress_function(self.current_state),
        )

    def _accepts(self, value: str) -> bool:
        return read_guess(value) is not None

    def details(self) -> dict[str, Any]:
        return {"number": self.goal}

    def plan(self) -> list[str]:
        """What wins from here: the number itself."""
        return [] if self.solved else [write_guess(self.goal)]

    def step_raw(self, value: str, custom_parser: Parser | None = None) -> Observation:
        return super().step_raw(value, custom_parser or parse_guess)

    def _reset(self) -> tuple[str, Observation]:
        digits = len(self.goal)
        self.current_state = MasterMindState()
        self.metrics.number = self.goal
        self.metrics.milestones = self.plan()
        return _GOAL.format(digits=digits), self._say(_RULES.format(digits=digits))

    def _step(self, action: Action) -> tuple[State, Observation]:
        guess = read_guess(action.value)
        if guess is None:
            return self.current_state, self._say(UNREADABLE, valid=False)
        self.current_state = MasterMindState(guess[: len(self.goal)])
        return self.current_state, self._say(self._answer())

    def _answer(self) -> str:
        if self.solved:
            return WON
        placed, misplaced = marks(self.current_state.value, self.goal)
        return (
            f"Wrong! Your guess has {_count(placed, 'correct')}"
            f" and {_count(misplaced, 'wrong')}. Keep guessing."
        )

    def _say(self, text: str, valid: bool = True) -> Observation:
        return self.observe(text, [f"Guess: <{len(self.goal)} digits>"], valid)


class MasterMindUtils:
    """Finding numbers to guess."""

    @staticmethod
    def load_data(category: str = CATEGORIES[0], split: str = TEST) -> list[str]:
        """The secret numbers of a category, "4 digits" to "8 digits"."""
        return list(goals_of(category, split))


def parse_guess(text: str) -> str:
    """The number behind the first `Guess:` of a free text, zeros at its front included."""
    found = _GUESS.search(text)
    if found is None:
        raise ParseError(UNREADABLE)
    return found[1]


def read_length(observation: str) -> str:
    """How many digits the secret number has, read out of a first observation; else empty."""
    found = _LENGTH.search(observation)
    return found[1] if found else ""


def read_goal(observation: str) -> str:
    """The goal, read out of a first observation."""
    digits = read_length(observation)
    return _GOAL.format(digits=digits) if digits else ""


def _count(number: int, which: str) -> str:
    plural = "s" if number > 1 else ""
    return f"{number} correct digit{plural} in the {which} position{plural}"
