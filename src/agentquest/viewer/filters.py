"""Finds the episodes of a run: by the figures of their rows, then by text.

Rows are in memory. Text is in the records, which may be far larger than memory: they are read
one by one, up to a number of bytes, and the page says how far the search got.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agentquest.metrics.rows import EpisodeRow
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.layout import outcome
from agentquest.words import parse_whole_number

SEARCHED_BYTES = 48 * 1024 * 1024
# What episodes can be filtered by: a value, or the least that a figure must be.
CHOICES: dict[str, Callable[[EpisodeRow], str]] = {
    "type": lambda one: one.task_type,
    "outcome": lambda one: outcome(one.scored, one.success),
    "end": lambda one: one.end.value,
}
LEAST: dict[str, Callable[[EpisodeRow], float]] = {
    "invalid": lambda one: invalid_actions(one),
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


def find(run: StoredRun, query: Mapping[str, str], most_bytes: int = SEARCHED_BYTES) -> Found:
    """The episodes that fit a query, in its order."""
    rows = run.rows
    for name, value_of in CHOICES.items():
        if chosen := query.get(name):
            rows = [one for one in rows if value_of(one) == chosen]
    for name, figure_of in LEAST.items():
        if least := _number(query.get(name)):
            rows = [one for one in rows if figure_of(one) >= least]
    if query.get("sort") in SORTS:
        rows.sort(key=SORTS[query["sort"]])
    text = query.get("text", "").strip().lower()
    if not text:
        return Found(rows, {}, len(rows), len(rows))
    skipped = parse_number(query.get("after", ""))
    return _search(run, rows, text, skipped, most_bytes)


def invalid_actions(one: EpisodeRow) -> int:
    """How many steps were not carried out."""
    return round((one.values.get("invalid") or 0.0) * one.steps)


def parse_number(text: str) -> int:
    """A whole number in an address; 0 if it is none."""
    return parse_whole_number(text) or 0


def _number(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def _search(
    run: StoredRun, rows: Sequence[EpisodeRow], text: str, skipped: int, most_bytes: int
) -> Found:
    found: list[EpisodeRow] = []
    steps: dict[str, int] = {}
    read, searched = 0, skipped
    for one in rows[skipped:]:
        if read > most_bytes:
            break
        searched += 1
        if text in f"{one.task_id} {one.goal}".lower():
            found.append(one)
            continue
        read += run.span(one.key).size
        step = _first_step(run.record(one.key), text)
        if step is not None:
            found.append(one)
            steps[one.key] = step
    return Found(found, steps, searched, len(rows))


def _first_step(record: EpisodeRecord, text: str) -> int | None:
    if text in record.first_observation.lower():
        return 0
    return next((step.index for step in record.steps if _says(step, text)), None)


def _says(step: Step, text: str) -> bool:
    parts = (step.action or "", step.observation, step.reply, step.reasoning)
    return any(text in part.lower() for part in parts)
