"""A run's report as parts of its page: what was run, its figures, and pictures of them."""

import json
from collections.abc import Iterator, Sequence

import htpy as h
from markupsafe import Markup

from agentquest.lib.markup import Template, join
from agentquest.metrics.report import Report, Table, tokens_text
from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.summary import Standing, mean_progress
from agentquest.viewer.charts import curve_chart, histogram, interval_chart
from agentquest.viewer.layout import (
    KINDS,
    alert,
    facts,
    fold,
    legend,
    outcome,
    pre,
    scrolling_table,
)
from agentquest.words import counted

# More single curves than this are one grey mass, and most of a page's size.
_FAINT_CURVES = 150
_HEADING = Template('<th scope="col"%s>%s</th>')
_HINT = Template(' title="%s"')
_ROW = Template('<tr%s><th scope="row">%s</th>%s</tr>')
_TOTAL = Markup(' class="total"')
_TEXT_CELL = Template("<td>%s</td>")
_NUMBER_CELL = Template('<td class="number">%s%s</td>')
_SMALL = Template(" <small>%s</small>")
_TILES = {
    "success": "success",
    "steps": "average steps",
    "progress": "average progress",
    "reward": "average reward",
    "behaviour": "behaviour",
}


def opening(report: Report, standing: Standing | None) -> Iterator[h.Node]:
    """What was run, what is missing, and the figures most people look for; of a run that is being
    played, how far it is."""
    manifest = report.manifest
    yield h.h1[manifest.run_id]
    yield facts(report.facts)
    for warning in report.warnings:
        yield alert(warning)
    yield h.div(".tiles")[
        (
            h.div(".tile")[h.span(".name")[name], h.span(".head")[head], h.span(".rest")[rest]]
            for name, head, rest in _tiles(report, standing)
        )
    ]
    if report.published:
        yield h.h2["Published scores for this protocol"]
        yield h.ul[(h.li[line] for line in report.published)]
    if manifest.config:
        config = json.dumps(manifest.config, indent=2, ensure_ascii=False, default=str)
        yield fold("Configuration", pre(config))


def figures(report: Report) -> h.Element:
    """Success by type, and every table of the report."""
    rows = [
        (row.name, row.cells["success"].estimate, row.cells["success"].text) for row in report.rows
    ]
    first, *others = report.tables
    parts: list[h.Node] = [
        figure(
            "Dot: success rate. Band: its 95% interval.",
            interval_chart("Success by task type, with 95% intervals", rows),
        )
        if any(estimate for _, estimate, _ in rows)
        else None,
        data_table(first),
        h.p(".note")[" ".join(report.notes)],
        ([h.h3[table.title], data_table(table)] for table in others),
    ]
    return _section("success", "Success by task type", parts)


def pictures(rows: Sequence[EpisodeRow]) -> h.Element:
    """Progress curves and distributions."""
    scored = [one for one in rows if one.scored]
    present = set(map(outcome, rows))
    steps = [(float(one.steps), outcome(one)) for one in scored]
    parts = [
        h.p(".legend")[legend({k: text for k, text in KINDS.items() if k in present})],
        h.div(".grid")[
            _curves(scored),
            figure("Steps per episode", histogram("Steps per episode", "steps", steps)),
            _tokens(rows),
        ],
    ]
    return _section("pictures", "How the episodes went", parts)


def _tiles(report: Report, standing: Standing | None) -> Iterator[tuple[str, str, str]]:
    shown = {metric.key for metric in report.shown}
    if standing is not None:
        solved, *others = standing.counts
        yield "so far", solved, f"{', '.join(others)}; {standing.outlook}"
    for key, title in _TILES.items():
        if key in shown and not (standing and key == "success"):
            head, _, rest = report.overall.cells[key].text.partition(" ")
            yield title, head, rest
    spent = report.summary.spent
    if spent.calls:
        tokens = tokens_text(spent, spent.prompt_tokens + spent.completion_tokens)
        yield "tokens", tokens, f"in {counted(spent.calls, 'call')}"


def _curves(scored: Sequence[EpisodeRow]) -> h.Node:
    steps = max((one.steps for one in scored), default=0)
    if not steps:
        return None
    every = -(-len(scored) // _FAINT_CURVES)
    faint = [(outcome(one), (0.0, *one.progress_curve)) for one in scored[::every]]
    which = "each scored episode" if every == 1 else f"{len(faint)} of {len(scored):,} episodes"
    return figure(
        f"Progress by step: the mean (episodes that have ended keep their last value)"
        f" and, faint, {which}",
        curve_chart("Progress by step", mean_progress(scored, steps), faint, steps),
    )


def _tokens(rows: Sequence[EpisodeRow]) -> h.Node:
    spent = [(one.spent.tokens, outcome(one)) for one in rows if one.spent.calls]
    values = [(float(tokens), kind) for tokens, kind in spent if tokens is not None]
    if not values:
        return None
    unknown = len(spent) - len(values)
    left_out = f"; {unknown} left out, as their server reported no counts" if unknown else ""
    chart = histogram("Tokens per episode", "tokens", values)
    return figure(f"Tokens per episode{left_out}", chart)


def data_table(table: Table) -> h.Element:
    """A table of the report."""
    hints = table.hints or ("",) * len(table.headings)
    headings = join(
        _HEADING(_HINT(hint) if hint else "", heading)
        for heading, hint in zip(table.headings, hints, strict=True)
    )
    last = len(table.rows) if table.total else 0
    rows = (
        _ROW(
            _TOTAL if place == last else "", name, join(_cell(one, table.numbers) for one in cells)
        )
        for place, (name, *cells) in enumerate(table.rows, start=1)
    )
    kind = "pairs" if len(table.headings) == 2 else ""
    return scrolling_table(kind, table.title, headings, join(rows))


def _cell(text: str, number: bool) -> Markup:
    if not number:
        return _TEXT_CELL(text)
    # An interval without a figure before it is not a remark on one.
    head, _, rest = (text, "", "") if text.startswith(("[", "<")) else text.partition(" ")
    small = _SMALL(rest) if rest else ""
    return _NUMBER_CELL(head, small)


def figure(caption: str, content: h.Node) -> h.Element:
    """A picture with its caption."""
    return h.figure[h.figcaption[caption], content]


def _section(name: str, title: str, content: h.Node) -> h.Element:
    return h.section(aria_labelledby=name)[h.h2(id=name)[title], content]
