"""What all pages have in common, and small pieces that several use."""

from collections.abc import Iterable, Sequence
from urllib.parse import quote, urlencode

from agentquest.metrics.statistics import Estimate
from agentquest.reports.safe_text import html_text

NAVIGATION = (("/", "Runs"), ("/leaderboard", "Leaderboard"))


def page(title: str, body: Iterable[str], here: str = "", script_data: str = "") -> str:
    """A whole page; `script_data` tells the script what to follow."""
    links = "".join(
        f'<a href="{href}"{" aria-current=page" if href == here else ""}>{text}</a>'
        for href, text in NAVIGATION
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{html_text(title)} · AgentQuest</title>"
        '<link rel="icon" href="/static/icon.svg"><link rel="stylesheet" href="/static/page.css">'
        '<link rel="stylesheet" href="/static/viewer.css">'
        '<script src="/static/viewer.js" defer></script></head>'
        f'<body{script_data}><a class="skip" href="#content">Skip to the content</a>'
        f'<nav class="top"><span class="brand">AgentQuest</span>{links}</nav>'
        f'<main id="content">{"".join(body)}</main></body></html>\n'
    )


def link(href: str, text: object, kind: str = "") -> str:
    """A link; both parts are escaped here, `kind` is a CSS class."""
    style = f' class="{kind}"' if kind else ""
    return f'<a href="{html_text(href)}"{style}>{html_text(text)}</a>'


def run_address(name: str) -> str:
    """Where a run's page is."""
    return f"/run/{quote(name)}"


def episode_address(run: str, key: str, step: int | None = None) -> str:
    """Where an episode's page is, opened at a step if one is given."""
    query = {"run": run, "episode": key, **({"step": str(step)} if step is not None else {})}
    return f"/episode?{urlencode(query)}"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """Cells are HTML already; a heading that begins with `#` is of numbers."""
    head = "".join(
        f'<th scope="col"{_number(heading)}>{html_text(heading.lstrip("#"))}</th>'
        for heading in headings
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{_number(heading)}>{cell}</td>"
            for heading, cell in zip(headings, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide"><table class="{kind}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _number(heading: str) -> str:
    return ' class="number"' if heading.startswith("#") else ""


def interval(estimate: Estimate | None) -> str:
    """A rate with its interval, as text and as a small picture."""
    if estimate is None:
        return "–"
    low, dot, high = (round(100 * v, 1) for v in (estimate.low, estimate.value, estimate.high))
    return (
        f'<span class="rate">{dot:.1f}% <span class="soft">[{low:.1f}–{high:.1f}]</span></span>'
        f'<svg class="mini" viewBox="0 0 100 8" aria-hidden="true">'
        f'<rect class="band" x="{low}" y="2" width="{max(high - low, 0.8):.1f}" height="4" rx="2"/>'
        f'<circle class="dot" cx="{dot}" cy="4" r="3"/></svg>'
    )


def badge(kind: str, text: str | None = None) -> str:
    """A small label; `kind` is its CSS class and, without a text, its text."""
    return f'<span class="badge {html_text(kind)}">{html_text(text or kind)}</span>'


def alert(text: str) -> str:
    """A warning that screen readers announce."""
    return f'<div class="alert" role="alert">{html_text(text)}</div>'
