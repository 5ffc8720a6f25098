"""A comparison as text, Markdown and JSON: the answer first, then the figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from agentquest.metrics.power import POWER, find_detectable
from agentquest.metrics.report import Table
from agentquest.metrics.statistics import CLEAR, can_differ
from agentquest.metrics.table import PERCENT
from agentquest.reports.compare import Comparison, Difference
from agentquest.reports.render.text import WIDTH, markdown_table, text_table, wrap_text
from agentquest.safe_text import markdown_text, one_line
from agentquest.words import counted

SCHEMA_VERSION = 2


def text_comparison(
    comparisons: Sequence[Comparison], width: int = WIDTH, list_tasks: bool = False
) -> str:
    """For the terminal; `list_tasks` names every task whose success changed."""
    parts = [wrap_text(one_line(answer(one)), width) for one in comparisons]
    for comparison in comparisons:
        title = f"{one_line(comparison.other)} against {one_line(comparison.baseline)} (baseline)"
        parts.append(wrap_text(title, width, "  "))
        parts += [wrap_text(f"!!! {one_line(line)}", width, "    ") for line in comparison.warnings]
        parts += [text_table(table, width) for table in difference_tables(comparison)]
        parts.append("\n".join(wrap_text(line, width) for line in sentences(comparison)))
        for name, tasks in _lists(comparison) if list_tasks else ():
            listed = "\n".join(f"  {one_line(task)}" for task in tasks)
            parts.append(f"{name} ({len(tasks)})\n{listed}")
    parts += [wrap_text(line, width) for line in _closing(comparisons, list_tasks)]
    return "\n\n".join(parts) + "\n"


def markdown_comparison(comparisons: Sequence[Comparison], list_tasks: bool = False) -> str:
    """For documents and issues; `list_tasks` names every task whose success changed."""
    parts = [f"**{markdown_text(answer(one))}**" for one in comparisons]
    for comparison in comparisons:
        other, baseline = markdown_text(comparison.other), markdown_text(comparison.baseline)
        parts.append(f"## {other} against {baseline} (baseline)")
        parts += [f"> **Warning:** {markdown_text(line)}" for line in comparison.warnings]
        parts += [markdown_table(table) for table in difference_tables(comparison)]
        parts.append("\n".join(f"- {markdown_text(line)}" for line in sentences(comparison)))
        for name, tasks in _lists(comparison) if list_tasks else ():
            listed = "\n".join(f"- {markdown_text(task)}" for task in tasks)
            parts.append(f"### {name} ({len(tasks)})\n\n{listed}")
    parts += [markdown_text(line) for line in _closing(comparisons, list_tasks)]
    return "\n\n".join(parts) + "\n"


def json_comparison(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Plain data; differences are other minus baseline, rates are fractions of 1."""
    return {
        "schema_version": SCHEMA_VERSION,
        "comparisons": [
            {
                "answer": answer(one),
                **vars(one),
                "detectable_difference": find_detectable(one.success.spread),
                "differences": _plain(one.differences),
                "by_type": _plain(one.by_type),
            }
            for one in comparisons
        ],
    }


def _plain(differences: Mapping[str, Difference]) -> dict[str, Any]:
    return {
        key: {
            "metric": found.metric.key,
            "baseline": found.baseline,
            "other": found.other,
            "difference": asdict(found.difference),
            "p_value": found.p_value,
            "corrected_p_value": found.corrected_p_value,
        }
        for key, found in differences.items()
    }


def answer(comparison: Comparison) -> str:
    """Whether the runs differ in success, and how sure that is, in one sentence."""
    success = comparison.success
    tasks, shown = counted(comparison.tasks, "task"), _row(success)
    p_value = _state_p(success.p_value)
    if success.corrected_p_value != success.p_value:
        p_value += f", {_state_p(success.corrected_p_value)} after Holm's correction"
    if not can_differ(comparison.tasks, comparison.trials):
        verdict = f"With {tasks} no difference can reach p < {CLEAR:g}"
    elif success.p_value < CLEAR:
        word = "more" if success.difference.value > 0 else "less"
        verdict = f"{comparison.other} solves {word} than {comparison.baseline}"
        if success.corrected_p_value >= CLEAR:
            verdict += ", but not if corrected for the number of comparisons"
    else:
        verdict = f"No clear difference between {comparison.other} and {comparison.baseline}"
    return f"{verdict}: {shown[2]} against {shown[1]} of {tasks}, {shown[3]} {shown[4]}, {p_value}."


def difference_tables(comparison: Comparison) -> list[Table]:
    """Every metric of both runs, its difference, and how sure that is; then success by type."""
    headings = ("baseline", "other", "difference", "95% interval", "p", "p (Holm)")
    rows = tuple(_row(difference) for difference in comparison.differences.values())
    tables = [Table("Differences", ("metric", *headings), rows)]
    if comparison.by_type:
        rows = tuple(
            (name, str(found.difference.tasks), *_row(found)[1:])
            for name, found in comparison.by_type.items()
        )
        tables.append(Table("Success by task type", ("task type", "tasks", *headings), rows))
    return tables


def _row(found: Difference) -> tuple[str, ...]:
    metric, difference = found.metric, found.difference
    value, low, high = (
        metric.format_value(number, "+").removesuffix("%")
        for number in (difference.value, difference.low, difference.high)
    )
    return (
        metric.heading,
        metric.format_value(found.baseline),
        metric.format_value(found.other),
        f"{value} points" if metric.unit == PERCENT else value,
        f"[{low}, {high}]",
        _format_p(found.p_value),
        _format_p(found.corrected_p_value),
    )


def _format_p(p_value: float) -> str:
    """Rounded to 4 decimals, but never across the limit that decides the verdict."""
    if p_value < 0.0001:
        return "< 0.0001"
    text = f"{p_value:.4f}"
    return text if (float(text) < CLEAR) == (p_value < CLEAR) else f"{p_value:.6f}"


def _state_p(p_value: float) -> str:
    text = _format_p(p_value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def sentences(comparison: Comparison) -> Iterator[str]:
    """What was compared, how, and what was left out."""
    counts, success = comparison.counts, comparison.success
    if counts is None:
        same = comparison.tasks - len(comparison.better) - len(comparison.worse)
        yield (
            f"{counted(comparison.tasks, 'task')} scored in both runs, each by the mean of its"
            " trials:"
            f" success higher in {len(comparison.better)}, lower in {len(comparison.worse)},"
            f" equal in {same}."
        )
    else:
        yield (
            f"{counted(comparison.tasks, 'task')} scored in both runs: solved by both"
            f" {counts['both']}, by neither {counts['neither']}, only by the baseline"
            f" {counts['only_first']}, only by the other {counts['only_second']}."
        )
    yield (
        "Intervals and p, two-sided, are Student's over the tasks' differences and agree; p (Holm)"
        " is corrected, success for the comparisons shown here, the other metrics for all of them,"
        " task types for each other."
    )
    partial = [
        f"{one.metric.heading} {one.difference.n}"
        for one in comparison.differences.values()
        if one.difference.n != success.difference.n
    ]
    if partial:
        yield f"Fewer tasks have a value in both runs: {', '.join(partial)}."
    left = {name: len(tasks) for name, tasks in _lists(comparison) if name.startswith("Left out")}
    if left:
        yield "; ".join(f"{name}: {counted(n, 'task')}" for name, n in left.items()) + "."
    unscored = comparison.unscored_episodes
    if any(unscored):
        yield (
            f"Episodes without a score, left out: {unscored[0]} in the baseline,"
            f" {unscored[1]} in the other."
        )


def state_power(comparison: Comparison) -> str:
    """How small a difference in success such a comparison shows."""
    several = comparison.several_trials
    played = counted(comparison.tasks, "task" if several else "game")
    points = find_detectable(comparison.success.spread) * 100
    if points >= 100 or not can_differ(comparison.tasks, comparison.trials):
        return f"{played} cannot show a difference; `agentquest power` says how many can."
    trials = f" with {comparison.trials:g} trials each" if several else ""
    return f"{played}{trials} can show {points:.1f} points (with {POWER:.0%} power)."


def _lists(comparison: Comparison) -> list[tuple[str, Sequence[str]]]:
    left_out = comparison.left_out
    lists: list[tuple[str, Sequence[str]]] = [
        ("Worse than in the baseline", comparison.worse),
        ("Better than in the baseline", comparison.better),
        ("Same name, different data", comparison.changed_data),
        ("Left out, only in the baseline", left_out["only_in_baseline"]),
        ("Left out, only in the other", left_out["only_in_other"]),
        ("Left out, no score in the baseline", left_out["unscored_in_baseline"]),
        ("Left out, no score in the other", left_out["unscored_in_other"]),
    ]
    return [(name, tasks) for name, tasks in lists if tasks]


def _closing(comparisons: Sequence[Comparison], listed: bool) -> Iterator[str]:
    if len(comparisons) > 1:
        yield f"The p-values of {len(comparisons)} comparisons are corrected together (Holm)."
    if not listed and any(_lists(comparison) for comparison in comparisons):
        yield "Use --list to see the tasks."
    for comparison in comparisons:
        name = f"{comparison.other}: " if len(comparisons) > 1 else ""
        yield name + state_power(comparison)
