"""The results of an assessment: for AgentBeats, and in `run_summary.json`."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from agentquest.a2a.figures import (
    SCHEMA_VERSION,
    Game,
    assessment_summary,
    behaviour_totals,
    by_type,
    diagnoses,
    end_reason,
    figures,
    game_document,
    own_metrics,
    value,
)
from agentquest.a2a.requests import AssessmentRequest
from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.summary import Summary
from agentquest.records.manifest import Manifest


@dataclass(frozen=True)
class AssessmentInfo:
    """What an assessment was asked to do, and on what."""

    request: AssessmentRequest
    agent: str
    manifest: Manifest


@dataclass(frozen=True)
class AssessmentResult:
    """An assessment as far as it went. `status`: running, completed, cancelled or failed."""

    info: AssessmentInfo
    folder: str
    games: tuple[Game, ...]
    rows: tuple[EpisodeRow, ...]
    status: str
    ended_at: str | None
    seconds: float

    @property
    def manifest(self) -> Manifest:
        """The manifest of the run that the assessment is."""
        return self.info.manifest

    @property
    def requested(self) -> int:
        """How many games were asked for, whether they were played or not."""
        return self.manifest.requested

    @cached_property
    def summary(self) -> Summary:
        """The figures over the games that have been played; worked out once."""
        return assessment_summary(self.games, self.rows, self.manifest)

    @cached_property
    def own_metrics(self) -> dict[str, float | None]:
        """The figures that the benchmark or the user added, by key."""
        overall = self.summary.overall
        return {metric.key: value(overall, metric.key) for metric in own_metrics(self.manifest)}

    @cached_property
    def notes(self) -> list[str]:
        """The manifest's notes, and what the games suggest is wrong with the agent."""
        return [*self.manifest.notes, *diagnoses(self.games)]


def result_document(result: AssessmentResult) -> dict[str, Any]:
    """The flat object of the result artifact, which leaderboards query."""
    manifest, config = result.manifest, result.info.request.config
    found = figures(result.summary.overall)
    interval = found["success_interval"] or [None, None]
    return {
        "success_rate": found["success_rate"],
        "avg_score": found["avg_score"],
        "avg_steps": found["avg_steps"],
        "overall_score": found["overall_score"],
        "wins": found["wins"],
        "num_games": found["scored_games"],
        "time_used": round(result.seconds, 3),
        "coverage_mode": config.coverage_mode.value,
        "split": manifest.provenance.split,
        "requested_games": result.requested,
        "errors": found["errors"],
        "win_share_of_requested": found["wins"] / result.requested if result.requested else None,
        "success_low": interval[0],
        "success_high": interval[1],
        "grade": found["grade"],
        "invalid_rate": found["invalid_rate"],
        "benchmark": manifest.benchmark,
        "data": manifest.provenance.data,
        "protocol": manifest.protocol or "none",
        "agent_faults": manifest.agent_faults.value,
        "agent": result.info.agent,
        "max_steps": manifest.max_steps,
        "seed": str(config.seed),
        "shard_index": config.shard_index,
        "num_shards": config.num_shards,
        "run_id": manifest.run_id,
        "version": manifest.versions["agentquest"],
        **_spent(result),
        "per_type": _per_type(result),
        "behaviour": {
            "cleanup_rate": found["avg_cleanup_rate"],
            "consecutive_repetition_rate": found["avg_repetition_rate"],
            "cycle_rate": found["avg_cycle_rate"],
            **found["score_breakdown"],
        },
        "metrics": result.own_metrics,
        "games": [_in_result(game) for game in result.games],
        "notes": result.notes,
    }


def _per_type(result: AssessmentResult) -> dict[str, Any]:
    return {
        entry["task_type"]: {
            "wins": entry["wins"],
            "num_games": entry["scored_games"],
            "errors": entry["errors"],
            "success_rate": entry["success_rate"],
            "avg_steps": entry["avg_steps"],
            "overall_score": entry["overall_score"],
            "cleanup_rate": entry["avg_cleanup_rate"],
            "consecutive_repetition_rate": entry["avg_repetition_rate"],
            "cycle_rate": entry["avg_cycle_rate"],
        }
        for entry in by_type(result.games, result.manifest, result.summary).values()
    }


def _spent(result: AssessmentResult) -> dict[str, Any]:
    """What the agent says its own models took; null where it says nothing."""
    spent = result.summary.spent
    counted = spent.calls > spent.uncounted_calls
    return {
        "model_calls": spent.calls,
        "prompt_tokens": spent.prompt_tokens if counted else None,
        "completion_tokens": spent.completion_tokens if counted else None,
        "cost": spent.cost if spent.calls > spent.unpriced_calls else None,
    }


def summary_document(result: AssessmentResult) -> dict[str, Any]:
    """`run_summary.json`: the documented keys first."""
    manifest, config = result.manifest, result.info.request.config
    found = figures(result.summary.overall)
    scored = [game.record for game in result.games if game.record.scored]
    return {
        "run_metadata": {
            "timestamp": manifest.run_id.removeprefix("run_"),
            "start_time": manifest.created_at,
            "env_config": config.model_dump(mode="json"),
            "train_eval": config.train_eval,
            "max_steps": manifest.max_steps,
            "num_games": result.requested,
            "white_agent_url": result.info.request.agent_url,
            "white_agent": result.info.agent,
        },
        "end_time": result.ended_at,
        "aggregate_metrics": {
            "total_games": found["scored_games"],
            "wins": found["wins"],
            "total_score": sum(record.reward for record in scored),
            "total_steps": sum(len(record.steps) for record in scored),
            "game_results": [game_document(game) for game in result.games],
            "coverage_mode": config.coverage_mode.value,
            "task_type_breakdown": by_type(result.games, manifest, result.summary),
            "time_used": result.seconds,
            "success_rate": found["success_rate"],
            "avg_score": found["avg_score"],
            "avg_steps": found["avg_steps"],
            "avg_cleanup_rate": found["avg_cleanup_rate"],
            "avg_repetition_rate": found["avg_repetition_rate"],
            "avg_cycle_rate": found["avg_cycle_rate"],
            "overall_white_agent_score": found["overall_score"],
            "score_breakdown": found["score_breakdown"],
            "behavior_metrics": behaviour_totals(result.games, result.summary),
            "grade": found["grade"],
            "success_interval": found["success_interval"],
            "requested_games": result.requested,
            "errors": found["errors"],
            "invalid_rate": found["invalid_rate"],
            "spent": asdict(result.summary.spent),
            "metrics": result.own_metrics,
        },
        "total_games": found["scored_games"],
        "game_summaries": [_in_summary(game) for game in result.games],
        "schema_version": SCHEMA_VERSION,
        "status": result.status,
        "run_id": manifest.run_id,
        "notes": result.notes,
        "protocol": manifest.protocol,
        "agent_faults": manifest.agent_faults.value,
        "provenance": manifest.provenance.model_dump(),
        "versions": manifest.versions,
    }


def _in_result(game: Game) -> dict[str, Any]:
    record, behaviour = game.record, game.behaviour
    return {
        "game_idx": str(game.index),
        "gamefile": record.task_id,
        "task_type": record.task_type,
        "won": record.success,
        "score": record.reward,
        "steps": len(record.steps),
        "end_reason": end_reason(record),
        "overall_score": behaviour.overall.overall_score if record.scored else None,
        "cleanup_rate": behaviour.cleanup.cleanup_rate,
        "consecutive_repetition_rate": behaviour.repeated_steps.repetition_rate,
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
        "end_reason": end_reason(game.record),
    }
