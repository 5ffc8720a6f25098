"""Two or more runs beside each other: differences, tasks that flipped, steps and cost."""

from collections.abc import Iterator, Sequence

from agentquest.metrics.rows import EpisodeRow
from agentquest.reports.compare import ComparedRun, Comparison, compare_runs
from agentquest.reports.render.comparison import answer, difference_table, sentences
from agentquest.reports.safe_text import html_text
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.alignment import side_by_side
from agentquest.viewer.charts import Dot, scatter
from agentquest.viewer.figures import captioned, data_table
from agentquest.viewer.layout import KINDS, alert, badge, link, outcome, table
from agentquest.viewer.library import OpenRun
from agentquest.viewer.runs_page import overview
from agentquest.words import counted

_MOST_TASKS = 500
# What the colours of the dots mean.
_LEGEND = "".join(
    f'<span class="key {kind}">{text}</span>'
    for kind, text in {
        "won": "better solved by the other",
        "lost": "better solved by the baseline",
        "unscored": "the same in both",
    }.items()
)
Rows = Sequence[EpisodeRow]
Tasks = dict[str, list[EpisodeRow]]


def compare_page(site: Addresses, runs: Sequence[OpenRun], task: str | None) -> Iterator[str]:
    """All tasks of the runs, or one of them side by side."""
    back = site.page("runs")
    yield f'<p class="up">{link(back, "All runs")}</p>' if back else ""
    yield "<h1>Compare</h1>"
    if task is not None:
        yield f'<p class="up">{link(site.compare([run.name for run in runs]), "All tasks")}</p>'
        yield from side_by_side(site, runs, task)
        return
    yield overview(site, [run.glance for run in runs])
    tasks = [_by_task(run) for run in runs]
    compared = [
        ComparedRun(run.name, run.manifest, [one.row for one in run.rows], run.table)
        for run in runs
    ]
    for place, comparison in enumerate(compare_runs(compared), start=1):
        yield f'<section><h2 class="answer">{html_text(answer(comparison))}</h2>'
        for warning in comparison.warnings:
            yield alert(warning)
        yield data_table(difference_table(comparison))
        yield f'<p class="note">{html_text(" ".join(sentences(comparison)))}</p>'
        yield f'<p class="legend">{_LEGEND}</p>'
        yield f'<div class="grid">{"".join(_scatters(comparison, tasks[0], tasks[place]))}</div>'
        yield "</section>"
    yield from _flips(site, runs, tasks)


def flipped(runs: Sequence[OpenRun]) -> list[str]:
    """The tasks whose outcome is not the same in all runs that scored them."""
    return _flipped([_by_task(run) for run in runs])


def _flipped(tasks: Sequence[Tasks]) -> list[str]:
    found = []
    for task in dict.fromkeys(name for one in tasks for name in one):
        rates = {
            sum(row.success for row in rows) / len(rows)
            for one in tasks
            if (rows := [row for row in one.get(task, ()) if row.scored])
        }
        if len(rates) > 1:
            found.append(task)
    return found


def _by_task(run: OpenRun) -> Tasks:
    tasks: Tasks = {}
    for one in run.in_order():
        tasks.setdefault(one.row.task_id, []).append(one.row)
    return tasks


def _flips(site: Addresses, runs: Sequence[OpenRun], tasks: Sequence[Tasks]) -> Iterator[str]:
    names = [run.name for run in runs]
    found = _flipped(tasks)
    yield f'<section><h2 id="flipped">Tasks that went differently <small>{len(found)}</small></h2>'
    if len(found) > _MOST_TASKS:
        yield f'<p class="note">The first {_MOST_TASKS} are shown.</p>'
    rows = (
        (
            link(site.compare(names, task), task, "task"),
            *("".join(_trial(row) for row in one.get(task, ())) or "–" for one in tasks),
        )
        for task in found[:_MOST_TASKS]
    )
    yield table(("task", *names), rows, "flips", "Tasks that went differently")
    yield "</section>"


def _trial(row: EpisodeRow) -> str:
    kind = outcome(row.scored, row.success)
    steps = counted(row.steps, "step")
    return f'{badge(kind, KINDS[kind])} <span class="soft">{steps}</span> '


def _scatters(comparison: Comparison, before: Tasks, after: Tasks) -> Iterator[str]:
    shared = [task for task in before if task in after]
    steps = [_dot(task, before[task], after[task], "steps") for task in shared]
    yield _scatter("Steps", comparison, [dot for dot in steps if dot])
    cost = [_dot(task, before[task], after[task], "cost") for task in shared]
    if any(dot and dot.x + dot.y for dot in cost):
        yield _scatter("Cost", comparison, [dot for dot in cost if dot])
    tokens = [_dot(task, before[task], after[task], "tokens") for task in shared]
    if any(dot and dot.x + dot.y for dot in tokens):
        yield _scatter("Tokens", comparison, [dot for dot in tokens if dot])


def _scatter(what: str, comparison: Comparison, dots: Sequence[Dot]) -> str:
    drawn = scatter(f"{what} of each task", comparison.baseline, comparison.other, dots)
    return captioned(drawn, f"{what} of each task: below the line, the other took less")


def _dot(task: str, before: Rows, after: Rows, of: str) -> Dot | None:
    x, y = _mean(before, of), _mean(after, of)
    if x is None or y is None:
        return None
    won = [sum(row.success for row in rows) / len(rows) for rows in (before, after)]
    kind = "unscored" if won[0] == won[1] else ("won" if won[1] > won[0] else "lost")
    return Dot(x, y, kind, f"{task}: {x:g} against {y:g}")


def _mean(rows: Sequence[EpisodeRow], of: str) -> float | None:
    values = [_value(row, of) for row in rows]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _value(row: EpisodeRow, of: str) -> float | None:
    if of == "steps":
        return float(row.steps)
    if of == "tokens":
        return row.spent.tokens
    return row.spent.cost if row.spent.calls and not row.spent.unpriced_calls else None
