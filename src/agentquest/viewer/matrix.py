"""All episodes of a run as squares: a row for each task type, a column for each task, its trials
below each other; the fuller a square, the further the episode got."""

from collections.abc import Iterator, Sequence

from agentquest.metrics.row_index import IndexedRow
from agentquest.reports.safe_text import html_text
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.layout import KINDS, outcome
from agentquest.viewer.library import OpenRun
from agentquest.words import counted

# More squares than this are drawn as one picture, without a link for each.
_LINKED = 2500
_SIDE, _APART, _ACROSS = 5, 6, 160


def matrix(site: Addresses, run: OpenRun) -> Iterator[str]:
    """The section of the run's page."""
    rows = run.in_order()
    legend = "".join(f'<span class="key {kind}">{text}</span>' for kind, text in KINDS.items())
    yield '<section><h2>Episodes at a glance</h2><p class="legend">'
    yield f'{legend}<span class="soft">The fuller a square, the further the episode got.</span></p>'
    if len(rows) > _LINKED:
        yield _picture(rows)
    else:
        yield from _linked(site, run, rows)
    yield "</section>"


def _linked(site: Addresses, run: OpenRun, rows: Sequence[IndexedRow]) -> Iterator[str]:
    types: dict[str, dict[str, list[IndexedRow]]] = {}
    for one in rows:
        types.setdefault(one.row.task_type, {}).setdefault(one.row.task_id, []).append(one)
    yield '<div class="matrix">'
    for name, tasks in types.items():
        yield f'<span class="name">{html_text(name)}</span><div class="squares">'
        for trials in tasks.values():
            drawn = "".join(_square(site, run.name, one) for one in trials)
            yield f'<span class="trials">{drawn}</span>' if len(trials) > 1 else drawn
        yield "</div>"
    yield "</div>"


def _square(site: Addresses, run: str, one: IndexedRow) -> str:
    row = one.row
    kind = outcome(row.scored, row.success)
    title = html_text(f"{one.goal} ({KINDS[kind]}, {counted(row.steps, 'step')})")
    address = html_text(site.episode(run, row.key))
    return (
        f'<a class="square {kind} p{_tenths(one)}" href="{address}" title="{title}"'
        f' aria-label="{title}"></a>'
    )


def _tenths(one: IndexedRow) -> int:
    return min(10, max(0, round(10 * (one.progress[-1] if one.progress else 0.0))))


def _picture(rows: Sequence[IndexedRow]) -> str:
    """One path for each look, so that ten thousand squares stay a small page."""
    paths: dict[tuple[str, int], list[str]] = {}
    counts = dict.fromkeys(KINDS, 0)
    for place, one in enumerate(rows):
        kind = outcome(one.row.scored, one.row.success)
        counts[kind] += 1
        x, y = place % _ACROSS * _APART, place // _ACROSS * _APART
        square = f"M{x} {y}h{_SIDE}v{_SIDE}h-{_SIDE}z"
        paths.setdefault((kind, _tenths(one)), []).append(square)
    shapes = "".join(
        f'<path class="{kind} t{tenths}" d="{"".join(squares)}"/>'
        for (kind, tenths), squares in sorted(paths.items())
    )
    told = ", ".join(f"{number:,} {KINDS[kind]}" for kind, number in counts.items())
    height = (len(rows) // _ACROSS + 1) * _APART
    return (
        f'<svg class="many" viewBox="0 0 {_ACROSS * _APART} {height}" role="img"'
        f' aria-label="{told}">{shapes}</svg>'
    )
