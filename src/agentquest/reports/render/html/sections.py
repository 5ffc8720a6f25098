"""The sections of the HTML page above its episodes."""

import json
from collections.abc import Iterable, Iterator, Sequence

from agentquest.records.outcome import End
from agentquest.reports.model import Report, tokens_text
from agentquest.reports.render.html.charts import (
    Bar,
    bar_chart,
    curve_chart,
    histogram,
    interval_chart,
)
from agentquest.reports.render.html.episodes import KINDS, Sketch
from agentquest.reports.render.html.trajectory import fold
from agentquest.reports.safe_text import html_text
from agentquest.reports.tables import Table

# More single curves than this are one grey mass, and most of a page's size.
_FAINT_CURVES = 150
_TILES = {
    "success": "success",
    "steps": "average steps",
    "progress": "average progress",
    "reward": "average reward",
    "behaviour": "behaviour",
}
_MEANINGS = {
    "won": "solved",
    "lost": "not solved",
    "unscored": "no score (not the agent's doing)",
}


def opening(report: Report) -> Iterator[str]:
    """What was run, what is missing, and the figures most people look for."""
    manifest = report.manifest
    yield f'<header><p class="brand">AgentQuest report</p><h1>{html_text(manifest.run_id)}</h1>'
    facts = "".join(
        f"<div><dt>{html_text(name)}</dt><dd>{html_text(value)}</dd></div>"
        for name, value in report.facts
    )
    yield f'<dl class="facts">{facts}</dl></header>'
    for warning in report.warnings:
        yield f'<div class="alert" role="alert">{html_text(warning)}</div>'
    yield f'<div class="tiles">{"".join(_tiles(report))}</div>'
    if report.published:
        listed = "".join(f"<li>{html_text(line)}</li>" for line in report.published)
        yield f"<h2>Published scores for this protocol</h2><ul>{listed}</ul>"
    if manifest.config:
        config = json.dumps(manifest.config, indent=2, ensure_ascii=False, default=str)
        yield fold("Configuration", f"<pre>{html_text(config)}</pre>")


def figures(report: Report) -> Iterator[str]:
    """Success by type, and every table of the report."""
    rows = [
        (row.name, row.cells["success"].estimate, row.cells["success"].text) for row in report.rows
    ]
    yield _section("success", "Success by task type")
    yield _figure(
        interval_chart("Success by task type, with 95% intervals", rows),
        "Dot: success rate. Band: its 95% interval.",
    )
    first, *others = report.tables
    yield _table(first)
    yield f'<p class="note">{html_text(" ".join(report.notes))}</p>'
    for table in others:
        yield f"<h3>{html_text(table.title)}</h3>{_table(table)}"
    yield "</section>"


def pictures(report: Report, sketches: Sequence[Sketch]) -> Iterator[str]:
    """Progress curves, distributions, and why episodes failed."""
    scored = [sketch for sketch in sketches if sketch.scored]
    present = {sketch.kind for sketch in sketches}
    legend = "".join(
        f'<span class="key {kind}">{html_text(text)}</span>'
        for kind, text in _MEANINGS.items()
        if kind in present
    )
    yield f'{_section("pictures", "How the episodes went")}<p class="legend">{legend}</p>'
    yield '<div class="grid">'
    yield from _curves(scored)
    steps = [(float(sketch.row.steps), sketch.kind) for sketch in scored]
    yield _figure(histogram("Steps per episode", "steps", steps, KINDS), "Steps per episode")
    yield from _tokens(sketches)
    failures = [
        Bar(one.meaning, one.episodes, "lost" if one.scored else "unscored")
        for one in report.ends
        if one.end is not End.SOLVED
    ]
    yield (
        _figure(bar_chart("Failures by cause", failures), "Failures by cause")
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
        yield _tile("tokens", tokens, f"in {spent.calls:,} calls")


def _tile(title: str, head: str, rest: str) -> str:
    return (
        f'<div class="tile"><span class="name">{html_text(title)}</span>'
        f'<span class="head">{html_text(head)}</span><span class="rest">{html_text(rest)}</span>'
        "</div>"
    )


def _curves(scored: Sequence[Sketch]) -> Iterator[str]:
    steps = max((sketch.row.steps for sketch in scored), default=0)
    if not steps:
        return
    mean = [
        sum(sketch.curve[min(step, sketch.row.steps)] for sketch in scored) / len(scored)
        for step in range(steps + 1)
    ]
    every = -(-len(scored) // _FAINT_CURVES)
    faint = [(sketch.kind, sketch.curve) for sketch in scored[::every]]
    which = "each scored episode" if every == 1 else f"{len(faint)} of {len(scored)} episodes"
    yield _figure(
        curve_chart("Progress by step", mean, faint, steps),
        f"Progress by step: the mean (an episode that ended counts on with its last value)"
        f" and, faint, {which}",
    )


def _tokens(sketches: Sequence[Sketch]) -> Iterator[str]:
    counted = [
        (sketch.row.spent.tokens, sketch.kind) for sketch in sketches if sketch.row.spent.calls
    ]
    values = [(float(tokens), kind) for tokens, kind in counted if tokens is not None]
    if not values:
        return
    unknown = len(counted) - len(values)
    left_out = f"; {unknown} left out, their server gave no counts" if unknown else ""
    drawn = histogram("Tokens per episode", "tokens", values, KINDS)
    yield _figure(drawn, f"Tokens per episode{left_out}")


def _table(table: Table) -> str:
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
        f'<div class="wide"><table{kind}><caption>{html_text(table.title)}</caption>'
        f"<thead><tr>{headings}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(text: str, number: bool) -> str:
    if not number:
        return f"<td>{html_text(text)}</td>"
    head, _, rest = text.partition(" ")
    small = f" <small>{html_text(rest)}</small>" if rest else ""
    return f'<td class="number">{html_text(head)}{small}</td>'


def _title(hint: str) -> str:
    return f' title="{html_text(hint)}"' if hint else ""


def _figure(svg: str, caption: str) -> str:
    return f"<figure><figcaption>{html_text(caption)}</figcaption>{svg}</figure>"


def _section(name: str, title: str) -> str:
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{html_text(title)}</h2>'
