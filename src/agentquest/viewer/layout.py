"""The pieces that several pages use, and how a page is rendered.

Pages are htpy nodes: text is escaped by its type, markup is an element or a `Markup`.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat

import htpy as h
from markupsafe import Markup

from agentquest.lib.markup import Piece, Template, join
from agentquest.metrics.report import short_rate
from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.statistics import Estimate
from agentquest.metrics.summary import Standing
from agentquest.records.episode import EpisodeRecord
from agentquest.safe_text import visible

KINDS = {"won": "solved", "lost": "not solved", "unscored": "no score"}
_LONG = 3000  # characters
_LINK = Template('<a href="%s"%s>%s</a>')
_NO_LINK = Template("<span%s>%s</span>")
_CLASS = Template(' class="%s"')
_BADGE = Template('<span class="badge %s">%s</span>')
_KEY = Template('<span class="key %s">%s</span>')
fold = Template("<details><summary>%s</summary>%s</details>")  # a part that is closed at first
_PRE = Template("<pre%s%s>%s</pre>")
_REACHABLE = Markup(' tabindex="0" role="region" aria-label="a long text"')
_HEADING = Template('<th scope="col"%s>%s</th>')
_DATA = Template(' data-%s="%s"')
_INTERVAL = Template(
    '<span class="rate"><b>%s</b> <span class="soft">%s</span></span>'
    '<svg class="mini" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
    '<rect class="band" x="%.1f" y="0" width="%.1f" height="8"/>'
    '<rect class="dot" x="%.1f" y="0" width="1.6" height="8"/></svg>'
)


def render(*nodes: h.Node) -> str:
    """The HTML of nodes, one after the other.

    The one place where characters that nobody sees become visible escapes. No markup of ours
    has such characters, so the whole page can be cleaned at once and no text is forgotten.
    """
    return visible("".join(chunk for node in nodes for chunk in h.fragment[node].iter_chunks()))


def link(href: str | None, text: Piece, kind: str = "") -> Markup:
    """A link, or the text alone where there is nothing to link to."""
    style = _CLASS(kind) if kind else ""
    if href is None:
        return _NO_LINK(style, text)
    return _LINK(href, style, text)


def up_link(href: str | None, text: str) -> h.Node:
    """The link to the page above this one, if there is one."""
    return href and h.p(".up")[link(href, text)]


def outcome(episode: EpisodeRow | EpisodeRecord) -> str:
    """The style class for how an episode went; `KINDS` has the word."""
    if not episode.scored:
        return "unscored"
    return "won" if episode.success else "lost"


def legend(kinds: Mapping[str, str]) -> Markup:
    """What colours mean: a sign and a text for each style class."""
    return join(_KEY(kind, text) for kind, text in kinds.items())


def pre(text: str, kind: str = "", content: Piece | None = None) -> Markup:
    """A text as it is; `content` shows it where marks are added to it.

    A long text scrolls, and can then be reached by keyboard.
    """
    long = len(text) > _LONG
    kinds = f"{kind} long".strip() if long else kind
    style = _CLASS(kinds) if kinds else ""
    return _PRE(style, _REACHABLE if long else "", text if content is None else content)


def facts(pairs: Iterable[tuple[str, Piece]]) -> h.Element:
    """Names and values."""
    return h.dl(".facts")[(h.div[h.dt[name], h.dd[value]] for name, value in pairs)]


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Piece]],
    kind: str = "",
    caption: str = "",
    filtered_by: Iterable[Mapping[str, str]] = (),
) -> h.Element:
    """A heading that begins with `#` is of numbers. `filtered_by` has, for each row, the values
    that the script of an exported page filters by."""
    numeric = [heading.startswith("#") for heading in headings]
    head = join(
        _HEADING(_CLASS("number") if number else "", heading.lstrip("#"))
        for heading, number in zip(headings, numeric, strict=True)
    )
    row = Template(
        "<tr%s>"
        + "".join('<td class="number">%s</td>' if number else "<td>%s</td>" for number in numeric)
        + "</tr>"
    )
    body = join(
        row(join(_DATA(name, value) for name, value in values.items()), *cells)
        for cells, values in zip(rows, chain(filtered_by, repeat({})), strict=False)
    )
    return scrolling_table(kind, caption, head, body)


def scrolling_table(kind: str, caption: str, head: Markup, body: Markup) -> h.Element:
    """A table that scrolls by itself where it is wider than the page."""
    return h.div(".wide", tabindex="0", role="region", aria_label=caption or kind)[
        h.table(class_=kind or None)[h.caption[caption], h.thead[h.tr[head]], h.tbody[body]]
    ]


def known_columns(
    headings: Sequence[str], rows: Sequence[Sequence[Piece]]
) -> tuple[list[str], list[Sequence[Piece]]]:
    """Headings and rows without the columns in which every row is empty."""
    empty = ("–", "")
    full = [
        place
        for place, column in enumerate(zip(*rows, strict=True))
        if any(cell not in empty for cell in column)
    ] or [*range(len(headings))]
    return [headings[place] for place in full], [[row[place] for place in full] for row in rows]


def number(value: float | None, decimals: int = 0) -> str:
    """A figure of a table; unknown is not zero."""
    if value is None:
        return "–"
    return f"{value:.{decimals}f}" if decimals else f"{value:,}"


def interval(estimate: Estimate | None) -> Piece:
    """A rate with its interval, as text and as a small picture."""
    if estimate is None:
        return "–"
    low, dot, high = (100 * v for v in (estimate.low, estimate.value, estimate.high))
    value, ends = short_rate(estimate)
    ends += " few" if estimate.of_few_tasks else ""
    return _INTERVAL(value, ends, low, max(high - low, 0.8), max(dot - 0.8, 0))


def standing(found: Standing) -> h.Fragment:
    """How far a run is, in place of a rate: its counts, and what they leave open."""
    return h.fragment[", ".join(found.counts), h.br, h.small[found.outlook]]


def choice(
    name: str, label: str, options: Iterable[str], chosen: str, any_text: str = "any"
) -> h.Element:
    """A labelled choice of values; the first is none of them."""
    listed = (h.option(selected=one == chosen)[one] for one in options)
    return h.label[label, h.select(name=name)[h.option(value="")[any_text], listed]]


def filter_form(
    served: bool, listed: str, fields: Iterable[h.Element], label: str, text: str
) -> h.Element:
    """What a list is filtered by, `text` last: the server does it, or the script where there is
    none."""
    return h.form(".filters", data_here=None if served else listed)[
        fields, h.label[label, h.input(type="search", name="text", value=text)], h.button["Show"]
    ]


@lru_cache(maxsize=256)
def badge(kind: str, text: str | None = None) -> Markup:
    """A word with a small sign; `kind` is its style class."""
    return _BADGE(kind, text or kind)


def alert(text: str) -> h.Element:
    """What must not be overlooked."""
    return h.div(".alert", role="alert")[text]
