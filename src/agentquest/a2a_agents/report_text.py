"""`run_report.txt`, and the summary that the green agent answers with."""

from typing import Any

from agentquest.a2a_agents.figures import aggregate, behaviour_totals, by_type
from agentquest.a2a_agents.results import Finding

_WIDE = "=" * 70
_THIN = "-" * 70
_PARTS = (
    ("Completion", "completion_score", 40),
    ("Cleanup", "cleanup_score", 20),
    ("Repetition", "repetition_score", 20),
    ("Cycles", "cycle_score", 20),
)


def report_text(finding: Finding) -> str:
    """The report of a run, for people."""
    lines = [
        _WIDE,
        f"{finding.meta.request.config.benchmark.upper()} EVALUATION REPORT",
        _WIDE,
        f"Run ID: {finding.run_id}",
        f"Agent: {finding.meta.agent} at {finding.meta.request.agent_url}",
        f"Status: {finding.status}",
        "",
        *_summary(finding),
        "",
        *_behaviour(finding),
        "",
        *_types(finding),
        *_games(finding),
        *(f"Note: {note}" for note in finding.meta.all_notes),
        f"Full logs available at: {finding.folder}",
    ]
    return "\n".join(lines) + "\n"


def answer_text(finding: Finding) -> str:
    """What the green agent says at the end of an assessment."""
    figures = aggregate(finding.games)
    won = "Completed Task" if figures["wins"] else "Failed to complete task"
    return "\n".join(
        [
            f"{finding.meta.request.config.benchmark.upper()} assessment of {finding.meta.agent}",
            f"Result: {won}",
            "",
            *_summary(finding),
            "",
            *_behaviour(finding),
            "",
            *_types(finding),
            *_games(finding),
            *(f"Note: {note}" for note in finding.meta.all_notes),
            f"Logs: {finding.folder}",
        ]
    )


def _summary(finding: Finding) -> list[str]:
    figures = aggregate(finding.games)
    lines = [
        "SUMMARY",
        _THIN,
        f"Total Games: {figures['scored_games']} (of {finding.requested} requested)",
        f"Wins: {figures['wins']}",
        f"Success Rate: {_percent(figures['success_rate'])}{_interval(figures)}",
        f"Average Score: {_number(figures['avg_score'], 2)}",
        f"Average Steps: {_number(figures['avg_steps'], 1)}",
        f"Invalid Actions: {_percent(figures['invalid_rate'])} of all turns",
        f"Time Used: {finding.seconds:.2f}s",
    ]
    if figures["errors"]:
        lines.append(
            f"Errors: {figures['errors']} games ended in an error and are in no figure; see below"
        )
    unplayed = finding.requested - len(finding.games)
    if unplayed:
        lines.append(f"Not played: {unplayed} games")
    return lines


def _behaviour(finding: Finding) -> list[str]:
    totals = behaviour_totals(finding.games)
    repeated, cleanup, cycles = totals["repeated_steps"], totals["cleanup"], totals["cycles"]
    overall = totals["overall"]
    return [
        "BEHAVIOR METRICS (Averaged)",
        _THIN,
        "Repeated Steps:",
        f"  Total repetitions: {repeated['repeated_count']}",
        f"  Repetition rate: {_percent(repeated['avg_repetition_rate'])}",
        f"  Max consecutive: {repeated['max_repeat_length']}",
        "Cleanup Behavior:",
        f"  Total opens: {cleanup['total_opens']} (in {cleanup['games_with_opens']} games)",
        f"  Correctly closed: {cleanup['correct_close_count']}",
        f"  Remaining open: {cleanup['remaining_open_count']}",
        f"  Cleanup rate: {_percent(cleanup['avg_cleanup_rate'])}",
        "Action Cycles:",
        f"  Cycles detected: {cycles['cycles_detected']}",
        f"  Cycle rate: {_percent(cycles['avg_cycle_rate'])}",
        f"  Wasted steps: {cycles['wasted_steps']}",
        f"Overall Score: {_number(overall['avg_overall_score'], 2)}/100"
        f" (grade {overall['avg_grade'] or '–'})",
        "Score Breakdown:",
        *(
            f"  {name}: {_number(overall['breakdown'][key], 2)}/{most}"
            for name, key, most in _PARTS
        ),
    ]


def _types(finding: Finding) -> list[str]:
    entries = by_type(finding.games, finding.meta.type_numbers).values()
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


def _games(finding: Finding) -> list[str]:
    """Errors one by one: a game without a score needs its reason."""
    failed = [game for game in finding.games if game.record.error is not None]
    if not failed:
        return []
    lines = ["ERRORS", _THIN]
    for game in failed:
        error = game.record.error
        assert error is not None
        lines.append(
            f"game {game.index + 1} ({game.record.task_id}): {game.record.end.value}: "
            f"{error.message[:300]}"
        )
    return [*lines, ""]


def _interval(figures: dict[str, Any]) -> str:
    if figures["success_interval"] is None:
        return ""
    low, high = figures["success_interval"]
    return f" (95% interval {low * 100:.1f}–{high * 100:.1f}%)"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:.1f}%"


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
