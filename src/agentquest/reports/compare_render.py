"""A comparison as text, Markdown and JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from agentquest.metrics.statistics import Estimate
from agentquest.reports.compare import Comparison
from agentquest.reports.markdown import markdown_table
from agentquest.reports.safe_text import markdown_text, one_line
from agentquest.reports.text import aligned

SCHEMA_VERSION = 1


def text_comparison(comparisons: Sequence[Comparison]) -> str:
    blocks = []
    for comparison in comparisons:
        parts = [
            f"{one_line(comparison.other)}\n  against {one_line(comparison.baseline)} (baseline)",
            *(f"!!! {one_line(warning)}" for warning in comparison.warnings),
            aligned([["", "difference", "95% interval"], *_rows(comparison)]),
            "\n".join(f"  {one_line(line)}" for line in _sentences(comparison)),
        ]
        for title, tasks in _lists(comparison):
            listed = "\n".join(f"  {one_line(task)}" for task in tasks)
            parts.append(f"{title} ({len(tasks)})\n{listed}")
        blocks.append("\n\n".join(parts))
    blocks += _closing(comparisons)
    return "\n\n".join(blocks) + "\n"


def markdown_comparison(comparisons: Sequence[Comparison]) -> str:
    parts = []
    for comparison in comparisons:
        other, baseline = markdown_text(comparison.other), markdown_text(comparison.baseline)
        parts.append(f"## {other} against {baseline} (baseline)")
        parts += [f"> **Warning:** {markdown_text(line)}" for line in comparison.warnings]
        parts.append(markdown_table(("", "difference", "95% interval"), _rows(comparison)))
        parts.append("\n".join(f"- {markdown_text(line)}" for line in _sentences(comparison)))
        for title, tasks in _lists(comparison):
            listed = "\n".join(f"- {markdown_text(task)}" for task in tasks)
            parts.append(f"### {title} ({len(tasks)})\n\n{listed}")
    parts += _closing(comparisons)
    return "\n\n".join(parts) + "\n"


def json_comparison(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Plain data; differences are other minus baseline, rates are fractions of 1."""
    return {
        "schema_version": SCHEMA_VERSION,
        "comparisons": [asdict(comparison) for comparison in comparisons],
    }


def _rows(comparison: Comparison) -> list[list[str]]:
    success = comparison.success
    low, high = success.low * 100, success.high * 100
    return [
        ["success", f"{success.value * 100:+.1f} points", f"[{low:+.1f}, {high:+.1f}]"],
        _mean_row("steps", comparison.steps, 1),
        _mean_row("progress", comparison.progress, 3),
        _mean_row("reward", comparison.reward, 3),
    ]


def _mean_row(name: str, estimate: Estimate, digits: int) -> list[str]:
    interval = f"[{estimate.low:+.{digits}f}, {estimate.high:+.{digits}f}]"
    return [name, f"{estimate.value:+.{digits}f}", interval]


def _sentences(comparison: Comparison) -> list[str]:
    counts = comparison.counts
    by_first = " (by the first scored trial of each task)" if comparison.several_trials else ""
    lines = [
        f"{comparison.tasks} tasks scored in both runs: success"
        f" {comparison.baseline_success:.1%} in the baseline, {comparison.other_success:.1%} here",
        f"solved by both {counts.both}, by neither {counts.neither}, only by the baseline"
        f" {counts.only_first}, only here {counts.only_second}{by_first}",
        f"exact McNemar test, two-sided: p = {_p(comparison.p_value)}{by_first}",
    ]
    if comparison.several_trials:
        lines.append("several trials: each task counts by the mean of its scored trials")
    unscored = comparison.unscored_episodes
    if any(unscored):
        lines.append(
            f"episodes without a score, left out: {unscored[0]} in the baseline, {unscored[1]} here"
        )
    return lines


def _lists(comparison: Comparison) -> list[tuple[str, tuple[str, ...]]]:
    left_out = comparison.left_out
    lists = [
        ("Won in the baseline, lost here", comparison.won_to_lost),
        ("Lost in the baseline, won here", comparison.lost_to_won),
        ("Same name, different data", comparison.changed_data),
        ("Left out: only in the baseline", left_out.only_in_baseline),
        ("Left out: only here", left_out.only_in_other),
        ("Left out: no score in the baseline", left_out.unscored_in_baseline),
        ("Left out: no score here", left_out.unscored_in_other),
    ]
    return [(title, tasks) for title, tasks in lists if tasks]


def _closing(comparisons: Sequence[Comparison]) -> list[str]:
    if len(comparisons) < 2:
        return []
    number = len(comparisons)
    return [f"The {number} p-values are not corrected for there being {number} of them."]


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"
