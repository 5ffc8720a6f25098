"""The 0-100 score of a game: 40 for winning, 20 each for order, no repetition, no cycles.

Computed in exact fractions from the counts, so that a game that stands exactly
on a grade's limit gets that grade.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from agentquest.metrics.behaviour.cleanup import Cleanup, assess_cleanup
from agentquest.metrics.behaviour.commands import normalised
from agentquest.metrics.behaviour.cycles import Cycles, find_cycles
from agentquest.metrics.behaviour.exploration import Exploration, measure_exploration
from agentquest.metrics.behaviour.repetition import RepeatedSteps, find_repeated_steps

COMPLETION_POINTS = 40
CLEANUP_POINTS = 20
REPETITION_POINTS = 20
CYCLE_POINTS = 20
MAX_SCORE = COMPLETION_POINTS + CLEANUP_POINTS + REPETITION_POINTS + CYCLE_POINTS
_GRADES = ((90, "A"), (80, "B"), (70, "C"), (60, "D"))


@dataclass(frozen=True)
class Breakdown:
    """The points of each part, rounded to 2 decimals."""

    completion_score: float
    cleanup_score: float
    repetition_score: float
    cycle_score: float


@dataclass(frozen=True)
class Overall:
    """The score rounded to 2 decimals, and unrounded for means; the grade is of the latter."""

    overall_score: float
    max_possible_score: float
    breakdown: Breakdown
    grade: str
    unrounded_score: float


@dataclass(frozen=True)
class Summary:
    task_completed: bool
    total_steps: int
    overall_score: float
    grade: str


@dataclass(frozen=True)
class Behaviour:
    """Everything that the behaviour metrics say of one game."""

    summary: Summary
    repeated_steps: RepeatedSteps
    cleanup: Cleanup
    cycles: Cycles
    exploration: Exploration
    overall: Overall
    action_history: tuple[str, ...]


def assess_behaviour(commands: Iterable[str], won: bool) -> Behaviour:
    """Judge one game by its commands; a game in which nothing was executed scores 0."""
    actions = normalised(commands)
    repetition = find_repeated_steps(actions)
    order = assess_cleanup(actions)
    loops = find_cycles(actions)
    overall = _overall(won, len(actions), repetition, order, loops)
    return Behaviour(
        summary=Summary(won, len(actions), overall.overall_score, overall.grade),
        repeated_steps=repetition,
        cleanup=order,
        cycles=loops,
        exploration=measure_exploration(actions),
        overall=overall,
        action_history=actions,
    )


def grade(score: float | Fraction) -> str:
    """The letter of an unrounded score."""
    return next((letter for limit, letter in _GRADES if score >= limit), "F")


def _overall(
    won: bool, steps: int, repetition: RepeatedSteps, order: Cleanup, loops: Cycles
) -> Overall:
    parts = [Fraction(0)] * 4
    if steps:
        closed = Fraction(order.correct_close_count, order.total_opens) if order.applicable else 1
        parts = [
            Fraction(COMPLETION_POINTS * won),
            Fraction(CLEANUP_POINTS * closed),
            REPETITION_POINTS * (1 - Fraction(repetition.repeated_count, steps)),
            CYCLE_POINTS * (1 - Fraction(loops.cycle_steps, steps)),
        ]
    total = sum(parts, Fraction(0))
    return Overall(
        overall_score=float(round(total, 2)),
        max_possible_score=float(MAX_SCORE),
        breakdown=Breakdown(*(float(round(part, 2)) for part in parts)),
        grade=grade(total),
        unrounded_score=float(total),
    )
