"""The figures of an assessment, as rows of the table of metrics.

One aggregation for the summary, the report and the result that is sent: that of
`metrics`, which also makes `agentquest report`. The parts of the behaviour
score are metrics here too. Figures are over the games that have a score; no
such game, no figure.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from agentquest.a2a.remote_agent import NO_TEXT
from agentquest.metrics.behaviour import Behaviour, Breakdown, behaviour_of, grade
from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.statistics import Estimate
from agentquest.metrics.summary import Group, Summary, summarise
from agentquest.metrics.table import Metric, built_in, metrics_table
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.records.outcome import End
from agentquest.words import counted

SCHEMA_VERSION = 2
FAILED_ENDS = (End.AGENT_FAULT, End.INFRASTRUCTURE_FAULT)
_REASONS = {
    End.SOLVED: "won",
    End.FAILED: "lost",
    End.STEP_LIMIT: "max_steps",
    End.CONTEXT_LIMIT: "context_limit",
    End.GAVE_UP: "gave_up",
    End.AGENT_FAULT: "agent_error",
    End.INFRASTRUCTURE_FAULT: "env_error",
    End.CANCELLED: "cancelled",
}


def end_reason(record: EpisodeRecord) -> str:
    """How a game ended, in the words of the documents."""
    if record.end is End.AGENT_FAULT and record.error and record.error.kind == "timeout":
        return "agent_timeout"
    return _REASONS[record.end]


@dataclass(frozen=True)
class Game:
    """One game that was played, with its place in the run."""

    index: int
    record: EpisodeRecord
    behaviour: Behaviour

    @classmethod
    def of(cls, index: int, record: EpisodeRecord, manifest: Manifest) -> "Game":
        """A game with its behaviour worked out; of the record a slim copy is kept."""
        return cls(index, record.slim(), behaviour_of(record, manifest.verbs))


# The parts of the behaviour score. A game in which nothing was opened says nothing about
# closing things again.
_PARTS: dict[str, Callable[[Behaviour], float | None]] = {
    "cleanup_rate": lambda one: one.cleanup.cleanup_rate if one.cleanup.applicable else None,
    "consecutive_repetition_rate": lambda one: one.repeated_steps.repetition_rate,
    "cycle_rate": lambda one: one.cycles.cycle_rate,
    "exploration_efficiency": lambda one: one.exploration.exploration_efficiency,
    "completion_score": lambda one: one.overall.breakdown.completion_score,
    "cleanup_score": lambda one: one.overall.breakdown.cleanup_score,
    "repetition_score": lambda one: one.overall.breakdown.repetition_score,
    "cycle_score": lambda one: one.overall.breakdown.cycle_score,
}


def assessment_summary(
    games: Sequence[Game], rows: Sequence[EpisodeRow], manifest: Manifest
) -> Summary:
    """All figures of a run and of its task types; `rows` are the games' own."""
    parts = [Metric(key, key, "", "", lambda record: None) for key in _PARTS]
    extended = [
        replace(row, values={**row.values, **_part_values(game.behaviour)})
        for game, row in zip(games, rows, strict=True)
    ]
    return summarise(extended, (*metrics_table(manifest), *parts))


def _part_values(behaviour: Behaviour) -> dict[str, float | None]:
    return {key: read(behaviour) for key, read in _PARTS.items()}


def own_metrics(manifest: Manifest) -> list[Metric]:
    """The metrics that the benchmark or the user added to the table."""
    usual = {metric.key for metric in built_in(manifest.verbs)}
    return [metric for metric in metrics_table(manifest) if metric.key not in usual]


def value(group: Group, key: str, digits: int | None = None) -> float | None:
    """A figure's number; None where no game has one."""
    found = group.figures[key]
    if found is None:
        return None
    return found.value if digits is None else round(found.value, digits)


def figures(group: Group) -> dict[str, Any]:
    """The figures over some games; the same for a task type and for a run."""
    success: Estimate | None = group.figures["success"]
    behaviour = value(group, "behaviour")
    return {
        "games": group.episodes,
        "scored_games": group.scored,
        "errors": sum(group.ends.get(end, 0) for end in FAILED_ENDS),
        "wins": group.successes,
        "success_rate": success.value if success else None,
        "success_interval": [success.low, success.high] if success else None,
        "avg_score": value(group, "reward"),
        "avg_steps": value(group, "steps"),
        "avg_cleanup_rate": value(group, "cleanup_rate"),
        "avg_repetition_rate": value(group, "consecutive_repetition_rate"),
        "avg_cycle_rate": value(group, "cycle_rate"),
        "overall_score": value(group, "behaviour", 2),
        "grade": None if behaviour is None else grade(behaviour),
        "score_breakdown": {field.name: value(group, field.name, 2) for field in fields(Breakdown)},
        "invalid_rate": value(group, "invalid"),
    }


def behaviour_totals(games: Sequence[Game], summary: Summary) -> dict[str, Any]:
    """`behavior_metrics` of a run: sums and maxima over the scored games, and the figures."""
    scored = [game.behaviour for game in games if game.record.scored]
    found = figures(summary.overall)
    return {
        "repeated_steps": {
            "repeated_count": sum(b.repeated_steps.repeated_count for b in scored),
            "avg_repetition_rate": found["avg_repetition_rate"],
            "max_repeat_length": max(
                (b.repeated_steps.max_repeat_length for b in scored), default=0
            ),
        },
        "cleanup": {
            "total_opens": sum(b.cleanup.total_opens for b in scored),
            "correct_close_count": sum(b.cleanup.correct_close_count for b in scored),
            "remaining_open_count": sum(b.cleanup.remaining_open_count for b in scored),
            "games_with_opens": sum(b.cleanup.applicable for b in scored),
            "avg_cleanup_rate": found["avg_cleanup_rate"],
        },
        "cycles": {
            "cycles_detected": sum(b.cycles.cycles_detected for b in scored),
            "avg_cycle_rate": found["avg_cycle_rate"],
            "wasted_steps": sum(b.cycles.wasted_steps for b in scored),
        },
        "exploration": {
            "avg_exploration_efficiency": value(summary.overall, "exploration_efficiency"),
            "revisit_count": sum(b.exploration.revisit_count for b in scored),
        },
        "overall": {
            "avg_overall_score": found["overall_score"],
            "avg_grade": found["grade"],
            "breakdown": found["score_breakdown"],
        },
    }


def by_type(games: Sequence[Game], manifest: Manifest, summary: Summary) -> dict[str, Any]:
    """`task_type_breakdown`: by the game's own type; `task_1` … for types that were played."""
    found = {}
    for number, name in enumerate(manifest.task_types, start=1):
        group = summary.by_type.get(name)
        if group is not None:
            records = [game.record for game in games if game.record.task_type == name]
            scored = [record for record in records if record.scored]
            found[f"task_{number}"] = {
                "name": name.replace("_", " ").title(),
                "total": group.scored,
                "scores": [record.reward for record in scored],
                "steps": [len(record.steps) for record in scored],
                "task_type": name,
                **figures(group),
            }
    return found


def diagnoses(games: Sequence[Game]) -> list[str]:
    """What is odd about an agent's replies, so that it is not taken for bad play."""
    silent = [(game, step) for game in games for step in game.record.steps if step.how == NO_TEXT]
    if not silent:
        return []
    replies = sum(len(game.record.steps) for game in games)
    game, step = silent[0]
    return [
        f"{len(silent)} of {counted(replies, 'reply')} had no text; first: game {game.index + 1},"
        f" turn {step.index}: {step.reply}"
    ]


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
        "end_reason": end_reason(record),
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


def action_lines(record: EpisodeRecord) -> list[Mapping[str, Any]]:
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
            "usage": [call.model_dump(mode="json") for call in step.calls],
        }
        for step in record.steps
    ]
