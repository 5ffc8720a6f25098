"""The documents of an assessment: files next to those of its run, and the result that is sent.

    logs/run_YYYYMMDD_HHMMSS/
      run_summary.json  run_report.txt  game_000.json  game_000_actions.jsonl …
      config.yaml  manifest.json  episodes.jsonl …     as every run has them

The figures are those of `agentquest report`, with the means of the games' behaviour. They
cover the games that have a score; without such a game they are null. The keys of all
JSON documents are a contract.

A killed run keeps its finished games; the summary is rewritten now and then, and each
file is whole or absent.
"""

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timezone
from functools import cached_property
from statistics import fmean
from typing import Any

from agentquest.a2a import limits
from agentquest.a2a.requests import AssessmentRequest
from agentquest.files import to_json, write_atomically
from agentquest.metrics.behaviour import (
    Breakdown,
    assess_behaviour,
    behaviour_of,
    grade,
    round_graded,
)
from agentquest.metrics.report import Report, Table
from agentquest.metrics.summary import Group
from agentquest.records.episode import EpisodeRecord
from agentquest.records.how import How
from agentquest.records.manifest import Manifest, Verbs
from agentquest.records.outcome import End
from agentquest.reports.render.text import text_report
from agentquest.running.run import Run
from agentquest.safe_text import one_line
from agentquest.words import counted

SCHEMA_VERSION = 2
SUMMARY = "run_summary.json"
REPORT = "run_report.txt"
RUNNING, COMPLETED, CANCELLED, FAILED = "running", "completed", "cancelled", "failed"
_END_REASONS = {
    End.SOLVED: "won",
    End.FAILED: "lost",
    End.STEP_LIMIT: "max_steps",
    End.CONTEXT_LIMIT: "context_limit",
    End.GAVE_UP: "gave_up",
    End.AGENT_FAULT: "agent_error",
    End.INFRASTRUCTURE_FAULT: "env_error",
    End.CANCELLED: "cancelled",
}
_ERRORS = (End.AGENT_FAULT, End.INFRASTRUCTURE_FAULT)
_ERROR_REASONS = ("agent_error", "agent_timeout", "env_error")
_DATA = {
    "real": "real data",
    "builtin": "BUILT-IN data, made by AgentQuest: not comparable with published scores",
}
# Fields that a game's documents have as its record does.
_OF_RECORDS = {
    *("task_type", "split", "goal", "scored", "progress", "error"),
    *("max_steps", "seed", "seconds", "versions"),
}
_OF_STEPS = {"action", "how", "valid", "reply", "observation", "progress", "seconds"}
_RULE = "=" * 70
# Facts of a report that are no business of a requester, or that we state differently.
_OTHER_FACTS = ("data", "data path", "agent", "model")


def end_reason(record: EpisodeRecord) -> str:
    """How a game ended, in the words of the documents."""
    if record.end is End.AGENT_FAULT and record.error and record.error.kind == "timeout":
        return "agent_timeout"
    return _END_REASONS[record.end]


@dataclass(frozen=True)
class AssessedGame:
    """What the documents of an assessment need of one game, made once from its record."""

    document: Mapping[str, Any]
    """`game_NNN.json`: the documented keys first."""
    silent_replies: tuple[str, ...]
    """The replies without text, each with its turn."""

    @classmethod
    def from_record(cls, index: int, record: EpisodeRecord, verbs: Verbs) -> "AssessedGame":
        """Work out the behaviour of a game."""
        behaviour = behaviour_of(record, verbs)
        document = {
            "game_idx": index,
            "timestamp": record.started_at,
            "won": record.success,
            "score": record.reward,
            "steps": len(record.steps),
            "behavior_metrics": asdict(behaviour),
            "cleanup_rate": behaviour.cleanup.cleanup_rate,
            "repetition_rate": behaviour.repeated_steps.repetition_rate,
            "cycle_rate": behaviour.cycles.cycle_rate,
            "schema_version": SCHEMA_VERSION,
            "gamefile": record.task_id,
            "end_reason": end_reason(record),
            "invalid_actions": record.invalid_actions,
            "invalid_rate": record.invalid_actions / len(record.steps) if record.steps else 0.0,
            **record.model_dump(include=_OF_RECORDS),
        }
        silent = (step for step in record.steps if step.how == How.NO_TEXT)
        return cls(document, tuple(f"turn {step.index}: {step.reply}" for step in silent))

    @property
    def executed_share(self) -> float:
        """The share of its commands that the environment carried out; 1 if it had none."""
        counts = self.behaviour["summary"]
        return counts["executed_steps"] / counts["total_steps"] if counts["total_steps"] else 1.0

    @property
    def behaviour(self) -> Mapping[str, Any]:
        """The `behavior_metrics` of the game."""
        found: Mapping[str, Any] = self.document["behavior_metrics"]
        return found


def _action_lines(record: EpisodeRecord) -> str:
    """`game_NNN_actions.jsonl`: every turn in full."""
    lines = (
        {
            "step": step.index,
            **step.model_dump(include=_OF_STEPS),
            "admissible_count": len(step.admissible),
            "usage": [call.model_dump(mode="json") for call in step.calls],
        }
        for step in record.steps
    )
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


@dataclass(frozen=True)
class AssessmentResult:
    """An assessment as far as it went. `status`: running, completed, cancelled or failed."""

    request: AssessmentRequest
    agent: str
    manifest: Manifest
    folder: str
    games: Sequence[AssessedGame]
    report: Report
    status: str
    seconds: float

    @property
    def scored_games(self) -> list[AssessedGame]:
        """The games that have a score."""
        return [game for game in self.games if game.document["scored"]]

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The figures over all games."""
        return _figures(self.report.summary.overall, self.scored_games, self.manifest.verbs)

    @cached_property
    def own_metrics(self) -> dict[str, float | None]:
        """The figures of the metrics that the benchmark or the user added, by key."""
        own = [metric.key for metric in self.report.metrics if metric.path]
        return {key: _value(self.report.summary.overall, key) for key in own}

    @cached_property
    def by_type(self) -> dict[str, Any]:
        """`task_type_breakdown`: `task_1` … for the types that were played."""
        found = {}
        for number, name in enumerate(self.manifest.task_types, start=1):
            group = self.report.summary.by_type.get(name)
            if group is not None:
                games = [game for game in self.scored_games if game.document["task_type"] == name]
                found[f"task_{number}"] = {
                    "name": name.replace("_", " ").title(),
                    "total": group.scored,
                    "scores": [game.document["score"] for game in games],
                    "steps": [game.document["steps"] for game in games],
                    "task_type": name,
                    **_figures(group, games, self.manifest.verbs),
                }
        return found

    @cached_property
    def notes(self) -> list[str]:
        """The manifest's notes, and what the replies suggest is wrong with the agent."""
        return [*self.manifest.notes, *describe_silence(self.games)]


def describe_silence(games: Sequence[AssessedGame]) -> list[str]:
    """A sentence on replies without text, so that they are not taken for bad play."""
    silent = [(game, reply) for game in games for reply in game.silent_replies]
    if not silent:
        return []
    replies = sum(game.document["steps"] for game in games)
    game, reply = silent[0]
    return [
        f"{len(silent)} of {counted(replies, 'reply')} had no text;"
        f" first: game {game.document['game_idx'] + 1}, {reply}"
    ]


def _value(group: Group, key: str) -> float | None:
    """A figure's number; None where no game has one."""
    found = group.figures[key]
    return None if found is None else found.value


def _mean(games: Sequence[AssessedGame], part: str, key: str) -> float | None:
    """The mean of a part of the games' behaviour."""
    return fmean(game.behaviour[part][key] for game in games) if games else None


def _figures(group: Group, scored: Sequence[AssessedGame], verbs: Verbs) -> dict[str, Any]:
    """The figures over some games; the same for a task type and for a run."""
    success, behaviour = group.figures["success"], _value(group, "behaviour")
    # Its points are a part of the score only where there is something to open.
    tidied = scored if verbs.open else ()
    points = [game.behaviour["overall"]["unrounded_breakdown"] for game in scored]
    return {
        "games": group.episodes,
        "scored_games": group.scored,
        "errors": sum(group.ends.get(end, 0) for end in _ERRORS),
        "wins": group.successes,
        "success_rate": success.value if success else None,
        "success_interval": [success.low, success.high] if success else None,
        "avg_score": _value(group, "reward"),
        "avg_steps": _value(group, "steps"),
        "avg_cleanup_rate": _mean(tidied, "cleanup", "cleanup_rate"),
        "avg_repetition_rate": _mean(scored, "repeated_steps", "repetition_rate"),
        "avg_cycle_rate": _mean(scored, "cycles", "cycle_rate"),
        "overall_score": None if behaviour is None else round_graded(behaviour)[0],
        "grade": None if behaviour is None else grade(behaviour),
        "score_breakdown": {
            part.name: round(fmean(game[part.name] for game in points), 2) if points else None
            for part in fields(Breakdown)
        },
        "invalid_rate": _value(group, "invalid"),
    }


def _behaviour_totals(result: AssessmentResult) -> dict[str, Any]:
    """`behavior_metrics` of a run: sums and maxima over the scored games, and the figures."""
    games = [game.behaviour for game in result.scored_games]
    figures = result.figures

    def add_up(part: str, *keys: str) -> dict[str, Any]:
        return {key: sum(game[part][key] for game in games) for key in keys}

    opens = ("total_opens", "correct_close_count", "remaining_open_count")
    repeats = [game["repeated_steps"]["max_repeat_length"] for game in games]
    return {
        "repeated_steps": {
            **add_up("repeated_steps", "repeated_count"),
            "avg_repetition_rate": figures["avg_repetition_rate"],
            "max_repeat_length": max(repeats, default=0),
        },
        "cleanup": {
            **add_up("cleanup", *opens),
            "games_with_opens": sum(game["cleanup"]["applicable"] for game in games),
            "avg_cleanup_rate": figures["avg_cleanup_rate"],
        },
        "cycles": {
            **add_up("cycles", "cycles_detected", "wasted_steps"),
            "avg_cycle_rate": figures["avg_cycle_rate"],
        },
        "exploration": {
            "avg_exploration_efficiency": _mean(
                result.scored_games, "exploration", "exploration_efficiency"
            ),
            **add_up("exploration", "revisit_count"),
        },
        "overall": {
            "avg_overall_score": figures["overall_score"],
            "avg_grade": figures["grade"],
            "breakdown": figures["score_breakdown"],
        },
    }


def result_document(result: AssessmentResult) -> dict[str, Any]:
    """The flat object of the result artifact, which leaderboards query."""
    manifest, config, figures = result.manifest, result.request.config, result.figures
    low, high = figures["success_interval"] or (None, None)
    requested, spent = manifest.requested, result.report.summary.spent
    has_counts = spent.calls > spent.uncounted_calls
    return {
        **_pick(figures, "success_rate", "avg_score", "avg_steps", "overall_score", "wins"),
        "num_games": figures["scored_games"],
        "time_used": round(result.seconds, 3),
        "coverage_mode": config.coverage_mode.value,
        "split": manifest.provenance.split,
        "requested_games": requested,
        "errors": figures["errors"],
        "win_share_of_requested": figures["wins"] / requested if requested else None,
        "success_low": low,
        "success_high": high,
        **_pick(figures, "grade", "invalid_rate"),
        "benchmark": manifest.benchmark,
        "data": manifest.provenance.data,
        "protocol": manifest.protocol or "none",
        "agent_faults": manifest.agent_faults.value,
        "agent": result.agent,
        "max_steps": manifest.max_steps,
        "seed": str(config.seed),
        "shard_index": config.shard_index,
        "num_shards": config.num_shards,
        "run_id": manifest.run_id,
        "version": manifest.versions["agentquest"],
        # What the agent says that its own models took; null where it says nothing.
        "model_calls": spent.calls,
        "prompt_tokens": spent.prompt_tokens if has_counts else None,
        "completion_tokens": spent.completion_tokens if has_counts else None,
        "cost": spent.cost if spent.calls else None,
        "per_type": {
            entry["task_type"]: {
                **_pick(entry, "wins", "errors", "success_rate", "avg_steps", "overall_score"),
                "num_games": entry["scored_games"],
                **_behaviour_rates(entry),
            }
            for entry in result.by_type.values()
        },
        "behaviour": {**_behaviour_rates(figures), **figures["score_breakdown"]},
        "metrics": result.own_metrics,
        "games": [_game_in_result(game) for game in result.games],
        "notes": result.notes,
    }


def _game_in_result(game: AssessedGame) -> dict[str, Any]:
    document = game.document
    error, overall = document["error"], game.behaviour["overall"]["overall_score"]
    return {
        "game_idx": str(document["game_idx"]),
        **_pick(document, "gamefile", "task_type", "won", "score", "steps", "end_reason"),
        "overall_score": overall if document["scored"] else None,
        "consecutive_repetition_rate": document["repetition_rate"],
        **_pick(document, "cleanup_rate", "cycle_rate", "invalid_actions"),
        "error": f"{error['kind']}: {error['message']}" if error else None,
    }


def _behaviour_rates(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "cleanup_rate": figures["avg_cleanup_rate"],
        "consecutive_repetition_rate": figures["avg_repetition_rate"],
        "cycle_rate": figures["avg_cycle_rate"],
    }


def summary_document(result: AssessmentResult) -> dict[str, Any]:
    """`run_summary.json`: the documented keys first."""
    manifest, config, figures = result.manifest, result.request.config, result.figures
    scored = [game.document for game in result.scored_games]
    rates = ("avg_cleanup_rate", "avg_repetition_rate", "avg_cycle_rate")
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return {
        "run_metadata": {
            "timestamp": manifest.run_id.removeprefix("run_"),
            "start_time": manifest.created_at,
            "env_config": config.model_dump(mode="json"),
            "train_eval": config.train_eval,
            "max_steps": manifest.max_steps,
            "num_games": manifest.requested,
            "white_agent_url": result.request.agent_url,
            "white_agent": result.agent,
        },
        "end_time": None if result.status == RUNNING else now,
        "aggregate_metrics": {
            "total_games": figures["scored_games"],
            "wins": figures["wins"],
            "total_score": sum(document["score"] for document in scored),
            "total_steps": sum(document["steps"] for document in scored),
            "game_results": [game.document for game in result.games],
            "coverage_mode": config.coverage_mode.value,
            "task_type_breakdown": result.by_type,
            "time_used": result.seconds,
            **_pick(figures, "success_rate", "avg_score", "avg_steps", *rates),
            "overall_white_agent_score": figures["overall_score"],
            "behavior_metrics": _behaviour_totals(result),
            **_pick(figures, "score_breakdown", "grade", "success_interval", "errors"),
            "requested_games": manifest.requested,
            "invalid_rate": figures["invalid_rate"],
            "spent": result.report.summary.spent.plain(),
            "metrics": result.own_metrics,
        },
        "total_games": figures["scored_games"],
        "game_summaries": [
            {
                **_pick(game.document, "game_idx", "won", "steps", "score"),
                "behavior_score": game.behaviour["overall"]["overall_score"],
                **_pick(game.document, "task_type", "end_reason"),
            }
            for game in result.games
        ],
        "schema_version": SCHEMA_VERSION,
        "status": result.status,
        "run_id": manifest.run_id,
        "notes": result.notes,
        "protocol": manifest.protocol,
        "agent_faults": manifest.agent_faults.value,
        "provenance": manifest.provenance.model_dump(),
        "versions": manifest.versions,
    }


def _pick(source: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: source[key] for key in keys}


def report_text(result: AssessmentResult) -> str:
    """`run_report.txt`."""
    title = f"{result.manifest.benchmark_title.upper()} EVALUATION REPORT"
    return (
        f"{_RULE}\n{title}\n{_RULE}\n{_render(result)}\nFull logs available at: {result.folder}\n"
    )


def answer_text(result: AssessmentResult) -> str:
    """What the green agent answers at the end of an assessment; it contains no paths."""
    title = f"{result.manifest.benchmark_title.upper()} assessment of {one_line(result.agent)}"
    outcome = "Completed Task" if result.figures["wins"] else "Failed to complete task"
    return f"{title}\nResult: {outcome}\n\n{_render(result)}"


def _render(result: AssessmentResult) -> str:
    """The report of the run, with what only assessments have."""
    report, manifest, figures = result.report, result.manifest, result.figures
    data, unplayed = manifest.provenance.data, manifest.requested - len(result.games)
    facts = [
        ("assessed agent", f"{result.agent} at {result.request.agent_url}"),
        ("status", result.status),
        ("wins", f"{figures['wins']} of {counted(manifest.requested, 'game')} requested"),
        *([("not played", counted(unplayed, "game"))] if unplayed else []),
        ("time used", f"{result.seconds:.2f} s"),
        ("data", _DATA.get(data, data)),
        *(fact for fact in report.facts if fact[0] not in _OTHER_FACTS),
    ]
    tables = (*report.tables, _error_table(result), _behaviour_table(result))
    notes = [one_line(f"Note: {note}") for note in result.notes]
    if report.summary.spent.calls:
        notes.insert(0, "Tokens and cost are as the agent reports them.")
    return text_report(
        replace(
            report,
            facts=tuple(facts),
            # Requesters must not see where the run is.
            warnings=tuple(
                warning.replace(f"{result.folder}{os.sep}", "") for warning in report.warnings
            ),
            tables=tuple(table for table in tables if table.rows),
            notes=(*report.notes, *notes),
        )
    )


def _behaviour_table(result: AssessmentResult) -> Table:
    totals, verbs = _behaviour_totals(result), result.manifest.verbs
    repeated, cleanup, cycles = totals["repeated_steps"], totals["cleanup"], totals["cycles"]
    figures, letter = result.figures, result.figures["grade"] or "–"
    best = asdict(assess_behaviour(("look",), won=True, verbs=verbs).overall.breakdown)
    rows = [
        (
            "overall score",
            f"{_format(figures['overall_score'])}/100 (grade {letter})",
        ),
        *(
            (name.replace("_", " "), f"{_format(figures['score_breakdown'][name])}/{points:g}")
            for name, points in best.items()
            if points
        ),
        (
            "consecutive repetition",
            f"{_percent(figures['avg_repetition_rate'])} of commands,"
            f" {repeated['repeated_count']} in total, longest run {repeated['max_repeat_length']}",
        ),
        (
            "cycles",
            f"{_percent(figures['avg_cycle_rate'])} of commands,"
            f" {cycles['cycles_detected']} found, {counted(cycles['wasted_steps'], 'step')} wasted",
        ),
    ]
    if verbs.open:
        opening = counted(cleanup["games_with_opens"], "game")
        closed = f"{cleanup['correct_close_count']} of {cleanup['total_opens']} closed again"
        rate = _percent(figures["avg_cleanup_rate"])
        rows.append(("cleanup", f"{rate}, {closed} in the {opening} that opened something"))
    idle = [game for game in result.scored_games if game.executed_share < 1]
    if idle:
        share = fmean(game.executed_share for game in result.scored_games)
        rows.append(
            (
                "carried out",
                f"{share:.1%} of commands; in {counted(len(idle), 'game')} not all were, and the"
                " points for conduct count by that share",
            )
        )
    return Table("Behavior metrics (averaged)", ("what", "how much"), tuple(rows))


def _error_table(result: AssessmentResult) -> Table:
    """Every game that ended in an error, with its reason."""
    rows = []
    for game in result.games:
        number, reason, task, error = (
            game.document[key] for key in ("game_idx", "end_reason", "gamefile", "error")
        )
        if reason in _ERROR_REASONS:
            message = error["message"][: limits.MAX_REASON_CHARACTERS] if error else ""
            rows.append((f"game {number + 1}", f"{reason}: {message} ({task})"))
    return Table("Errors", ("game", "reason"), tuple(rows))


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f}%"


def _format(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:.{round_graded(figure)[1]}f}"


class AssessmentDocuments:
    """Writes the documents of one run, from what it has played so far."""

    def __init__(self, run: Run, request: AssessmentRequest, agent: str) -> None:
        self._run = run
        self._request = request
        self._agent = agent
        self._folder = run.directory.path
        self._started = time.monotonic()
        self._places = {task: place for place, task in enumerate(run.stored.manifest.task_ids)}
        self._games: dict[str, AssessedGame] = {}
        self._writing = threading.Lock()
        self._is_over = False

    def add_game(self, record: EpisodeRecord) -> AssessedGame:
        """Take in a game that has ended or was stopped."""
        place, verbs = self._places[record.task_id], self._run.benchmark.verbs
        game = self._games[record.key] = AssessedGame.from_record(place, record, verbs)
        return game

    def write_game(self, record: EpisodeRecord) -> None:
        """Write `game_NNN.json` and `game_NNN_actions.jsonl`."""
        game = self._games[record.key]
        name = f"game_{game.document['game_idx']:03d}"
        write_atomically(self._folder / f"{name}_actions.jsonl", _action_lines(record))
        write_atomically(self._folder / f"{name}.json", to_json(game.document))

    def write(self, status: str) -> AssessmentResult:
        """Write `run_summary.json` and `run_report.txt`."""
        result = self._result(status)
        with self._writing:
            # A late checkpoint must not overwrite the end.
            if status != RUNNING or not self._is_over:
                self._is_over = status != RUNNING
                write_atomically(self._folder / SUMMARY, to_json(summary_document(result)))
                write_atomically(self._folder / REPORT, report_text(result))
        return result

    def _result(self, status: str) -> AssessmentResult:
        run, manifest = self._run, self._run.stored.manifest
        rows, records = run.rows, run.records
        # Only games that an earlier part of the run played are read from disk, once.
        games = [
            self._games.get(row.key) or self.add_game(records[place])
            for place, row in enumerate(rows)
        ]
        return AssessmentResult(
            request=self._request,
            agent=self._agent,
            manifest=manifest,
            folder=str(self._folder),
            games=games,
            report=run.stored.report,
            status=status,
            seconds=time.monotonic() - self._started,
        )
