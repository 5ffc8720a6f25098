"""One run: its figures, a matrix of its episodes, and the list of those that fit a filter."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlencode

from agentquest.metrics.row_index import IndexedRow
from agentquest.metrics.table import Metric
from agentquest.reports.safe_text import html_text
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.charts import sparkline
from agentquest.viewer.figures import figures, opening, pictures
from agentquest.viewer.filters import SORTS, Found, find, invalid_actions, whole
from agentquest.viewer.layout import (
    KINDS,
    Cells,
    badge,
    choice,
    known_columns,
    link,
    outcome,
    table,
)
from agentquest.viewer.library import OpenRun
from agentquest.viewer.matrix import matrix
from agentquest.words import counted

PAGE_SIZE = 200
_HEADINGS = (
    "outcome", "goal", "task", "end", "#steps", "#progress", "over its steps", "#invalid",
    "#repetition", "#tokens", "#cost", "#seconds",
)  # fmt: skip
_LEAST = {"invalid": "invalid actions from", "repetition": "repetition from", "cost": "cost from"}


def run_page(site: Addresses, run: OpenRun, query: Mapping[str, str]) -> Iterator[str]:
    """The whole page of a run; `query` chooses among its episodes."""
    report = run.report
    yield f'<p class="up">{link(site.page("runs"), "All runs")}</p>' if site.page("runs") else ""
    yield from opening(report)
    if site.served and run.state == "running":
        yield '<section id="live" aria-live="polite"><h2>In progress</h2><ol></ol></section>'
    if not run.rows:
        yield '<p class="note">No episode has ended yet.</p>'
        return
    yield from matrix(site, run)
    yield from episode_list(site, run, query)
    yield from figures(report)
    yield from pictures(report, run.rows)


def episode_list(site: Addresses, run: OpenRun, query: Mapping[str, str]) -> Iterator[str]:
    """The episodes that fit, a page of them."""
    found = find(run, query)
    start = min(whole(query.get("from", "0")), max(len(found.rows) - 1, 0))
    shown = found.rows[start : start + PAGE_SIZE]
    yield '<section><h2 id="episodes">Episodes</h2>'
    yield _filters(site, run, query)
    episodes = counted(len(run.rows), "episode")
    yield f'<p class="note" id="fitting">{len(found.rows):,} of {episodes}</p>'
    yield _searched(site, run, query, found)
    # Metrics of the benchmark's or the user's own have columns of their own.
    own = [metric for metric in run.report.shown if metric.path]
    headings = (*_HEADINGS, *(f"#{metric.heading}" for metric in own))
    rows = [_row(site, run, one, found, own) for one in shown]
    if rows:
        yield table(*known_columns(headings, rows), "episodes sortable", "Episodes")
    else:
        yield f"<p>No episode matches. {link(site.run(run.name), 'All episodes')}</p>"
    yield _pages(site, run, len(found.rows), start, query)
    yield "</section>"


def _row(
    site: Addresses, run: OpenRun, one: IndexedRow, found: Found, own: Sequence[Metric]
) -> Sequence[str]:
    row = one.row
    kind, task = outcome(row.scored, row.success), html_text(row.task_id)
    trial = f", trial {row.trial + 1}" if run.manifest.trials > 1 or row.trial else ""
    repetition = row.values.get("repetition")
    tokens, calls = row.spent.tokens, row.spent.calls
    cells = (
        badge(kind, KINDS[kind]),
        link(site.episode(run.name, row.key, found.steps.get(row.key)), one.goal or "(no goal)"),
        f'<span class="task" title="{task}">{task}</span>'
        f"<small>{html_text(row.task_type)}{trial}</small>",
        html_text(row.end.value.replace("_", " ")),
        str(row.steps),
        f"{one.progress[-1]:.2f}" if one.progress else "–",
        sparkline((0.0, *one.progress), kind),
        str(invalid_actions(one)),
        "–" if repetition is None else f"{repetition:.2f}",
        "–" if tokens is None else f"{tokens:,}",
        f"{row.spent.cost:.4f}" if calls and not row.spent.unpriced_calls else "–",
        f"{row.seconds:.1f}",
        *(_value(metric, one) for metric in own),
    )
    if site.served:
        return cells
    known = {
        "type": row.task_type,
        "outcome": kind,
        "end": row.end.value,
        "invalid": str(invalid_actions(one)),
        "repetition": str(repetition or 0),
        "cost": str(row.spent.cost),
    }
    return Cells(cells, known)


def _value(metric: Metric, one: IndexedRow) -> str:
    value = one.row.values.get(metric.key)
    return "–" if value is None else html_text(metric.written(value))


def _filters(site: Addresses, run: OpenRun, query: Mapping[str, str]) -> str:
    rows = run.rows
    choices = {
        "type": sorted({one.row.task_type for one in rows}),
        "outcome": sorted({outcome(one.row.scored, one.row.success) for one in rows}),
        "end": sorted({one.row.end.value for one in rows}),
    }
    parts = [choice(name, name, values, query.get(name, "")) for name, values in choices.items()]
    for name, label in _LEAST.items():
        value = html_text(query.get(name, ""))
        parts.append(
            f'<label>{label}<input type="number" name="{name}" min="0" step="any"'
            f' value="{value}"></label>'
        )
    if site.served:
        parts.append(choice("sort", "order", SORTS, query.get("sort", ""), "as in the run"))
    text = html_text(query.get("text", ""))
    label = "text in actions, observations, thoughts" if site.served else "text in the list"
    parts.append(f'<label>{label}<input type="search" name="text" value="{text}"></label>')
    here = "" if site.served else ' data-here="episodes"'
    return f'<form class="filters"{here}>{"".join(parts)}<button>Show</button></form>'


def _searched(site: Addresses, run: OpenRun, query: Mapping[str, str], found: Found) -> str:
    """How far a search for words has come, and the way on."""
    if found.searched >= found.among:
        return ""
    on = urlencode({**query, "after": found.searched})
    rest = link(f"{site.run(run.name)}?{on}#episodes", "Continue searching")
    told = f"Searched {found.searched:,} of {counted(found.among, 'episode')}."
    return f'<p class="note">{told} {rest}</p>'


def _pages(site: Addresses, run: OpenRun, total: int, start: int, query: Mapping[str, str]) -> str:
    if total <= PAGE_SIZE:
        return ""
    links = []
    for first in range(0, total, PAGE_SIZE):
        text = f"{first + 1}–{min(first + PAGE_SIZE, total)}"
        if first == start:
            links.append(f'<span aria-current="page">{text}</span>')
        elif site.served:
            address = f"{site.run(run.name)}?{urlencode({**query, 'from': first})}#episodes"
            links.append(link(address, text))
        else:
            links.append(link(site.run(run.name, first), text))
    return f'<nav class="pages" aria-label="More episodes">{"".join(links)}</nav>'
