"""The trajectories of one task next to each other, lined up where they do the same."""

import difflib
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from agentquest.records.episode import EpisodeRecord, Step
from agentquest.reports.safe_text import html_text
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.layout import badge, fold, link, pre, table
from agentquest.viewer.library import OpenRun
from agentquest.viewer.prompt_page import marked
from agentquest.words import counted

_OBSERVATION_SHOWN = 400
Line = tuple[Step | None, ...]


def side_by_side(site: Addresses, runs: Sequence[OpenRun], task: str) -> Iterator[str]:
    """The first trial of one task in each run, step by step, the first difference marked."""
    yield f'<section id="pair"><h2>{html_text(task)}</h2>'
    records = []
    for run in runs:
        one = next((one for one in run.in_order() if one.row.task_id == task), None)
        if one is not None:
            records.append((run.name, run.index.record(one)))
    if len(records) < 2:
        yield "<p>Only one of these runs has this task.</p></section>"
        return
    played = [record for _, record in records]
    differs = first_difference(played)
    yield f"<p>{html_text(played[0].goal)}</p>"
    if differs is not None:
        yield f'<p class="note">The trajectories first differ at step {differs}.</p>'
    else:
        yield '<p class="note">The trajectories are the same.</p>'
    headings = ["#step", *(name for name, _ in records)]
    yield table(headings, _rows(site, records, differs), "pair", "Trajectories side by side")
    yield '<p class="note">Whole episodes: ' + " · ".join(
        link(site.episode(name, record.key), name) for name, record in records
    )
    yield "</p>"
    yield from _prompts(records, differs or 1)
    yield "</section>"


def first_difference(records: Sequence[EpisodeRecord]) -> int | None:
    """The first step whose actions are not the same in all episodes, from 1; None for no such."""
    actions = [record.actions for record in records]
    for place, together in enumerate(zip_longest(*actions), start=1):
        if len(set(together)) > 1:
            return place
    return None


def aligned(records: Sequence[EpisodeRecord]) -> Iterator[Line]:
    """Steps that belong together: two episodes by their common actions, more by their places."""
    if len(records) != 2:
        yield from zip_longest(*(record.steps for record in records))
        return
    first, second = (record.steps for record in records)
    matcher = difflib.SequenceMatcher(None, records[0].actions, records[1].actions, autojunk=False)
    for _, a, a_end, b, b_end in matcher.get_opcodes():
        yield from zip_longest(first[a:a_end], second[b:b_end])


def _rows(
    site: Addresses, records: Sequence[tuple[str, EpisodeRecord]], differs: int | None
) -> Iterator[Sequence[str]]:
    marked_already = False
    for together in aligned([record for _, record in records]):
        places = {step.index for step in together if step is not None}
        first = differs in places and not marked_already
        marked_already = marked_already or first
        mark = f" {badge('lost', 'first difference')}" if first else ""
        shown = "/".join(str(step.index) if step else "–" for step in together)
        shown = str(places.pop()) if len(places) == 1 and None not in together else shown
        yield (
            f"{shown}{mark}",
            *(
                _cell(site, name, record, step)
                for (name, record), step in zip(records, together, strict=True)
            ),
        )
    yield ("end", *(html_text(record.end.value.replace("_", " ")) for _, record in records))


def _cell(site: Addresses, run: str, record: EpisodeRecord, step: Step | None) -> str:
    if step is None:
        return ""
    action = step.action if step.action is not None else "no action"
    kind = "act" if step.valid else "act invalid"
    address = html_text(site.episode(run, record.key, step.index))
    more = "…" if len(step.observation) > _OBSERVATION_SHOWN else ""
    return (
        f'<a class="{kind}" href="{address}"><code>{html_text(action)}</code></a>'
        f' <span class="soft">{step.progress:.2f}</span>'
        f'<span class="seen">{html_text(step.observation[:_OBSERVATION_SHOWN])}{more}</span>'
    )


def _prompts(records: Sequence[tuple[str, EpisodeRecord]], place: int) -> Iterator[str]:
    """The prompts of the step where they part; what the first run's does not say is marked."""
    texts = []
    for name, record in records:
        steps = record.steps[place - 1 : place] or record.steps[:1]
        messages = record.prompt(steps[0]) if steps else []
        texts.append((name, "\n\n".join(f"[{one.role}]\n{one.content}" for one in messages)))
    if not any(text for _, text in texts):
        return
    yield f"<h3>Prompts at step {place}</h3>"
    yield '<p class="note">Text that is not in the first prompt is marked.</p><div class="beside">'
    base = texts[0][1]
    for number, (name, text) in enumerate(texts):
        content = marked(base, text) if number else None
        size = counted(len(text), "character")
        yield fold(f"{name}: {size}", pre(text or "no prompt", content=content))
    yield "</div>"
