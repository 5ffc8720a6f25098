"""A run's report as parts of its page: what was run, its figures, and pictures of them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from agentquest.metrics.row_index import IndexedRow
from agentquest.records.outcome import End
from agentquest.reports.model import Report, tokens_text
from agentquest.reports.safe_text import html_text
from agentquest.reports.tables import Table
from agentquest.viewer.charts import Bar, bar_chart, curve_chart, histogram, interval_chart
from agentquest.viewer.layout import KINDS, alert, fold, outcome, pre
from agentquest.viewer.layout import facts as facts_list
from agentquest.words import counted

# More single curves than this are one grey mass, and most of a page's size.
_FAINT_CURVES = 150
_TILES = {
    "success": "success",
    "steps": "average steps",
    "progress": "average progress",
    "reward": "average reward",
    "behaviour": "behaviour",
}


def opening(report: Report) -> Iterator[str]:
    """What was run, what is missing, and the figures most people look for."""
    manifest = report.manifest
    yield f"<h1>{html_text(manifest.run_id)}</h1>"
    yield facts_list((html_text(name), html_text(value)) for name, value in report.facts)
    for warning in report.warnings:
        yield alert(warning)
    yield f'<div class="tiles">{"".join(_tiles(report))}</div>'
    if report.published:
        listed = "".join(f"<li>{html_text(line)}</li>" for line in report.published)
        yield f"<h2>Published scores for this protocol</h2><ul>{listed}</ul>"
    if manifest.config:
        config = json.dumps(manifest.config, indent=2, ensure_ascii=False, default=str)
        yield fold("Configuration", pre(config))


def figures(report: Report) -> Iterator[str]:
    """Success by type, and every table of the report."""
    rows = [
        (row.name, row.cells["success"].estimate, row.cells["success"].text) for row in report.rows
    ]
    yield _section("success", "Success by task type")
    yield captioned(
        interval_chart("Success by task type, with 95% intervals", rows),
        "Dot: success rate. Band: its 95% interval.",
    )
    first, *others = report.tables
    yield data_table(first)
    yield f'<p class="note">{html_text(" ".join(report.notes))}</p>'
    for table in others:
        yield f"<h3>{html_text(table.title)}</h3>{data_table(table)}"
    yield "</section>"


def pictures(report: Report, rows: Sequence[IndexedRow]) -> Iterator[str]:
    """Progress curves, distributions, and why episodes failed."""
    scored = [one for one in rows if one.scored]
    present = {_kind(one) for one in rows}
    legend = "".join(
        f'<span class="key {kind}">{text}</span>' for kind, text in KINDS.items() if kind in present
    )
    yield f'{_section("pictures", "How the episodes went")}<p class="legend">{legend}</p>'
    yield '<div class="grid">'
    yield from _curves(scored)
    steps = [(float(one.row.steps), _kind(one)) for one in scored]
    yield captioned(
        histogram("Steps per episode", "steps", steps, tuple(KINDS)), "Steps per episode"
    )
    yield from _tokens(rows)
    failures = [
        Bar(one.meaning, one.episodes, "lost" if one.scored else "unscored")
        for one in report.ends
        if one.end is not End.SOLVED
    ]
    yield (
        captioned(bar_chart("Failures by cause", failures), "Failures by cause")
        if failures
        else "<figure><figcaption>Failures by cause</figcaption><p>No episode failed.</p></figure>"
    )
    yield "</div></section>"


def _tiles(report: Report) -> Iterable[str]:
    shown = {metric.key for metric in report.shown}
    for key, title in _TILES.items():
        if key in shown:
            head, _, rest = report.overall.cells[key].text.partition(" ")
            yield _tile(title, head, rest)
    spent = report.summary.spent
    if spent.calls:
        tokens = tokens_text(spent, spent.prompt_tokens + spent.completion_tokens)
        yield _tile("tokens", tokens, f"in {counted(spent.calls, 'call')}")


def _tile(title: str, head: str, rest: str) -> str:
    return (
        f'<div class="tile"><span class="name">{html_text(title)}</span>'
        f'<span class="head">{html_text(head)}</span><span class="rest">{html_text(rest)}</span>'
        "</div>"
    )


def _kind(one: IndexedRow) -> str:
    return outcome(one.row.scored, one.row.success)


def _curves(scored: Sequence[IndexedRow]) -> Iterator[str]:
    steps = max((one.row.steps for one in scored), default=0)
    if not steps:
        return
    # What each step adds to the sum, so that long runs are read once.
    added = [0.0] * (steps + 1)
    for one in scored:
        before = 0.0
        for place, value in enumerate(one.progress, start=1):
            added[place] += value - before
            before = value
    mean = [total / len(scored) for total in accumulate(added)]
    every = -(-len(scored) // _FAINT_CURVES)
    faint = [(_kind(one), (0.0, *one.progress)) for one in scored[::every]]
    which = "each scored episode" if every == 1 else f"{len(faint)} of {len(scored):,} episodes"
    yield captioned(
        curve_chart("Progress by step", mean, faint, steps),
        f"Progress by step: the mean (episodes that have ended keep their last value)"
        f" and, faint, {which}",
    )


def _tokens(rows: Sequence[IndexedRow]) -> Iterator[str]:
    spent = [(one.row.spent.tokens, _kind(one)) for one in rows if one.row.spent.calls]
    values = [(float(tokens), kind) for tokens, kind in spent if tokens is not None]
    if not values:
        return
    unknown = len(spent) - len(values)
    left_out = f"; {unknown} left out, as their server reported no counts" if unknown else ""
    drawn = histogram("Tokens per episode", "tokens", values, tuple(KINDS))
    yield captioned(drawn, f"Tokens per episode{left_out}")


def data_table(table: Table) -> str:
    """A table of the report."""
    hints = table.hints or ("",) * len(table.headings)
    headings = "".join(
        f'<th scope="col"{_title(hint)}>{html_text(heading)}</th>'
        for heading, hint in zip(table.headings, hints, strict=True)
    )
    body = ""
    for number, (name, *cells) in enumerate(table.rows, start=1):
        last = table.total and number == len(table.rows)
        body += (
            f'<tr{" class=total" if last else ""}><th scope="row">{html_text(name)}</th>'
            f"{''.join(_cell(cell, table.numbers) for cell in cells)}</tr>"
        )
    kind = ' class="pairs"' if len(table.headings) == 2 else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{html_text(table.title)}">'
        f"<table{kind}><caption>{html_text(table.title)}</caption>"
        f"<thead><tr>{headings}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(text: str, number: bool) -> str:
    if not number:
        return f"<td>{html_text(text)}</td>"
    # An interval without a figure before it is not a remark on one.
    head, _, rest = (text, "", "") if text.startswith("[") else text.partition(" ")
    small = f" <small>{html_text(rest)}</small>" if rest else ""
    return f'<td class="number">{html_text(head)}{small}</td>'


def _title(hint: str) -> str:
    return f' title="{html_text(hint)}"' if hint else ""


def captioned(svg: str, caption: str) -> str:
    """A picture with its words."""
    return f"<figure><figcaption>{html_text(caption)}</figcaption>{svg}</figure>"


def _section(name: str, title: str) -> str:
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{html_text(title)}</h2>'
