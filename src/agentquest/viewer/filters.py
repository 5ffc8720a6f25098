"""Finds the episodes of a run: by the figures of their rows, then by text.

Rows are in memory. Text is in the records, which may be far larger: they are read when somebody
first searches them, some at a time, and the page says how far the search got.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentquest.metrics.rows import EpisodeRow
from agentquest.store.search import READ_AT_ONCE, Hits, TextIndex
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.layout import outcome
from agentquest.words import parse_whole_number


def invalid_actions(one: EpisodeRow) -> int:
    """How many steps were not carried out."""
    return round((one.values.get("invalid") or 0.0) * one.steps)


# What episodes can be filtered by: a value, or the least that a figure must be.
CHOICES: dict[str, Callable[[EpisodeRow], str]] = {
    "type": lambda one: one.task_type,
    "outcome": outcome,
    "end": lambda one: one.end.value,
}
LEAST: dict[str, Callable[[EpisodeRow], float]] = {
    "invalid": invalid_actions,
    "repetition": lambda one: one.values.get("repetition") or 0,
    "cost": lambda one: one.spent.cost or 0.0,
}
SORTS: dict[str, Callable[[EpisodeRow], float]] = {
    "most steps": lambda one: -one.steps,
    "least progress": lambda one: one.progress_curve[-1] if one.progress_curve else 0.0,
    "most invalid actions": lambda one: -invalid_actions(one),
    "most repetition": lambda one: -LEAST["repetition"](one),
    "highest cost": lambda one: -(one.spent.cost or 0.0),
    "slowest": lambda one: -one.seconds,
}


@dataclass(frozen=True)
class Found:
    """The episodes that fit, and the first step of each that has the text.

    The search has read `searched` of `among` episodes; all of them where there is no text.
    """

    rows: list[EpisodeRow]
    steps: Mapping[str, int]
    searched: int
    among: int


def find(run: StoredRun, query: Mapping[str, str], hits: Hits | None = None) -> Found:
    """The episodes that fit a query, in its order; `hits` is what `search` found for it."""
    rows = _filter(run, query)
    text = _text(query)
    if not text:
        return Found(rows, {}, len(rows), len(rows))
    hits = hits or search(run, query, TextIndex(run.episodes))()
    found: list[EpisodeRow] = []
    steps: dict[str, int] = {}
    searched = 0
    for one in rows:
        span = run.span(one.key)
        step = hits.steps.get(span)
        searched += span in hits.searched
        if text in f"{one.task_id} {one.goal}".lower():
            found.append(one)
        elif step is not None:
            found.append(one)
            steps[one.key] = step
    return Found(found, steps, searched, len(rows))


def search(
    run: StoredRun, query: Mapping[str, str], texts: TextIndex, most_bytes: int = READ_AT_ONCE
) -> Callable[[], Hits]:
    """What searches the episodes that fit otherwise; when it is called, the run is not used."""
    spans = [run.span(one.key) for one in _filter(run, query)]
    return lambda: texts.find(_text(query), spans, most_bytes)


def _filter(run: StoredRun, query: Mapping[str, str]) -> list[EpisodeRow]:
    rows = run.rows
    for name, value_of in CHOICES.items():
        if chosen := query.get(name):
            rows = [one for one in rows if value_of(one) == chosen]
    for name, figure_of in LEAST.items():
        if least := _number(query.get(name)):
            rows = [one for one in rows if figure_of(one) >= least]
    if query.get("sort") in SORTS:
        rows.sort(key=SORTS[query["sort"]])
    return rows


def _text(query: Mapping[str, str]) -> str:
    return query.get("text", "").strip().lower()


def parse_number(text: str) -> int:
    """A whole number in an address; 0 if it is none."""
    return parse_whole_number(text) or 0


def _number(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0
