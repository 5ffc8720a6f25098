"""The content of a report, made once: text, Markdown, CSV, HTML and JSON only lay it out.

Every figure is a Cell that holds its number, its interval, its denominator and
how it is written, so that no two formats can disagree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentquest.metrics.measured import table_of
from agentquest.metrics.row_index import RowIndex
from agentquest.metrics.rows import EpisodeRow, Spent
from agentquest.metrics.statistics import Estimate
from agentquest.metrics.summary import Group, Summary, summarise
from agentquest.metrics.table import PERCENT, Metric
from agentquest.records.manifest import Manifest
from agentquest.records.outcome import MEANINGS, End, is_scored
from agentquest.records.run_directory import EPISODES, RunDirectory, describe_damage
from agentquest.reports.caveats import notes, warnings
from agentquest.reports.facts import facts, published
from agentquest.reports.tables import Table
from agentquest.words import counted

NOTHING = "–"
ALL = "all"
_COUNTS = (
    ("episodes", "episodes on record"),
    ("scored", "episodes with a score; the denominator"),
)


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
class EndCount:
    """How many episodes ended in one way, and whether that is a score."""

    end: End
    scored: bool
    meaning: str
    episodes: int


@dataclass(frozen=True)
class Report:
    """`metrics` are all of the table, `shown` those that say something here; `tables` is what
    people read."""

    manifest: Manifest
    facts: tuple[tuple[str, str], ...]
    published: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    metrics: tuple[Metric, ...]
    shown: tuple[Metric, ...]
    overall: Row
    by_type: tuple[Row, ...]
    trials: tuple[tuple[str, Cell], ...]
    ends: tuple[EndCount, ...]
    tables: tuple[Table, ...]
    summary: Summary

    @property
    def rows(self) -> tuple[Row, ...]:
        """The task types, then the row for all of them."""
        return (*self.by_type, self.overall)


def load_report(run: RunDirectory) -> Report:
    """The report of a run directory; one episode's record is in memory at a time."""
    manifest = run.manifest()
    table = table_of(run, manifest)
    rows, damage = load_rows(run, table)
    return build_report(manifest, rows, table, damage)


def load_rows(run: RunDirectory, table: Sequence[Metric]) -> tuple[list[EpisodeRow], str | None]:
    """The rows of a run directory, and what is damaged in its file. They are kept beside the
    records, so that a large run is read once."""
    index = RowIndex(run, table, light=True)
    index.refresh()
    rows = [one.row for one in index.rows]
    return rows, describe_damage(run.path / EPISODES, index.damaged)


def build_report(
    manifest: Manifest,
    rows: Sequence[EpisodeRow],
    table: tuple[Metric, ...],
    damage: str | None = None,
) -> Report:
    """Everything a report says; `table` is what the rows were made with."""
    summary = summarise(rows, table)
    overall = _row(ALL, summary.overall, table)
    by_type = tuple(_row(name, group, table) for name, group in summary.by_type.items())
    trials, ends = _trials(summary), _ends(summary.overall, manifest)
    told = _reward_tells_more(rows)
    shown = tuple(metric for metric in table if metric.key != "reward" or told)
    tables = (
        _figures((*by_type, overall), shown),
        Table("Several trials", ("figure", "value"), tuple((n, cell.text) for n, cell in trials)),
        _replies((*by_type, overall)),
        Table(
            "Ends",
            ("end", "episodes"),
            tuple((one.end.value, f"{one.episodes} ({one.meaning})") for one in ends),
        ),
        Table("Tokens and cost", ("what", "how much"), _spent(summary.spent)),
    )
    return Report(
        manifest=manifest,
        facts=facts(manifest, dict.fromkeys(row.setting for row in rows)),
        published=published(manifest),
        warnings=(*([damage] if damage else []), *warnings(manifest, rows, summary, table)),
        notes=notes(rows, summary),
        metrics=table,
        shown=shown,
        overall=overall,
        by_type=by_type,
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
    low, high = (metric.written(bound).removesuffix("%") for bound in (estimate.low, estimate.high))
    text = f"{metric.written(estimate.value)} [{low}–{high}]"
    if metric.estimator == "rate":
        text += f" {round(estimate.value * estimate.n)}/{estimate.n}"
    elif estimate.n != usual_n:
        text += f" n={estimate.n}"
    if metric.label is not None:
        text += f" {metric.label(estimate.value)}"
    return Cell(text, estimate)


def _row(name: str, group: Group, table: Sequence[Metric]) -> Row:
    cells = {
        metric.key: figure_cell(metric, group.figures[metric.key], group.scored) for metric in table
    }
    return Row(name, group, cells)


def _reward_tells_more(rows: Sequence[EpisodeRow]) -> bool:
    return any(row.scored and row.values["reward"] != float(row.success) for row in rows)


def _figures(rows: Sequence[Row], shown: Sequence[Metric]) -> Table:
    return Table(
        "Figures",
        ("task type", *(name for name, _ in _COUNTS), *(metric.heading for metric in shown)),
        tuple(
            (
                row.name,
                str(row.group.episodes),
                str(row.group.scored),
                *(row.cells[metric.key].text for metric in shown),
            )
            for row in rows
        ),
        ("", *(hint for _, hint in _COUNTS), *(metric.explanation for metric in shown)),
        total=True,
    )


def _replies(rows: Sequence[Row]) -> Table:
    """How replies were read, by task type; nothing to tell of agents that only give commands."""
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


def _ends(group: Group, manifest: Manifest) -> tuple[EndCount, ...]:
    found = []
    for end, meaning in MEANINGS.items():
        if end in group.ends:
            scored = is_scored(end, manifest.agent_faults)
            told = meaning if scored else f"{meaning}, no score"
            found.append(EndCount(end, scored, told, group.ends[end]))
    return tuple(found)


def _spent(spent: Spent) -> tuple[tuple[str, str], ...]:
    if not spent.calls:
        return ()
    lines = [
        ("model calls", f"{spent.calls:,}"),
        ("prompt tokens", tokens_text(spent, spent.prompt_tokens)),
        ("of these cached", tokens_text(spent, spent.cached_tokens)),
        ("completion tokens", tokens_text(spent, spent.completion_tokens)),
        ("of these reasoning", tokens_text(spent, spent.reasoning_tokens)),
        ("cost", _cost(spent)),
    ]
    if spent.uncounted_calls:
        lines.append(("calls without counts", f"{spent.uncounted_calls:,} of {spent.calls:,}"))
    return tuple(lines)


def tokens_text(spent: Spent, number: int) -> str:
    """A number of tokens, as far as the servers told it."""
    if spent.uncounted_calls == spent.calls:
        return "unknown"
    return f"at least {number:,}" if spent.uncounted_calls else f"{number:,}"


def _cost(spent: Spent) -> str:
    if spent.unpriced_calls == spent.calls:
        return "unknown (no price configured)"
    if spent.unpriced_calls:
        return (
            f"at least {spent.cost:.4f} ({counted(spent.unpriced_calls, 'call')} without a price)"
        )
    return f"{spent.cost:.4f} (in the currency of the configured price)"
