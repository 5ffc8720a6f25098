"""What is said of an assessment: to a reader, to AgentBeats, and in `run_summary.json`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentquest.a2a_agents.figures import (
    SCHEMA_VERSION,
    Game,
    aggregate,
    behaviour_totals,
    by_type,
    game_document,
)
from agentquest.a2a_agents.requests import AssessmentRequest


@dataclass(frozen=True)
class Meta:
    """What an assessment was asked to do, and on what."""

    request: AssessmentRequest
    agent: str
    provenance: dict[str, Any]
    type_numbers: dict[str, int]
    tasks: list[str]
    notes: tuple[str, ...]
    config_hash: str
    data_hash: str
    versions: dict[str, str]

    @property
    def all_notes(self) -> list[str]:
        return [*self.request.warnings, *self.notes]


@dataclass(frozen=True)
class Finding:
    """An assessment as far as it went. `status`: running, completed or cancelled."""

    run_id: str
    folder: str
    meta: Meta
    games: tuple[Game, ...]
    status: str
    started_at: str
    ended_at: str | None
    seconds: float

    @property
    def requested(self) -> int:
        return len(self.meta.tasks)


def result_document(finding: Finding) -> dict[str, Any]:
    """The flat object of the result artifact, which leaderboards query."""
    meta, config = finding.meta, finding.meta.request.config
    figures = aggregate(finding.games)
    interval = figures["success_interval"] or [None, None]
    return {
        "success_rate": figures["success_rate"],
        "avg_score": figures["avg_score"],
        "avg_steps": figures["avg_steps"],
        "overall_score": figures["overall_score"],
        "wins": figures["wins"],
        "num_games": figures["scored_games"],
        "time_used": round(finding.seconds, 3),
        "coverage_mode": config.coverage_mode.value,
        "split": config.split,
        "requested_games": finding.requested,
        "errors": figures["errors"],
        "win_share_of_requested": figures["wins"] / finding.requested
        if finding.requested
        else None,
        "success_low": interval[0],
        "success_high": interval[1],
        "grade": figures["grade"],
        "invalid_rate": figures["invalid_rate"],
        "benchmark": config.benchmark,
        "data": str(meta.provenance.get("data")),
        "agent": meta.agent,
        "max_steps": config.max_steps,
        "seed": str(config.seed),
        "shard_index": config.shard_index,
        "num_shards": config.num_shards,
        "run_id": finding.run_id,
        "version": meta.versions["agentquest"],
        "per_type": {
            entry["task_type"]: {
                "wins": entry["wins"],
                "num_games": entry["scored_games"],
                "errors": entry["errors"],
                "success_rate": entry["success_rate"],
                "avg_steps": entry["avg_steps"],
                "overall_score": entry["overall_score"],
                "cleanup_rate": entry["avg_cleanup_rate"],
                "repetition_rate": entry["avg_repetition_rate"],
                "cycle_rate": entry["avg_cycle_rate"],
            }
            for entry in by_type(finding.games, meta.type_numbers).values()
        },
        "behaviour": {
            "cleanup_rate": figures["avg_cleanup_rate"],
            "repetition_rate": figures["avg_repetition_rate"],
            "cycle_rate": figures["avg_cycle_rate"],
            **figures["score_breakdown"],
        },
        "games": [_in_result(game) for game in finding.games],
        "notes": meta.all_notes,
    }


def summary_document(finding: Finding) -> dict[str, Any]:
    """`run_summary.json`: the documented keys first."""
    meta, config = finding.meta, finding.meta.request.config
    games = finding.games
    figures = aggregate(games)
    scored = [game.record for game in games if game.record.scored]
    return {
        "run_metadata": {
            "timestamp": finding.run_id.removeprefix("run_"),
            "start_time": finding.started_at,
            "env_config": config.model_dump(mode="json"),
            "train_eval": config.train_eval,
            "max_steps": config.max_steps,
            "num_games": finding.requested,
            "white_agent_url": meta.request.agent_url,
            "white_agent": meta.agent,
        },
        "end_time": finding.ended_at,
        "aggregate_metrics": {
            "total_games": figures["scored_games"],
            "wins": figures["wins"],
            "total_score": sum(record.reward for record in scored),
            "total_steps": sum(len(record.steps) for record in scored),
            "game_results": [game_document(game) for game in games],
            "coverage_mode": config.coverage_mode.value,
            "task_type_breakdown": by_type(games, meta.type_numbers),
            "time_used": finding.seconds,
            "success_rate": figures["success_rate"],
            "avg_score": figures["avg_score"],
            "avg_steps": figures["avg_steps"],
            "avg_cleanup_rate": figures["avg_cleanup_rate"],
            "avg_repetition_rate": figures["avg_repetition_rate"],
            "avg_cycle_rate": figures["avg_cycle_rate"],
            "overall_white_agent_score": figures["overall_score"],
            "score_breakdown": figures["score_breakdown"],
            "behavior_metrics": behaviour_totals(games),
            "grade": figures["grade"],
            "success_interval": figures["success_interval"],
            "requested_games": finding.requested,
            "errors": figures["errors"],
            "invalid_rate": figures["invalid_rate"],
        },
        "total_games": figures["scored_games"],
        "game_summaries": [_in_summary(game) for game in games],
        "schema_version": SCHEMA_VERSION,
        "status": finding.status,
        "run_id": finding.run_id,
        "notes": meta.all_notes,
        "provenance": meta.provenance,
        "versions": meta.versions,
    }


def sorted_games(games: Sequence[Game]) -> tuple[Game, ...]:
    return tuple(sorted(games, key=lambda game: game.index))


def _in_result(game: Game) -> dict[str, Any]:
    record, behaviour = game.record, game.behaviour
    return {
        "game_idx": str(game.index),
        "gamefile": record.task_id,
        "task_type": record.task_type,
        "won": record.success,
        "score": record.reward,
        "steps": len(record.steps),
        "end_reason": record.end.value,
        "overall_score": behaviour.overall.overall_score if record.scored else None,
        "cleanup_rate": behaviour.cleanup.cleanup_rate,
        "repetition_rate": behaviour.repeated_steps.repetition_rate,
        "cycle_rate": behaviour.cycles.cycle_rate,
        "invalid_actions": record.invalid_actions,
        "error": f"{record.error.kind}: {record.error.message}" if record.error else None,
    }


def _in_summary(game: Game) -> dict[str, Any]:
    return {
        "game_idx": game.index,
        "won": game.record.success,
        "steps": len(game.record.steps),
        "score": game.record.reward,
        "behavior_score": game.behaviour.overall.overall_score,
        "task_type": game.record.task_type,
        "end_reason": game.record.end.value,
    }
