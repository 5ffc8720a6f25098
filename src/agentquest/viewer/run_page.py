"""One run: its figures, all its episodes at a glance, and the list of those that fit a filter."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlencode

import htpy as h
from markupsafe import Markup

from agentquest.lib.markup import Piece, Template, join
from agentquest.metrics.report import hide_success
from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.table import Metric
from agentquest.store.search import Hits
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.charts import sparkline
from agentquest.viewer.figures import figures, opening, pictures
from agentquest.viewer.filters import (
    CHOICES,
    LEAST,
    SORTS,
    Found,
    find,
    invalid_actions,
    parse_number,
)
from agentquest.viewer.layout import (
    KINDS,
    badge,
    choice,
    filter_form,
    known_columns,
    legend,
    link,
    number,
    outcome,
    table,
    up_link,
)
from agentquest.words import counted

PAGE_SIZE = 200
_HEADINGS = (
    "outcome", "goal", "task", "end", "#steps", "#progress", "over its steps", "#invalid",
    "#repetition", "#tokens", "#cost", "#seconds",
)  # fmt: skip
# Every other metric has a column: these are in one of the above, or say little of one episode.
_NO_COLUMN = frozenset(
    ("success", "steps", "steps_of_successes", "reward", "progress", "repetition", "invalid",
     "behaviour")
)  # fmt: skip
_TASK = Template('<span class="task" title="%s">%s</span><small>%s%s</small>')
# With more squares than this the matrix is one picture, without a link for each.
_MOST_LINKS = 2500
_SIDE, _APART, _ACROSS = 5, 6, 160
_SQUARE = Template('<a class="square %s p%s" href="%s" title="%s" aria-label="%s"></a>')
_TRIALS = Template('<span class="trials">%s</span>')


def run_page(
    site: Addresses, run: StoredRun, query: Mapping[str, str], hits: Hits | None = None
) -> Iterator[h.Node]:
    """The whole page of a run; `query` chooses among its episodes."""
    standing = run.standing
    report = hide_success(run.report, standing) if standing else run.report
    yield up_link(site.page("runs"), "All runs")
    yield opening(report, standing)
    if site.served and standing:
        yield h.section("#live", aria_live="polite")[h.h2["In progress"], h.ol]
    if not run.rows:
        yield h.p(".note")["No episode has ended yet."]
        return
    yield _matrix(site, run)
    yield episode_list(site, run, query, hits)
    yield figures(report)
    yield pictures(run.rows)


def episode_list(
    site: Addresses, run: StoredRun, query: Mapping[str, str], hits: Hits | None = None
) -> h.Element:
    """The episodes that fit, a page of them."""
    found = find(run, query, hits)
    start = min(parse_number(query.get("from", "0")), max(len(found.rows) - 1, 0))
    shown = found.rows[start : start + PAGE_SIZE]
    episodes = counted(len(run.rows), "episode")
    own = [metric for metric in run.report.shown if metric.key not in _NO_COLUMN]
    headings = (*_HEADINGS, *(f"#{metric.heading}" for metric in own))
    rows = [_row(site, run, one, found, own) for one in shown]
    known = () if site.served else map(_filter_values, shown)
    listed: h.Node
    if rows:
        listed = table(*known_columns(headings, rows), "episodes sortable", "Episodes", known)
    else:
        listed = h.p["No episode matches. ", link(site.run(run.name), "All episodes")]
    return h.section[
        h.h2("#episodes")["Episodes"],
        _filters(site, run.rows if site.served else shown, query),
        h.p("#fitting.note")[f"{len(found.rows):,} of {episodes}"],
        _unlinked(site, run),
        _search_state(site, run, query, found),
        listed,
        _page_links(site, run, len(found.rows), start, query),
    ]


def _unlinked(site: Addresses, run: StoredRun) -> h.Node:
    number = site.count_unlinked(run.name)
    if not number:
        return None
    return h.p(".note")[
        f"{counted(len(run.rows) - number, 'episode')} of {len(run.rows):,} have pages here, those"
        " that were not solved first. To write more: ",
        h.code["--episodes N"],
        ".",
    ]


def _row(
    site: Addresses, run: StoredRun, row: EpisodeRow, found: Found, own: Sequence[Metric]
) -> Sequence[Piece]:
    kind, task = outcome(row), row.task_id
    trial = f", trial {row.trial + 1}" if run.manifest.trials > 1 or row.trial else ""
    repetition = row.values.get("repetition")
    return (
        badge(kind, KINDS[kind]),
        link(site.episode(run.name, row.key, found.steps.get(row.key)), row.goal or "(no goal)"),
        _TASK(task, task, row.task_type, trial),
        row.end.value.replace("_", " "),
        str(row.steps),
        number(row.progress_curve[-1] if row.progress_curve else None, 2),
        sparkline((0.0, *row.progress_curve), kind),
        str(invalid_actions(row)),
        number(repetition, 2),
        number(row.spent.tokens),
        number(row.spent.whole_cost, 4),
        f"{row.seconds:.1f}",
        *(_value(metric, row) for metric in own),
    )


def _filter_values(row: EpisodeRow) -> Mapping[str, str]:
    return {name: str(value_of(row)) for name, value_of in {**CHOICES, **LEAST}.items()}


def _value(metric: Metric, one: EpisodeRow) -> str:
    value = one.values.get(metric.key)
    return "–" if value is None else metric.format_value(value)


def _filters(site: Addresses, rows: Sequence[EpisodeRow], query: Mapping[str, str]) -> h.Element:
    fields = [
        choice(name, name, sorted(set(map(value_of, rows))), query.get(name, ""))
        for name, value_of in CHOICES.items()
    ]
    for name in LEAST:
        label = "invalid actions" if name == "invalid" else name
        least = query.get(name, "")
        field = h.input(type="number", name=name, min="0", step="any", value=least)
        fields.append(h.label[f"{label} from", field])
    if site.served:
        fields.append(choice("sort", "order", SORTS, query.get("sort", ""), "as in the run"))
    label = "text in actions, observations, thoughts" if site.served else "text in the list"
    return filter_form(site.served, "episodes", fields, label, query.get("text", ""))


def _search_state(
    site: Addresses, run: StoredRun, query: Mapping[str, str], found: Found
) -> h.Node:
    """How far a search for words has come, and the way on."""
    if found.searched >= found.among:
        return None
    on = urlencode(query)
    return h.p(".note")[
        f"Searched {found.searched:,} of {counted(found.among, 'episode')}. ",
        link(f"{site.run(run.name)}?{on}#episodes", "Continue searching"),
    ]


def _page_links(
    site: Addresses, run: StoredRun, total: int, start: int, query: Mapping[str, str]
) -> h.Node:
    if total <= PAGE_SIZE:
        return None
    links: list[h.Node] = []
    for first in range(0, total, PAGE_SIZE):
        text = f"{first + 1}–{min(first + PAGE_SIZE, total)}"
        if first == start:
            links.append(h.span(aria_current="page")[text])
        elif site.served:
            address = f"{site.run(run.name)}?{urlencode({**query, 'from': first})}#episodes"
            links.append(link(address, text))
        else:
            links.append(link(site.run(run.name, first), text))
    return h.nav(".pages", aria_label="More episodes")[links]


def _matrix(site: Addresses, run: StoredRun) -> h.Element:
    """Episodes as squares: a row for each task type, a column for each task, its trials below
    each other; the fuller a square, the further the episode got."""
    rows = run.rows
    return h.section[
        h.h2["Episodes at a glance"],
        h.p(".legend")[
            legend(KINDS),
            h.span(".soft")["The fuller a square, the further the episode got."],
        ],
        _one_picture(rows) if len(rows) > _MOST_LINKS else _linked_squares(site, run, rows),
    ]


def _linked_squares(site: Addresses, run: StoredRun, rows: Sequence[EpisodeRow]) -> h.Element:
    types: dict[str, dict[str, list[EpisodeRow]]] = {}
    for one in rows:
        types.setdefault(one.task_type, {}).setdefault(one.task_id, []).append(one)

    def task(trials: Sequence[EpisodeRow]) -> Markup:
        squares = join(_square(site, run.name, one) for one in trials)
        return _TRIALS(squares) if len(trials) > 1 else squares

    return h.div(".matrix")[
        (
            [h.span(".name")[name], h.div(".squares")[join(map(task, tasks.values()))]]
            for name, tasks in types.items()
        )
    ]


def _square(site: Addresses, run: str, row: EpisodeRow) -> Markup:
    kind = outcome(row)
    title = f"{row.goal} ({KINDS[kind]}, {counted(row.steps, 'step')})"
    return _SQUARE(kind, _tenths(row), site.episode(run, row.key) or "#episodes", title, title)


def _tenths(one: EpisodeRow) -> int:
    return min(10, max(0, round(10 * (one.progress_curve[-1] if one.progress_curve else 0.0))))


def _one_picture(rows: Sequence[EpisodeRow]) -> h.Element:
    """One path for each look, so that ten thousand squares stay a small page."""
    paths: dict[tuple[str, int], list[str]] = {}
    counts = dict.fromkeys(KINDS, 0)
    for place, one in enumerate(rows):
        kind = outcome(one)
        counts[kind] += 1
        x, y = place % _ACROSS * _APART, place // _ACROSS * _APART
        square = f"M{x} {y}h{_SIDE}v{_SIDE}h-{_SIDE}z"
        paths.setdefault((kind, _tenths(one)), []).append(square)
    label = ", ".join(f"{count:,} {KINDS[kind]}" for kind, count in counts.items())
    box = f"0 0 {_ACROSS * _APART} {(len(rows) // _ACROSS + 1) * _APART}"
    return h.svg(".many", viewBox=box, role="img", aria_label=label)[
        (
            h.path(class_=f"{kind} t{tenths}", d="".join(squares))
            for (kind, tenths), squares in sorted(paths.items())
        )
    ]
