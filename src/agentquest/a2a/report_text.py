"""`run_report.txt`, and the summary that the green agent answers with.

Names, errors and replies are other people's words: each is shown on one line,
with whatever would act on a terminal made visible.
"""

from dataclasses import asdict
from typing import Any

from agentquest.a2a.figures import (
    FAILED_ENDS,
    behaviour_totals,
    by_type,
    end_reason,
    figures,
    own_metrics,
)
from agentquest.a2a.results import AssessmentResult
from agentquest.metrics.behaviour import assess_behaviour
from agentquest.metrics.table import Metric
from agentquest.reports.model import tokens_text
from agentquest.reports.safe_text import one_line
from agentquest.words import counted

_WIDE = "=" * 70
_THIN = "-" * 70
_LONGEST_REASON = 300
_DATA = {
    "real": "real data",
    "builtin": "BUILT-IN data, made by AgentQuest: not comparable with published scores",
}


def report_text(result: AssessmentResult) -> str:
    """The report of a run, for people."""
    agent = f"{one_line(result.info.agent)} at {one_line(result.info.request.agent_url)}"
    lines = [
        _WIDE,
        f"{result.manifest.benchmark_title.upper()} EVALUATION REPORT",
        _WIDE,
        f"Run ID: {result.manifest.run_id}",
        f"Agent: {agent}",
        f"Status: {result.status}",
        "",
        *_body(result),
        f"Full logs available at: {result.folder}",
    ]
    return "\n".join(lines) + "\n"


def answer_text(result: AssessmentResult) -> str:
    """What the green agent says at the end of an assessment."""
    won = "Completed Task" if result.summary.overall.successes else "Failed to complete task"
    title = result.manifest.benchmark_title.upper()
    lines = [
        f"{title} assessment of {one_line(result.info.agent)}",
        f"Result: {won}",
        "",
        *_body(result),
        f"Run: {result.manifest.run_id}",
    ]
    return "\n".join(lines)


def _body(result: AssessmentResult) -> list[str]:
    return [
        *_summary(result),
        "",
        *_behaviour(result),
        "",
        *_types(result),
        *_errors(result),
        *(f"Note: {one_line(note)}" for note in result.notes),
    ]


def _summary(result: AssessmentResult) -> list[str]:
    found, manifest = figures(result.summary.overall), result.manifest
    data = manifest.provenance.data
    lines = [
        "SUMMARY",
        _THIN,
        f"Data: {_DATA.get(data, data)}, split {manifest.provenance.split}",
        f"Protocol: {manifest.protocol or 'none (settings of its own)'}",
        f"Total Games: {found['scored_games']} (of {result.requested} requested)",
        f"Wins: {found['wins']} of {counted(result.requested, 'game')} requested",
        f"Success Rate: {_percent(found['success_rate'])}{_interval(found)}",
        f"Average Score: {_number(found['avg_score'], 2)}",
        f"Average Steps: {_number(found['avg_steps'], 1)}",
        f"Invalid Actions: {_percent(found['invalid_rate'])} of all turns",
        *(
            f"{metric.heading.capitalize()}: {_written(metric, result.own_metrics[metric.key])}"
            for metric in own_metrics(result.manifest)
        ),
        *_spent(result),
        f"Time Used: {result.seconds:.2f}s",
    ]
    if found["errors"]:
        lines.append(f"Errors: {counted(found['errors'], 'game')} ended in an error; see below")
    unscored = len(result.games) - found["scored_games"]
    if unscored:
        games = counted(unscored, "game")
        lines.append(f"Without a score: {games}, lost to a failure on the green agent's side")
    unplayed = result.requested - len(result.games)
    if unplayed:
        lines.append(f"Not played: {counted(unplayed, 'game')}")
    return lines


def _spent(result: AssessmentResult) -> list[str]:
    spent = result.summary.spent
    if not spent.calls:
        return []
    cost = "unknown" if spent.unpriced_calls == spent.calls else f"{spent.cost:.4f}"
    return [
        f"Model Calls: {spent.calls:,}, as the agent says:"
        f" {tokens_text(spent, spent.prompt_tokens)} prompt and"
        f" {tokens_text(spent, spent.completion_tokens)} completion tokens, cost {cost}"
    ]


def _behaviour(result: AssessmentResult) -> list[str]:
    totals = behaviour_totals(result.games, result.summary)
    repeated, cleanup, cycles = totals["repeated_steps"], totals["cleanup"], totals["cycles"]
    overall = totals["overall"]
    perfect = assess_behaviour(("look",), won=True, verbs=result.manifest.verbs)
    most = asdict(perfect.overall.breakdown)
    return [
        "BEHAVIOR METRICS (Averaged)",
        _THIN,
        "Consecutive Repetition (the same command again at once):",
        f"  Total: {repeated['repeated_count']}",
        f"  Rate: {_percent(repeated['avg_repetition_rate'])}",
        f"  Longest run: {repeated['max_repeat_length']}",
        *(_cleanup(cleanup) if result.manifest.verbs.open else ()),
        "Action Cycles:",
        f"  Cycles detected: {cycles['cycles_detected']}",
        f"  Rate: {_percent(cycles['avg_cycle_rate'])}",
        f"  Wasted steps: {cycles['wasted_steps']}",
        f"Overall Score: {_number(overall['avg_overall_score'], 2)}/100"
        f" (grade {overall['avg_grade'] or '–'})",
        "Score Breakdown:",
        *(
            f"  {key.removesuffix('_score').title()}:"
            f" {_number(overall['breakdown'][key], 2)}/{points:g}"
            for key, points in most.items()
            if points
        ),
    ]


def _cleanup(cleanup: dict[str, Any]) -> list[str]:
    return [
        "Cleanup Behavior:",
        f"  Closed again: {cleanup['correct_close_count']} of {cleanup['total_opens']} opened"
        f" (in {counted(cleanup['games_with_opens'], 'game')})",
        f"  Remaining open: {cleanup['remaining_open_count']}",
        f"  Rate: {_percent(cleanup['avg_cleanup_rate'])} in games where something was opened",
    ]


def _types(result: AssessmentResult) -> list[str]:
    entries = by_type(result.games, result.manifest, result.summary).values()
    if not entries:
        return []
    width = max(len(entry["name"]) for entry in entries)
    return [
        "BY TASK TYPE",
        _THIN,
        *(
            f"{entry['name']:<{width}}  {entry['wins']}/{entry['scored_games']} won"
            f"  steps {_number(entry['avg_steps'], 1)}"
            f"  score {_number(entry['overall_score'], 1)}"
            + (f"  errors {entry['errors']}" if entry["errors"] else "")
            for entry in entries
        ),
        "",
    ]


def _errors(result: AssessmentResult) -> list[str]:
    """One by one: a game that ended in an error needs its reason."""
    failed = [game for game in result.games if game.record.end in FAILED_ENDS]
    if not failed:
        return []
    lines = ["ERRORS", _THIN]
    for game in failed:
        message = game.record.error.message if game.record.error else ""
        lines.append(
            f"game {game.index + 1} ({one_line(game.record.task_id)}):"
            f" {end_reason(game.record)}: {one_line(message[:_LONGEST_REASON])}"
        )
    return [*lines, ""]


def _interval(found: dict[str, Any]) -> str:
    if found["success_interval"] is None:
        return ""
    low, high = found["success_interval"]
    return f" (95% interval {low * 100:.1f}–{high * 100:.1f}%)"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f}%"


def _number(figure: float | None, digits: int) -> str:
    return "–" if figure is None else f"{figure:.{digits}f}"


def _written(metric: Metric, figure: float | None) -> str:
    return "–" if figure is None else metric.written(figure)
