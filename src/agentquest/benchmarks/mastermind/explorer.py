"""The rule-based player: every guess fits all answers so far.

It reads what is printed and nothing else. Short numbers are guessed after Knuth:
of the numbers that are still possible, one whose worst answer leaves the fewest.
For longer ones, any number that is still possible is searched for digit by digit.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from agentquest.benchmarks.mastermind.driver import Marks, marks, write_guess
from agentquest.lib import Explorer
from agentquest.lib.dice import Dice

_START = re.compile(r"Start guessing the ([0-9]{1,3}) digits number")
_MARKS = re.compile(
    r"Your guess has ([0-9]+) correct digits? in the correct positions?"
    r" and ([0-9]+) correct digits? in the wrong positions?"
)
_DIGITS = "0123456789"
_LISTED = 4  # digits; all numbers of this length can be listed and compared
_FIRST = "0123"  # of all first guesses the one whose worst answer leaves the fewest numbers
_GUESSES_COMPARED, _NUMBERS_COMPARED = 24, 400


class JudgedGuess(NamedTuple):
    """A guess, and what was answered to it."""

    guess: str
    marks: Marks


class MasterMindExplorer(Explorer):
    """Guesses numbers that fit every answer so far, and reads the length of a new one by itself."""

    def __init__(self) -> None:
        self._digits = _LISTED
        self._answers: list[JudgedGuess] = []
        self._last = ""
        self._possible: list[str] | None = None
        self._dice = Dice("mastermind explorer")

    def next_action(self, observation: str) -> str:
        self._read(observation)
        if not self._answers:
            self._last = _first_guess(self._digits)
            self.thought = "Nothing is known yet, so I begin with some digits."
        elif self._digits <= _LISTED:
            self._last = self._narrowing_guess()
        else:
            self._last = consistent_number(self._digits, self._answers, self._dice) or self._last
            self.thought = "This number fits every answer so far."
        return write_guess(self._last)

    def _read(self, observation: str) -> None:
        if start := _START.search(observation):
            self._digits, self._answers, self._possible = int(start[1]), [], None
        elif self._last and (answer := _MARKS.search(observation)):
            self._answers.append(JudgedGuess(self._last, Marks(int(answer[1]), int(answer[2]))))

    def _narrowing_guess(self) -> str:
        newest = self._answers[-1]
        before = self._possible or _all_numbers(self._digits)
        self._possible = [number for number in before if marks(newest.guess, number) == newest[1]]
        self.thought = f"{len(self._possible)} numbers fit every answer so far."
        if not self._possible:
            return self._last
        guesses = _spread(self._possible, _GUESSES_COMPARED)
        against = _spread(self._possible, _NUMBERS_COMPARED)
        return min(guesses, key=lambda guess: _worst_case(guess, against))


def consistent_number(digits: int, guesses: Sequence[JudgedGuess], dice: Dice) -> str | None:
    """A number that would have got all these answers; None if there is no such number."""
    return _Search(digits, guesses, dice).run()


class _Answer:
    """What one answer demands: digits in their position, and digits in common wherever."""

    __slots__ = ("common", "counts", "digits", "placed")

    def __init__(self, judged: JudgedGuess) -> None:
        self.digits = [int(digit) for digit in judged.guess]
        self.counts = [self.digits.count(digit) for digit in range(10)]
        self.placed = judged.marks.placed
        self.common = sum(judged.marks)

    def chance(self, place: int, digit: int) -> float:
        """How likely a digit at a place is, by this answer alone; never 0."""
        length = len(self.digits)
        if self.digits[place] == digit:
            return (self.placed + 0.1) / length
        if self.counts[digit]:
            return (self.common - self.placed + 0.1) * self.counts[digit] / length**2
        return (length - self.common + 0.1) / length / self.counts.count(0)


class _Search:
    """Digit by digit from the left, leaving a branch as soon as an answer cannot come out.

    Likely digits are tried first, and the newest answers, which rule out most, are
    looked at first.
    """

    def __init__(self, digits: int, guesses: Sequence[JudgedGuess], dice: Dice) -> None:
        self._answers = [_Answer(each) for each in reversed(guesses)]
        self._order = [self._likely_first(place, dice) for place in range(digits)]
        self._chosen: list[int] = []

    def run(self) -> str | None:
        nothing = [0] * len(self._answers)
        return "".join(map(str, self._chosen)) if self._extend(nothing, nothing) else None

    def _likely_first(self, place: int, dice: Dice) -> list[int]:
        chances = [
            prod(answer.chance(place, digit) for answer in self._answers) * dice.between(900, 1000)
            for digit in range(10)
        ]
        return sorted(range(10), key=lambda digit: -chances[digit])

    def _extend(self, placed: list[int], common: list[int]) -> bool:
        """Find the rest of the number, given what its first digits have in each answer's count."""
        place = len(self._chosen)
        if place == len(self._order):
            return True
        for digit in self._order[place]:
            counts = self._counts_with(digit, placed, common)
            if counts is not None:
                self._chosen.append(digit)
                if self._extend(*counts):
                    return True
                self._chosen.pop()
        return False

    def _counts_with(
        self, digit: int, placed: list[int], common: list[int]
    ) -> tuple[list[int], list[int]] | None:
        """Both counts with one digit more; None if some answer has become impossible."""
        place = len(self._chosen)
        left = len(self._order) - place - 1
        there = self._chosen.count(digit)
        now_placed, now_common = [], []
        for answer, in_place, shared in zip(self._answers, placed, common, strict=True):
            in_place += answer.digits[place] == digit
            if not in_place <= answer.placed <= in_place + left:
                return None
            shared += there < answer.counts[digit]
            if not shared <= answer.common <= shared + left:
                return None
            now_placed.append(in_place)
            now_common.append(shared)
        return now_placed, now_common


def _first_guess(digits: int) -> str:
    """All different where numbers are listed; pairs else, which leave less to search through."""
    if digits <= _LISTED:
        return _FIRST[:digits]
    pairs = "".join(digit * 2 for digit in _DIGITS)
    return (pairs * (digits // len(pairs) + 1))[:digits]


def _all_numbers(digits: int) -> list[str]:
    return ["".join(each) for each in product(_DIGITS, repeat=digits)]


def _spread(numbers: Sequence[str], most: int) -> Sequence[str]:
    """All of them, or so many at even distances."""
    return numbers[:: -(-len(numbers) // most)]


def _worst_case(guess: str, against: Sequence[str]) -> int:
    return max(Counter(marks(guess, number) for number in against).values())
