"""The content of a report, made once: text, Markdown, CSV, HTML and JSON only lay it out.

A report is a pure function of a run's manifest, rows and table of metrics. Every figure is a
Cell that holds its number, its interval, its denominator and how it is written, so that no
two formats can disagree. What is missing from a run or odd about it is said as a warning.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from agentquest.metrics.published import list_published
from agentquest.metrics.rows import NO_CALLS, EpisodeRow, Setting, Spent
from agentquest.metrics.statistics import FEW, Estimate
from agentquest.metrics.summary import Group, Standing, Summary, summarise
from agentquest.metrics.table import PERCENT, Metric
from agentquest.records.manifest import Manifest
from agentquest.records.messages import ReplyKind
from agentquest.records.outcome import MEANINGS, AgentFaults, End, is_scored
from agentquest.words import counted, plural

NOTHING = "–"
ALL = "all"
_FAULTS = {
    AgentFaults.LOSE: "lose (an agent that crashes or does not answer loses the game)",
    AgentFaults.OWE: "owe (a game in which the agent crashed is played again)",
}
# More replies without an answer than this, and the figures say little about the agent.
_UNREAD_SHARE = 0.05


@dataclass(frozen=True)
class Table:
    """The first column names the row. `hints` explain columns; `total` marks the last row."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    hints: tuple[str, ...] = ()
    total: bool = False
    numbers: bool = True


@dataclass(frozen=True)
class Cell:
    """One figure: how it is written, and the number behind it."""

    text: str
    estimate: Estimate | None = None


@dataclass(frozen=True)
class Row:
    """All episodes, or those of one task type; one cell for each metric."""

    name: str
    group: Group
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Report:
    """`metrics` is the whole table, `shown` the part that is worth a column here; `ends` has how
    many episodes ended in each way, and what that means; `tables` is what people read; `advice`
    is that one of the `warnings` which says how to complete the run."""

    manifest: Manifest
    facts: tuple[tuple[str, str], ...]
    published: tuple[str, ...]
    warnings: tuple[str, ...]
    advice: str
    notes: tuple[str, ...]
    metrics: tuple[Metric, ...]
    shown: tuple[Metric, ...]
    rows: tuple[Row, ...]
    trials: tuple[tuple[str, Cell], ...]
    ends: Mapping[End, tuple[int, str]]
    tables: tuple[Table, ...]
    summary: Summary

    @property
    def overall(self) -> Row:
        """The row of all task types, which stands below theirs."""
        return self.rows[-1]


def build_report(
    manifest: Manifest,
    rows: Sequence[EpisodeRow],
    table: tuple[Metric, ...],
    damage: str | None = None,
    running: bool = False,
    replaced: Spent = NO_CALLS,
) -> Report:
    """Everything a report says; `table` is what the rows were made with, `replaced` what
    attempts took that are not among them."""
    summary = summarise(rows, table, replaced)
    groups = [*summary.by_type.items(), (ALL, summary.overall)]
    by_row = tuple(make_row(name, group, table) for name, group in groups)
    trials, ends = _trials(summary), _ends(summary.overall, manifest)
    reward_differs = any(row.scored and row.values["reward"] != float(row.success) for row in rows)
    shown = tuple(metric for metric in table if metric.key != "reward" or reward_differs)
    tables = (
        _figures(by_row, shown),
        Table("Several trials", ("figure", "value"), tuple((n, cell.text) for n, cell in trials)),
        _replies(by_row),
        Table(
            "Ends",
            ("end", "episodes"),
            tuple((end.value, f"{number} ({meaning})") for end, (number, meaning) in ends.items()),
        ),
        Table("Tokens and cost", ("what", "how much"), _spending(summary)),
    )
    unscored = _unscored_episodes(manifest, rows)
    advice = _advise(manifest, running, summary.spent) if unscored else ""
    return Report(
        manifest=manifest,
        facts=_describe_run(manifest, dict.fromkeys(row.setting for row in rows)),
        published=list_published(manifest, summary.overall.figures),
        warnings=(
            *filter(None, [damage, *unscored, advice]),
            *_warnings(manifest, rows, summary, table),
        ),
        advice=advice,
        notes=_notes(rows, summary, table),
        metrics=table,
        shown=shown,
        rows=by_row,
        trials=trials,
        ends=ends,
        tables=tuple(one for one in tables if one.rows),
        summary=summary,
    )


def figure_cell(metric: Metric, estimate: Estimate | None, usual_n: int | None) -> Cell:
    """A figure with its interval: `60.0% [23.1–88.2] 3/5`, or `7.2 [5.0–9.9] n=3` where the
    denominator is not the usual one."""
    if estimate is None:
        return Cell(NOTHING)
    text = f"{metric.format_value(estimate.value)} [{metric.format_interval(estimate)}]"
    if metric.estimator == "rate":
        text += f" {round(estimate.value * estimate.n)}/{estimate.n}"
    elif estimate.n != usual_n:
        text += f" n={estimate.n}"
    if metric.label is not None:
        text += f" {metric.label(estimate.value)}"
    return Cell(text, estimate)


def hide_success(report: Report, standing: Standing) -> Report:
    """The report of a run that is being played: counts in place of success rates, whose
    intervals would be of the episodes that happened to end first."""

    def hide(row: Row) -> Row:
        text = f"{row.group.successes}/{row.group.scored} so far"
        return replace(row, cells={**row.cells, "success": Cell(text)})

    rows = tuple(map(hide, report.rows))
    first = _figures(rows, report.shown)
    so_far = f"So far: {', '.join(standing.counts)}; {standing.outlook}."
    return replace(
        report,
        rows=rows,
        tables=(first, *report.tables[1:]),
        warnings=(*report.warnings, so_far),
    )


def short_rate(estimate: Estimate) -> tuple[str, str]:
    """A rate as lists have room for it: `60.0%` and its interval `23–88`."""
    low, high = (f"{end * 100:.0f}" for end in (estimate.low, estimate.high))
    return f"{estimate.value:.1%}", f"{low}–{high}"


def mark_few(scored: str, success: Cell) -> str:
    """The denominator of a row, marked where intervals say little as there are few tasks."""
    few = success.estimate is not None and success.estimate.of_few_tasks
    return f"{scored} few" if few else scored


def make_row(name: str, group: Group, table: Sequence[Metric]) -> Row:
    """The group's figures as cells."""
    cells = {
        metric.key: figure_cell(metric, group.figures[metric.key], group.scored) for metric in table
    }
    return Row(name, group, cells)


def _figures(rows: Sequence[Row], shown: Sequence[Metric]) -> Table:
    return Table(
        "Figures",
        ("task type", "episodes", "scored", *(metric.heading for metric in shown)),
        tuple(
            (
                row.name,
                str(row.group.episodes),
                mark_few(str(row.group.scored), row.cells["success"]),
                *(row.cells[metric.key].text for metric in shown),
            )
            for row in rows
        ),
        (
            "",
            "episodes on record",
            "episodes with a score; the denominator",
            *(metric.explanation for metric in shown),
        ),
        total=True,
    )


def _replies(rows: Sequence[Row]) -> Table:
    """How replies were read, by task type; empty for agents that only give commands."""
    readings = tuple(rows[-1].group.replies)
    if set(readings) <= {"verbatim"}:
        readings = ()
    lines = []
    for row in rows if readings else ():
        number = sum(row.group.replies.values())
        counts = (row.group.replies.get(reading, 0) for reading in readings)
        shares = (f"{n} {n / number:.1%}" if n else "0" for n in counts)
        lines.append((row.name, str(number), *shares))
    unread = rows[-1].group.unread
    hints = ("could not be read as an action" if name in unread else "" for name in readings)
    headings = ("task type", "replies", *readings)
    return Table("Replies, by how they were read", headings, tuple(lines), ("", "", *hints), True)


def _trials(summary: Summary) -> tuple[tuple[str, Cell], ...]:
    share = Metric("chance", "chance", PERCENT, "", lambda record: None)
    # pass^1 is pass@1.
    chances = [
        *((f"pass@{k}", value) for k, value in summary.pass_at.items()),
        *((f"pass^{k}", value) for k, value in summary.pass_hat.items() if k > 1),
    ]
    return tuple((name, figure_cell(share, value, value.n)) for name, value in chances)


def _ends(group: Group, manifest: Manifest) -> dict[End, tuple[int, str]]:
    return {
        end: (
            group.ends[end],
            meaning if is_scored(end, manifest.agent_faults) else f"{meaning}, no score",
        )
        for end, meaning in MEANINGS.items()
        if end in group.ends
    }


def _spending(summary: Summary) -> tuple[tuple[str, str], ...]:
    spent, pace = summary.spent, summary.pace
    if not spent.calls:
        return ()
    lines = [
        ("model calls", f"{spent.calls:,}"),
        ("prompt tokens", tokens_text(spent, spent.prompt_tokens)),
        ("of these cached", tokens_text(spent, spent.cached_tokens)),
        ("completion tokens", tokens_text(spent, spent.completion_tokens)),
        ("of these reasoning", tokens_text(spent, spent.reasoning_tokens)),
        ("cost", cost_text(spent)),
    ]
    if summary.replaced.calls:
        lines.append(("of these, tries that were replaced", _describe_replaced(summary.replaced)))
    lines += [
        (name, text)
        for name, text in (
            ("tokens per step", figure_text(pace.tokens_per_step, 0)),
            ("seconds of a call, median", figure_text(pace.latency_p50, 2)),
            ("seconds of a call, 95th percentile", figure_text(pace.latency_p95, 2)),
            ("seconds to the first action, median", figure_text(pace.time_to_first_action, 2)),
        )
        if text != NOTHING
    ]
    if spent.retries:
        lines.append(("retries", f"{spent.retries:,} (repeated after failures that passed)"))
    if spent.uncounted_calls:
        lines.append(("calls without counts", f"{spent.uncounted_calls:,} of {spent.calls:,}"))
    return tuple(lines)


def _describe_replaced(spent: Spent) -> str:
    calls = counted(spent.calls, "call")
    return calls if spent.cost is None else f"{calls}, {amount_text(spent)}"


def figure_text(value: float | None, decimals: int) -> str:
    """A figure without an interval; a dash where it is unknown."""
    return NOTHING if value is None else f"{value:,.{decimals}f}"


def amount_text(spent: Spent) -> str:
    """The cost as far as it is known; a dash where no call has one."""
    if spent.cost is None:
        return NOTHING
    return f"at least {spent.cost:.4f}" if spent.unpriced_calls else f"{spent.cost:.4f}"


def tokens_text(spent: Spent, number: int) -> str:
    """A number of tokens, as far as the servers told it."""
    if spent.uncounted_calls == spent.calls:
        return "unknown"
    return f"at least {number:,}" if spent.uncounted_calls else f"{number:,}"


def cost_text(spent: Spent) -> str:
    """What the calls cost, as far as it is known."""
    if spent.cost is None:
        return "unknown (no price known; `agentquest report --price` applies one)"
    if spent.unpriced_calls:
        return f"{amount_text(spent)} ({counted(spent.unpriced_calls, 'call')} without a price)"
    return f"{amount_text(spent)} (in the currency of the price)"


_DATA = {"builtin": "builtin (made by AgentQuest, not the benchmark's own)"}


def _describe_run(manifest: Manifest, settings: Iterable[Setting]) -> tuple[tuple[str, str], ...]:
    """The header of a report. What the records say of themselves overrides what was planned."""
    origin = manifest.provenance
    seen: dict[str, dict[str, None]] = {}
    for setting in settings:
        for name, value in setting.facts:
            seen.setdefault(name, {})[value] = None
    details = {**origin.details, **{name: ", ".join(values) for name, values in seen.items()}}
    informed = " (is shown the oracle's plan: an upper bound, not an agent under test)"
    found = (
        ("benchmark", manifest.benchmark_title or manifest.benchmark),
        ("data", _DATA.get(origin.data, origin.data)),
        ("data path", origin.data_path or ""),
        ("split", origin.split),
        *details.items(),
        ("protocol", manifest.protocol or "none (settings of its own)"),
        ("agent", manifest.agent + (informed if manifest.informed else "")),
        ("agent version", manifest.assessed.version if manifest.assessed else ""),
        ("model", describe_model(manifest)),
        ("agent faults", _FAULTS[manifest.agent_faults]),
        ("max steps", str(manifest.max_steps)),
        ("tasks", f"{len(manifest.task_ids):,}" if manifest.task_ids else ""),  # people choose
        ("trials per task", str(manifest.trials)),
        ("tags", ", ".join(manifest.tags)),
        ("note", manifest.note),
        ("started", manifest.created_at),
        ("versions", ", ".join(f"{name} {value}" for name, value in manifest.versions.items())),
    )
    return tuple((name, value) for name, value in found if value)


def describe_model(manifest: Manifest) -> str:
    """The model, and what is special about it."""
    if manifest.assessed is not None:
        return manifest.model or "not told by the agent"
    if manifest.model == "scripted":
        return "scripted (built-in rules, no language model)"
    return manifest.model or "none"


def _warnings(
    manifest: Manifest,
    rows: Sequence[EpisodeRow],
    summary: Summary,
    table: Sequence[Metric],
) -> tuple[str, ...]:
    """One loud line for each way in which the figures are not what they seem."""
    return (
        *filter(None, [manifest.provenance.warning]),
        *manifest.changes,
        *_unread_replies(summary),
        *_mixed_settings({row.setting for row in rows}),
        *(
            f"The metric {path} has not been measured; run the same command again to measure it."
            for path in manifest.metrics
            if path not in {metric.path for metric in table}
        ),
        *_failed_metrics(rows, table),
    )


def _notes(
    rows: Sequence[EpisodeRow], summary: Summary, table: Sequence[Metric]
) -> tuple[str, ...]:
    """How to read the figures."""
    lines = [
        "Figures cover scored episodes. Intervals are 95%, from the spread between tasks and the"
        " bounds of the metric; docs/metrics.md has the formula and how well it covers."
    ]
    success = [group.figures["success"] for group in (summary.overall, *summary.by_type.values())]
    if any(found and found.of_few_tasks for found in success):
        lines.append(f"few: fewer than {FEW} tasks, too few for an interval that says much.")
    unbounded = [metric.heading for metric in table if metric.limits is None]
    if unbounded:
        lines.append(
            f"No bounds are declared for {', '.join(unbounded)}: Student's interval, which covers"
            " less than 95% where values are skewed, and has no width where all are equal."
        )
    if summary.several_trials and not summary.pass_at:
        lines.append("pass@k and pass^k need two scored trials of every task.")
    unreachable = sum(row.scored and row.unreachable for row in rows)
    if unreachable:
        lines.append(
            f"In {unreachable} scored {plural(unreachable, 'episode')} the goal became unreachable"
            " for a while or for good; progress is then the last known value."
        )
    return tuple(lines)


def _unscored_episodes(manifest: Manifest, rows: Sequence[EpisodeRow]) -> list[str]:
    found = []
    requested = max(manifest.requested, len(rows))
    unscored = [row for row in rows if not row.scored]
    if unscored:
        causes = Counter(
            MEANINGS[row.end]
            + (f" ({row.error})" if row.error not in (None, row.end.value) else "")
            for row in unscored
        )
        listed = ", ".join(f"{number} × {cause}" for cause, number in causes.most_common())
        found.append(
            f"Episodes without a score: {len(unscored)} of {requested} ({listed})."
            " No figure includes them."
        )
    if requested > len(rows):
        found.append(f"Episodes not played yet: {requested - len(rows)} of {requested}.")
    return found


def _advise(manifest: Manifest, running: bool, spent: Spent) -> str:
    limit = manifest.config.get("cost_limit")
    if running:
        return "The run is still going on."
    if isinstance(limit, float | int) and (spent.cost or 0.0) >= limit:
        return f"The cost limit of {limit:g} is reached: raise cost_limit to complete the run."
    return "To complete the run, run the same command again."


def _unread_replies(summary: Summary) -> list[str]:
    replies, unread = summary.overall.replies, summary.overall.unread
    number, without = sum(replies.values()), sum(unread.values())
    if not number or without / number <= _UNREAD_SHARE:
        return []
    listed = ", ".join(f"{number} {name}" for name, number in unread.items())
    cut_off = unread.get(ReplyKind.TRUNCATED.value, 0)
    advice = " Replies were cut off at llm.max_tokens: raise it." if cut_off else ""
    return [
        f"{without} of {counted(number, 'reply')} ({without / number:.1%}) could not be read as an"
        f" action: {listed}. The figures say as much about that as about the agent.{advice}"
    ]


def _mixed_settings(settings: set[Setting]) -> list[str]:
    fields = {
        "benchmarks": {setting.benchmark for setting in settings},
        "configurations": {setting.config_hash[:12] for setting in settings},
        "models": {str(setting.model) for setting in settings},
        "step limits": {str(setting.max_steps) for setting in settings},
    }
    return [
        f"Records of different {name} are mixed: {', '.join(sorted(values))}."
        for name, values in fields.items()
        if len(values) > 1
    ]


def _failed_metrics(rows: Sequence[EpisodeRow], table: Sequence[Metric]) -> list[str]:
    found = []
    for metric in table:
        failures = [row for row in rows if metric.key in row.failed]
        if failures:
            first = failures[0]
            found.append(
                f"The metric {metric.key} could not be computed for"
                f" {counted(len(failures), 'episode')} and leaves out what failed; the first is"
                f" {first.key}: {first.failed[metric.key]}"
            )
    return found
