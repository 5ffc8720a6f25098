"""One run: its figures, a matrix of its episodes, and the list of those that fit a filter."""

from collections.abc import Iterator, Mapping, Sequence

from agentquest.metrics.row_index import IndexedRow
from agentquest.reports.render.html.charts import sparkline
from agentquest.reports.render.html.episodes import outcome
from agentquest.reports.render.html.sections import figures, opening
from agentquest.reports.safe_text import html_text
from agentquest.viewer.layout import badge, episode_address, link, table
from agentquest.viewer.library import OpenRun

PAGE_SIZE = 200
_HEADINGS = ("outcome", "task", "goal", "end", "#steps", "#progress", "progress", "#invalid")


def run_page(run: OpenRun, query: Mapping[str, str]) -> Iterator[str]:
    """The content of a run's page; the query filters the list of episodes."""
    report = run.report
    yield from opening(report)
    if run.state == "running":
        yield '<section id="live" aria-live="polite"><h2>Under way</h2><ol></ol></section>'
    yield from _matrix(run)
    yield from _episodes(run, query)
    yield from figures(report)


def _matrix(run: OpenRun) -> Iterator[str]:
    """One square for each episode, in the run's order: tasks across, trials down."""
    yield "<section><h2>Episodes at a glance</h2>"
    by_trial: dict[int, list[IndexedRow]] = {}
    for one in run.in_order():
        by_trial.setdefault(one.row.trial, []).append(one)
    for trial, members in sorted(by_trial.items()):
        if run.manifest.trials > 1:
            yield f'<h3 class="note">Trial {trial + 1}</h3>'
        yield '<div class="matrix">' + "".join(_square(run, one) for one in members) + "</div>"
    yield (
        f'<p class="note">{badge("won", "solved")} {badge("lost", "not solved")}'
        f" {badge('unscored', 'no score')} The fuller a square, the further the episode got.</p>"
        "</section>"
    )


def _square(run: OpenRun, one: IndexedRow) -> str:
    row = one.row
    kind = outcome(row.scored, row.success)
    tenths = min(10, max(0, round(10 * (one.progress[-1] if one.progress else 0.0))))
    title = html_text(f"{row.task_type}: {one.goal} ({row.end.value}, {row.steps} steps)")
    address = html_text(episode_address(run.name, row.key))
    return f'<a class="square {kind} p{tenths}" href="{address}" title="{title}"></a>'


def _episodes(run: OpenRun, query: Mapping[str, str]) -> Iterator[str]:
    fitting = [one for one in run.in_order() if _wanted(one, query)]
    start = max(0, _whole(query.get("from", "0")))
    shown = fitting[start : start + PAGE_SIZE]
    yield '<section><h2 id="episodes">Episodes</h2>'
    yield _filters(run, query)
    yield f'<p class="note">{len(fitting):,} of {len(run.rows):,} episodes</p>'
    yield table(_HEADINGS, (_row(run, one) for one in shown), "sortable")
    yield _pages(len(fitting), start, query)
    yield "</section>"


def _row(run: OpenRun, one: IndexedRow) -> Sequence[str]:
    row = one.row
    kind = outcome(row.scored, row.success)
    trial = f" · {row.trial + 1}" if run.manifest.trials > 1 else ""
    invalid = row.values.get("invalid")
    return (
        badge(kind, {"won": "solved", "lost": "not solved"}.get(kind, "no score")),
        link(episode_address(run.name, row.key), f"{row.task_id}{trial}", "task"),
        html_text(one.goal),
        html_text(row.end.value.replace("_", " ")),
        str(row.steps),
        f"{one.progress[-1]:.2f}" if one.progress else "–",
        sparkline((0.0, *one.progress), kind),
        "–" if invalid is None else f"{invalid:.0%}",
    )


def _wanted(one: IndexedRow, query: Mapping[str, str]) -> bool:
    row = one.row
    kind = outcome(row.scored, row.success)
    text = query.get("text", "").lower()
    return (
        query.get("type", "") in ("", row.task_type)
        and query.get("outcome", "") in ("", kind)
        and query.get("end", "") in ("", row.end.value)
        and (not text or text in f"{row.task_id} {one.goal}".lower())
    )


def _filters(run: OpenRun, query: Mapping[str, str]) -> str:
    rows = run.rows
    choices = {
        "type": sorted({one.row.task_type for one in rows}),
        "outcome": sorted({outcome(one.row.scored, one.row.success) for one in rows}),
        "end": sorted({one.row.end.value for one in rows}),
    }
    parts = []
    for name, values in choices.items():
        options = "".join(
            f"<option{' selected' if query.get(name) == value else ''}>{html_text(value)}</option>"
            for value in values
        )
        parts.append(
            f'<label>{name}<select name="{name}"><option value="">any</option>{options}'
            "</select></label>"
        )
    text = html_text(query.get("text", ""))
    parts.append(f'<label>text<input type="search" name="text" value="{text}"></label>')
    return f'<form class="filters">{"".join(parts)}<button>Show</button></form>'


def _pages(total: int, start: int, query: Mapping[str, str]) -> str:
    if total <= PAGE_SIZE:
        return ""
    kept = "".join(
        f'<input type="hidden" name="{html_text(name)}" value="{html_text(value)}">'
        for name, value in query.items()
        if name != "from"
    )
    buttons = "".join(
        f'<button name="from" value="{first}"{" disabled" if first == start else ""}>'
        f"{first + 1}–{min(first + PAGE_SIZE, total)}</button>"
        for first in range(0, total, PAGE_SIZE)
    )
    return f'<form class="pages">{kept}{buttons}</form>'


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
