"""What all pages have in common, and small pieces that several use."""

from collections.abc import Iterable, Mapping, Sequence

from agentquest.metrics.statistics import Estimate
from agentquest.reports.safe_text import html_text
from agentquest.viewer.addresses import PAGES, Addresses

KINDS = {"won": "solved", "lost": "not solved", "unscored": "no score"}
_LONG = 3000  # characters
# What an exported page may do, whatever a record says; a server says it in a header.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self';"
    " base-uri 'none'; form-action 'none'"
)


def page(site: Addresses, title: str, body: Iterable[str], here: str = "", follow: str = "") -> str:
    """A whole page; `follow` is what the script asks whether something has changed."""
    links = "".join(
        f'<a href="{address}"{" aria-current=page" if name == here else ""}>{text}</a>'
        for name, text in PAGES.items()
        if (address := site.page(name))
    )
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    followed = f' data-follow="{html_text(follow)}"' if follow else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"{'' if site.served else policy}"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{html_text(title)} · AgentQuest</title>"
        f'<link rel="icon" href="{site.asset("icon.svg")}">'
        f'<link rel="stylesheet" href="{site.asset("viewer.css")}">'
        f'<script src="{site.asset("viewer.js")}" defer></script></head>'
        f'<body{followed}><a class="skip" href="#content">Skip to content</a>'
        f'<header class="top"><span class="brand">AgentQuest</span>'
        f'<nav aria-label="Pages">{links}</nav></header>'
        f'<main id="content" tabindex="-1">{"".join(body)}</main></body></html>\n'
    )


def link(href: str | None, text: object, kind: str = "") -> str:
    """A link, or the text alone where there is nothing to lead to."""
    style = f' class="{kind}"' if kind else ""
    if href is None:
        return f"<span{style}>{html_text(text)}</span>"
    return f'<a href="{html_text(href)}"{style}>{html_text(text)}</a>'


def outcome(scored: bool, success: bool) -> str:
    """The style class for how an episode went; `KINDS` has the word."""
    if not scored:
        return "unscored"
    return "won" if success else "lost"


def fold(summary: str, content: str) -> str:
    """A part that is closed at first; `content` is HTML, `summary` is not."""
    return f"<details><summary>{html_text(summary)}</summary>{content}</details>"


def pre(text: str, kind: str = "", content: str | None = None) -> str:
    """A text as it is; `content` is its HTML where that is more than the text.

    A long one scrolls, and can then be reached by keyboard.
    """
    kinds = f"{kind} long".strip() if len(text) > _LONG else kind
    style = f' class="{kinds}"' if kinds else ""
    reach = ' tabindex="0" role="region" aria-label="a long text"' if len(text) > _LONG else ""
    return f"<pre{style}{reach}>{html_text(text) if content is None else content}</pre>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and values, which are HTML already."""
    body = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{body}</dl>'


def table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "", caption: str = ""
) -> str:
    """Cells are HTML already; a heading that begins with `#` is of numbers.

    A row may begin with a mapping of what filters know of it.
    """
    head = "".join(
        f'<th scope="col"{_number(heading)}>{html_text(heading.lstrip("#"))}</th>'
        for heading in headings
    )
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{html_text(caption or kind)}">'
        f'<table class="{kind}"><caption>{html_text(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(_table_row(headings, row) for row in rows)}</tbody></table></div>"
    )


def known_columns(
    headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[str], list[Sequence[str]]]:
    """Headings and rows without the columns that no row knows anything of."""
    kept = [place for place, column in enumerate(zip(*rows, strict=True)) if {*column} - {"–", ""}]
    kept = kept or [*range(len(headings))]
    return [headings[place] for place in kept], [_some(row, kept) for row in rows]


def _some(row: Sequence[str], places: Sequence[int]) -> Sequence[str]:
    cells = [row[place] for place in places]
    return Cells(cells, row.known) if isinstance(row, Cells) else cells


class Cells(tuple[str, ...]):
    """The cells of a row, and what filters know of it."""

    known: Mapping[str, str]

    def __new__(cls, cells: Iterable[str], known: Mapping[str, str]) -> "Cells":
        made = super().__new__(cls, cells)
        made.known = known
        return made


def _table_row(headings: Sequence[str], row: Sequence[str]) -> str:
    known = row.known if isinstance(row, Cells) else {}
    data = "".join(f' data-{name}="{html_text(value)}"' for name, value in known.items())
    cells = "".join(
        f"<td{_number(heading)}>{cell}</td>" for heading, cell in zip(headings, row, strict=True)
    )
    return f"<tr{data}>{cells}</tr>"


def _number(heading: str) -> str:
    return ' class="number"' if heading.startswith("#") else ""


def interval(estimate: Estimate | None) -> str:
    """A rate with its interval, as text and as a small picture."""
    if estimate is None:
        return "–"
    low, dot, high = (round(100 * v, 1) for v in (estimate.low, estimate.value, estimate.high))
    return (
        f'<span class="rate"><b>{dot:.1f}%</b> <span class="soft">{low:.0f}–{high:.0f}</span>'
        "</span>"
        f'<svg class="mini" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="band" x="{low}" y="0" width="{max(high - low, 0.8):.1f}" height="8"/>'
        f'<rect class="dot" x="{max(dot - 0.8, 0):.1f}" y="0" width="1.6" height="8"/></svg>'
    )


def choice(
    name: str, label: str, options: Iterable[str], chosen: str, any_text: str = "any"
) -> str:
    """A labelled choice of values; the first is none of them."""
    listed = "".join(
        f"<option{' selected' if option == chosen else ''}>{html_text(option)}</option>"
        for option in options
    )
    return (
        f'<label>{label}<select name="{name}"><option value="">{any_text}</option>{listed}'
        "</select></label>"
    )


def badge(kind: str, text: str | None = None) -> str:
    """A word with a small sign; `kind` is its style class."""
    return f'<span class="badge {html_text(kind)}">{html_text(text or kind)}</span>'


def alert(text: str) -> str:
    """What must not be overlooked."""
    return f'<div class="alert" role="alert">{html_text(text)}</div>'
