"""The 0-100 score of a game: 40 for winning, 20 each for order, no repetition, no cycles.

If a benchmark has nothing to open and close, tidiness is not part of the score
and the other parts make up the 100: 50, 25, 25. The points for conduct are
multiplied by the share of steps that the environment carried out: an agent that
does nothing earns no conduct points.

Computed in exact fractions from the counts, so that a game whose score is exactly
a grade's limit gets that grade.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from agentquest.metrics.behaviour.cleanup import Cleanup, assess_cleanup
from agentquest.metrics.behaviour.commands import normalised
from agentquest.metrics.behaviour.cycles import Cycles, find_cycles
from agentquest.metrics.behaviour.exploration import Exploration, measure_exploration
from agentquest.metrics.behaviour.repetition import RepeatedSteps, find_repeated_steps
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Verbs

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
    """A game in short. `executed_steps` are those that the environment carried out."""

    task_completed: bool
    total_steps: int
    executed_steps: int
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


def behaviour_of(record: EpisodeRecord, verbs: Verbs) -> Behaviour:
    """Judge one recorded game; `verbs` are those of its benchmark."""
    executed = len(record.steps) - record.invalid_actions
    return assess_behaviour(record.actions, record.success, verbs, executed)


def assess_behaviour(
    commands: Iterable[str], won: bool, verbs: Verbs, executed: int | None = None
) -> Behaviour:
    """Judge one game by its commands, of which `executed` were carried out (None: all)."""
    actions = normalised(commands)
    repetition = find_repeated_steps(actions)
    order = assess_cleanup(actions, verbs)
    loops = find_cycles(actions)
    executed = len(actions) if executed is None else executed
    overall = Overall(0.0, float(MAX_SCORE), Breakdown(0.0, 0.0, 0.0, 0.0), grade(0), 0.0)
    if executed:
        closed = Fraction(order.correct_close_count, order.total_opens) if order.applicable else 1
        done = Fraction(executed, len(actions))
        overall = _overall(
            Fraction(COMPLETION_POINTS * won),
            CLEANUP_POINTS * done * closed if verbs.open else None,
            REPETITION_POINTS * done * (1 - Fraction(repetition.repeated_count, len(actions))),
            CYCLE_POINTS * done * (1 - Fraction(loops.cycle_steps, len(actions))),
        )
    return Behaviour(
        summary=Summary(won, len(actions), executed, overall.overall_score, overall.grade),
        repeated_steps=repetition,
        cleanup=order,
        cycles=loops,
        exploration=measure_exploration(actions, verbs),
        overall=overall,
        action_history=tuple(actions),
    )


def grade(score: float | Fraction) -> str:
    """The letter of an unrounded score."""
    return next((letter for limit, letter in _GRADES if score >= limit), "F")


def _overall(
    completion: Fraction, cleanup: Fraction | None, repetition: Fraction, cycles: Fraction
) -> Overall:
    left = 0 if cleanup is None else CLEANUP_POINTS
    scale = Fraction(MAX_SCORE, MAX_SCORE - CLEANUP_POINTS + left)
    parts = [part * scale for part in (completion, cleanup or Fraction(0), repetition, cycles)]
    total = sum(parts, Fraction(0))
    return Overall(
        overall_score=float(round(total, 2)),
        max_possible_score=float(MAX_SCORE),
        breakdown=Breakdown(*(float(round(part, 2)) for part in parts)),
        grade=grade(total),
        unrounded_score=float(total),
    )
