"""The figures of an assessment: a game's, a task type's, the run's.

One aggregation for the summary, the report and the result that is sent. Rates
and means are over the games that say something about the agent; the games
asked for and those lost to errors stand beside them. No such game: no figure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import fsum
from typing import Any

from agentquest.metrics.behaviour import Behaviour, Breakdown, assess_behaviour, grade
from agentquest.metrics.statistics import wilson
from agentquest.records.episode import EpisodeRecord

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Game:
    """One game that was played, with its place in the run."""

    index: int
    record: EpisodeRecord
    behaviour: Behaviour

    @classmethod
    def of(cls, index: int, record: EpisodeRecord) -> "Game":
        return cls(index, record.slim(), assess_behaviour(record.actions, record.success))


def game_document(game: Game) -> dict[str, Any]:
    """`game_NNN.json`: the documented keys first."""
    record, behaviour = game.record, game.behaviour
    return {
        "game_idx": game.index,
        "timestamp": record.started_at,
        "won": record.success,
        "score": record.reward,
        "steps": len(record.steps),
        "behavior_metrics": asdict(behaviour),
        "cleanup_rate": behaviour.cleanup.cleanup_rate,
        "repetition_rate": behaviour.repeated_steps.repetition_rate,
        "cycle_rate": behaviour.cycles.cycle_rate,
        "schema_version": SCHEMA_VERSION,
        "task_type": record.task_type,
        "gamefile": record.task_id,
        "split": record.split,
        "goal": record.goal,
        "end_reason": record.end.value,
        "scored": record.scored,
        "progress": record.progress,
        "invalid_actions": record.invalid_actions,
        "invalid_rate": record.invalid_actions / len(record.steps) if record.steps else 0.0,
        "error": record.error.model_dump() if record.error else None,
        "max_steps": record.max_steps,
        "seed": record.seed,
        "seconds": record.seconds,
        "versions": record.versions,
    }


def action_lines(record: EpisodeRecord) -> list[dict[str, Any]]:
    """`game_NNN_actions.jsonl`: every turn in full."""
    return [
        {
            "step": step.index,
            "action": step.action,
            "how": step.how,
            "valid": step.valid,
            "reply": step.reply,
            "observation": step.observation,
            "admissible_count": len(step.admissible),
            "progress": step.progress,
            "seconds": step.seconds,
        }
        for step in record.steps
    ]


def aggregate(games: Iterable[Game]) -> dict[str, Any]:
    """Figures over some games; the same for a task type and for a run."""
    played = list(games)
    scored = [game for game in played if game.record.scored]
    wins = sum(game.record.success for game in scored)
    success = wilson(wins, len(scored))
    return {
        "games": len(played),
        "scored_games": len(scored),
        "errors": len(played) - len(scored),
        "wins": wins,
        "success_rate": success.value if success else None,
        "success_interval": [success.low, success.high] if success else None,
        "avg_score": _mean([game.record.reward for game in scored]),
        "avg_steps": _mean([float(len(game.record.steps)) for game in scored]),
        **_rates(scored),
        "overall_score": _rounded(
            _mean([game.behaviour.overall.unrounded_score for game in scored])
        ),
        "grade": _grade(scored),
        "score_breakdown": _breakdown(scored),
        "invalid_rate": _mean(
            [
                game.record.invalid_actions / len(game.record.steps)
                for game in scored
                if game.record.steps
            ]
        ),
    }


def behaviour_totals(games: Sequence[Game]) -> dict[str, Any]:
    """`behavior_metrics` of a run: sums, means and maxima over the scored games."""
    scored = [game.behaviour for game in games if game.record.scored]
    rates = _rates([game for game in games if game.record.scored])
    return {
        "repeated_steps": {
            "repeated_count": sum(b.repeated_steps.repeated_count for b in scored),
            "avg_repetition_rate": rates["avg_repetition_rate"],
            "max_repeat_length": max(
                (b.repeated_steps.max_repeat_length for b in scored), default=0
            ),
        },
        "cleanup": {
            "total_opens": sum(b.cleanup.total_opens for b in scored),
            "correct_close_count": sum(b.cleanup.correct_close_count for b in scored),
            "remaining_open_count": sum(b.cleanup.remaining_open_count for b in scored),
            "games_with_opens": sum(b.cleanup.applicable for b in scored),
            "avg_cleanup_rate": rates["avg_cleanup_rate"],
        },
        "cycles": {
            "cycles_detected": sum(b.cycles.cycles_detected for b in scored),
            "avg_cycle_rate": rates["avg_cycle_rate"],
            "wasted_steps": sum(b.cycles.wasted_steps for b in scored),
        },
        "exploration": {
            "avg_exploration_efficiency": _mean(
                [b.exploration.exploration_efficiency for b in scored]
            ),
            "revisit_count": sum(b.exploration.revisit_count for b in scored),
        },
        "overall": {
            "avg_overall_score": _rounded(_mean([b.overall.unrounded_score for b in scored])),
            "avg_grade": _grade([game for game in games if game.record.scored]),
            "breakdown": _breakdown([game for game in games if game.record.scored]),
        },
    }


def by_type(games: Sequence[Game], numbers: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """`task_type_breakdown`: by the game's own type; `task_1` … for types that were played."""
    found: dict[str, dict[str, Any]] = {}
    for name, number in numbers.items():
        members = [game for game in games if game.record.task_type == name]
        if members:
            scored = [game.record for game in members if game.record.scored]
            figures = aggregate(members)
            found[f"task_{number}"] = {
                "name": name.replace("_", " ").title(),
                "wins": figures["wins"],
                "total": figures["scored_games"],
                "scores": [record.reward for record in scored],
                "steps": [len(record.steps) for record in scored],
                "task_type": name,
                **figures,
            }
    return found


def _rates(scored: Sequence[Game]) -> dict[str, float | None]:
    """A game without opens has nothing left open: its cleanup rate is 1."""
    return {
        "avg_cleanup_rate": _mean([game.behaviour.cleanup.cleanup_rate for game in scored]),
        "avg_repetition_rate": _mean(
            [game.behaviour.repeated_steps.repetition_rate for game in scored]
        ),
        "avg_cycle_rate": _mean([game.behaviour.cycles.cycle_rate for game in scored]),
    }


def _breakdown(scored: Sequence[Game]) -> dict[str, float | None]:
    """The mean points of each part."""
    parts = [asdict(game.behaviour.overall.breakdown) for game in scored]
    return {
        field.name: _rounded(_mean([part[field.name] for part in parts]))
        for field in fields(Breakdown)
    }


def _grade(scored: Sequence[Game]) -> str | None:
    mean = _mean([game.behaviour.overall.unrounded_score for game in scored])
    return None if mean is None else grade(mean)


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
