"""Two or more runs beside each other: differences, tasks that flipped, trajectories aligned."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from urllib.parse import urlencode

from agentquest.records.episode import EpisodeRecord, Step
from agentquest.reports.compare import ComparedRun, Comparison, compare_runs
from agentquest.reports.render.comparison import text_comparison
from agentquest.reports.safe_text import html_text
from agentquest.viewer.layout import badge, episode_address, link, run_address, table
from agentquest.viewer.library import OpenRun


def compare_page(runs: Sequence[OpenRun], query: Mapping[str, str]) -> Iterator[str]:
    """Each run against the first; `task` in the query shows their episodes of it side by side."""
    yield "<h1>Compare</h1>"
    compared = [
        ComparedRun(run.name, run.manifest, [one.row for one in run.rows], run.table)
        for run in runs
    ]
    comparisons = compare_runs(compared)
    for comparison in comparisons:
        yield f'<section><pre class="answer">{html_text(text_comparison([comparison]))}</pre>'
        yield from _flips(runs, comparison)
        yield "</section>"
    wanted = query.get("task")
    if wanted:
        yield from _side_by_side(runs, wanted)


def _flips(runs: Sequence[OpenRun], comparison: Comparison) -> Iterator[str]:
    for title, tasks in (
        ("Solved in the baseline only", comparison.worse),
        ("Solved here only", comparison.better),
    ):
        if not tasks:
            continue
        yield f"<h3>{html_text(title)} ({len(tasks)})</h3>"
        chosen = [("run", run.name) for run in runs]
        yield table(
            ("task", ""),
            (
                (html_text(task), link(f"/compare?{urlencode([*chosen, ('task', task)])}#pair",
                                       "side by side"))
                for task in tasks
            ),
        )  # fmt: skip


def _side_by_side(runs: Sequence[OpenRun], task: str) -> Iterator[str]:
    """The first trial of one task in each run, step by step, the first difference marked."""
    yield f'<section id="pair"><h2>{html_text(task)}</h2>'
    records = []
    for run in runs:
        one = next((one for one in run.in_order() if one.row.task_id == task), None)
        if one is not None:
            records.append((run, run.index.record(one)))
    if len(records) < 2:
        yield "<p>Only one of these runs has this task.</p></section>"
        return
    differs = first_difference([record for _, record in records])
    if differs is not None:
        yield f'<p class="note">The trajectories first differ at step {differs}.</p>'
    headings = ["#step", *(run.name for run, _ in records)]
    yield table(headings, _aligned(records, differs), "pair")
    yield '<p class="note">' + " · ".join(
        f"{link(run_address(run.name), run.name)}: "
        f"{link(episode_address(run.name, record.key), 'whole episode')}"
        for run, record in records
    )
    yield "</p></section>"


def first_difference(records: Sequence[EpisodeRecord]) -> int | None:
    """The first step whose actions are not the same in all episodes, from 1; None for no such."""
    actions = [record.actions for record in records]
    for place, together in enumerate(zip_longest(*actions), start=1):
        if len(set(together)) > 1:
            return place
    return None


def _aligned(
    records: Sequence[tuple[OpenRun, EpisodeRecord]], differs: int | None
) -> Iterator[Sequence[str]]:
    steps = [record.steps for _, record in records]
    for place, together in enumerate(zip_longest(*steps), start=1):
        mark = f" {badge('lost', 'first difference')}" if place == differs else ""
        cells = [
            _cell(run.name, record, step)
            for (run, record), step in zip(records, together, strict=True)
        ]
        yield (f"{place}{mark}", *cells)


def _cell(run: str, record: EpisodeRecord, step: Step | None) -> str:
    if step is None:
        return f'<span class="soft">{html_text(record.end.value.replace("_", " "))}</span>'
    action = step.action if step.action is not None else "no action"
    kind = "" if step.valid else " invalid"
    address = html_text(episode_address(run, record.key, step.index))
    return (
        f'<a class="act{kind}" href="{address}"><code>{html_text(action)}</code></a>'
        f'<span class="soft"> {step.progress:.2f}</span><br>'
        f'<span class="seen">{html_text(step.observation[:300])}</span>'
    )
