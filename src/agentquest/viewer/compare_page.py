"""Two or more runs side by side: differences, tasks that flipped, steps and cost; and the
trajectories of one task, lined up where they do the same."""

import difflib
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

import htpy as h
from markupsafe import Markup

from agentquest.lib.markup import Piece, Template, join
from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.summary import mean_of_known
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.reports.compare import (
    Comparison,
    Tasks,
    compare_runs,
    group_by_task,
    keep_scored,
    mean_success,
)
from agentquest.reports.render.comparison import (
    answer,
    difference_tables,
    sentences,
    state_power,
)
from agentquest.store.library import RunSummary
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.charts import Dot, scatter
from agentquest.viewer.figures import data_table, figure
from agentquest.viewer.layout import (
    KINDS,
    alert,
    badge,
    fold,
    legend,
    link,
    outcome,
    pre,
    table,
    up_link,
)
from agentquest.viewer.prompt_page import mark_new_lines
from agentquest.viewer.runs_page import overview
from agentquest.words import counted

_MOST_TASKS = 500
_OBSERVATION_SHOWN = 400
_MOST_ALIGNED = 2000  # steps of both episodes together
# What the colours of the dots mean.
_LEGEND = {
    "won": "better solved by the other",
    "lost": "better solved by the baseline",
    "unscored": "the same in both",
}
ValueOf = Callable[[EpisodeRow], float | None]
_COMPARED: dict[str, ValueOf] = {
    "steps": lambda row: row.steps,
    "cost": lambda row: row.spent.whole_cost,
    "tokens": lambda row: row.spent.tokens,
}
_TRIAL = Template('%s <span class="soft">%s</span> ')
_STEP = Template(
    '<a class="%s" href="%s"><code>%s</code></a> <span class="soft">%.2f</span>'
    '<span class="seen">%s%s</span>'
)
Line = tuple[Step | None, ...]
Played = Sequence[tuple[str, EpisodeRecord]]


def compare_page(site: Addresses, runs: Sequence[StoredRun], task: str | None) -> Iterator[h.Node]:
    """All tasks of the runs, or one of them side by side."""
    yield up_link(site.page("runs"), "All runs")
    yield h.h1["Compare"]
    if task is not None:
        yield up_link(site.compare([run.name for run in runs]), "All tasks")
        yield h.section("#pair")[h.h2[task], _trajectories(site, runs, task)]
        return
    yield overview(site, [RunSummary.of(run) for run in runs])
    tasks = [group_by_task(run.rows) for run in runs]
    for place, comparison in enumerate(compare_runs(runs), start=1):
        yield h.section[
            h.h2(".answer")[answer(comparison)],
            map(alert, comparison.warnings),
            map(data_table, difference_tables(comparison)),
            h.p(".note")[" ".join([*sentences(comparison), state_power(comparison)])],
            h.p(".legend")[legend(_LEGEND)],
            h.div(".grid")[_scatters(comparison, tasks[0], tasks[place])],
        ]
    yield _flips(site, runs, tasks)


def find_flips(tasks: Sequence[Tasks]) -> list[str]:
    """The tasks whose outcome is not the same in all runs that scored them."""
    rates: dict[str, set[float]] = {}
    for one in map(keep_scored, tasks):
        for task, rows in one.items():
            rates.setdefault(task, set()).add(mean_success(rows))
    return [task for task, different in rates.items() if len(different) > 1]


def _flips(site: Addresses, runs: Sequence[StoredRun], tasks: Sequence[Tasks]) -> h.Element:
    names = [run.name for run in runs]
    found = find_flips(tasks)
    more = h.p(".note")[f"The first {_MOST_TASKS} are shown."]
    rows = (
        (
            link(site.compare(names, task), task, "task"),
            *(join(map(_trial, one.get(task, ()))) or "–" for one in tasks),
        )
        for task in found[:_MOST_TASKS]
    )
    return h.section[
        h.h2("#flipped")["Tasks that went differently ", h.small[len(found)]],
        more if len(found) > _MOST_TASKS else None,
        table(("task", *names), rows, "flips", "Tasks that went differently"),
    ]


def _trial(row: EpisodeRow) -> Markup:
    kind = outcome(row)
    return _TRIAL(badge(kind, KINDS[kind]), counted(row.steps, "step"))


def _scatters(comparison: Comparison, before: Tasks, after: Tasks) -> Iterator[h.Node]:
    shared = [task for task in before if task in after]
    for what, value_of in _COMPARED.items():
        dots = [_dot(task, before[task], after[task], value_of) for task in shared]
        known = [dot for dot in dots if dot]
        if what == "steps" or any(dot.x + dot.y for dot in known):
            title = f"{what.capitalize()} of each task"
            chart = scatter(title, comparison.baseline, comparison.other, known)
            yield figure(f"{title}: below the line, the other took less", chart)


def _dot(
    task: str, before: Sequence[EpisodeRow], after: Sequence[EpisodeRow], value_of: ValueOf
) -> Dot | None:
    x, y = mean_of_known(map(value_of, before)), mean_of_known(map(value_of, after))
    if x is None or y is None:
        return None
    was, now = mean_success(before), mean_success(after)
    kind = "unscored" if was == now else ("won" if now > was else "lost")
    return Dot(x, y, kind, f"{task}: {x:g} against {y:g}")


def _trajectories(site: Addresses, runs: Sequence[StoredRun], task: str) -> Iterator[h.Node]:
    """The first trial of one task in each run, step by step, the first difference marked."""
    records = []
    for run in runs:
        one = next((one for one in run.rows if one.task_id == task), None)
        if one is not None:
            records.append((run.name, run.record(one.key)))
    if len(records) < 2:
        yield h.p["Only one of these runs has this task."]
        return
    played = [record for _, record in records]
    differs = first_difference(played)
    yield h.p[played[0].goal]
    if differs is not None:
        yield h.p(".note")[f"The trajectories first differ at step {differs}."]
    else:
        yield h.p(".note")["The trajectories are the same."]
    headings = ["#step", *(name for name, _ in records)]
    yield table(headings, _rows(site, records, differs), "pair", "Trajectories side by side")
    links = (link(site.episode(name, record.key), name) for name, record in records)
    yield h.p(".note")["Whole episodes: ", Markup(" · ").join(links)]
    yield _prompts(records, differs or 1)


def first_difference(records: Sequence[EpisodeRecord]) -> int | None:
    """The first step whose actions are not the same in all episodes, from 1; None for no such."""
    actions = [record.actions for record in records]
    for place, together in enumerate(zip_longest(*actions), start=1):
        if len(set(together)) > 1:
            return place
    return None


def align(records: Sequence[EpisodeRecord]) -> Iterator[Line]:
    """Steps that belong together: two episodes by their common actions, more by their places, and
    very long ones too, because the work grows with the square of their length."""
    if len(records) != 2 or sum(len(record.steps) for record in records) > _MOST_ALIGNED:
        yield from zip_longest(*(record.steps for record in records))
        return
    first, second = (record.steps for record in records)
    matcher = difflib.SequenceMatcher(None, records[0].actions, records[1].actions, autojunk=False)
    for _, a, a_end, b, b_end in matcher.get_opcodes():
        yield from zip_longest(first[a:a_end], second[b:b_end])


def _rows(site: Addresses, records: Played, differs: int | None) -> Iterator[Sequence[Piece]]:
    for together in align([record for _, record in records]):
        places = {step.index for step in together if step is not None}
        mark = None
        if differs in places:
            mark, differs = [" ", badge("lost", "first difference")], None
        shown = "/".join(str(step.index) if step else "–" for step in together)
        shown = str(places.pop()) if len(places) == 1 and None not in together else shown
        yield (
            h.fragment[shown, mark],
            *(
                _cell(site, name, record, step)
                for (name, record), step in zip(records, together, strict=True)
            ),
        )
    yield ("end", *(record.end.value.replace("_", " ") for _, record in records))


def _cell(site: Addresses, run: str, record: EpisodeRecord, step: Step | None) -> Piece:
    if step is None:
        return ""
    return _STEP(
        "act" if step.valid else "act invalid",
        site.episode(run, record.key, step.index) or site.run(run),
        step.action if step.action is not None else "no action",
        step.progress,
        step.observation[:_OBSERVATION_SHOWN],
        "…" if len(step.observation) > _OBSERVATION_SHOWN else "",
    )


def _prompts(records: Played, place: int) -> Iterator[h.Node]:
    """The prompts of the step where they part; what the first run's does not say is marked."""
    texts = []
    for name, record in records:
        steps = record.steps[place - 1 : place] or record.steps[:1]
        messages = record.prompt(steps[0]) if steps else []
        texts.append((name, "\n\n".join(f"[{one.role}]\n{one.content}" for one in messages)))
    if not any(text for _, text in texts):
        return
    yield h.h3[f"Prompts at step {place}"]
    yield h.p(".note")["Text that is not in the first prompt is marked."]
    base = texts[0][1]

    def fold_prompt(number: int, name: str, text: str) -> Markup:
        content = mark_new_lines(base, text) if number else None
        size = counted(len(text), "character")
        return fold(f"{name}: {size}", pre(text or "no prompt", content=content))

    yield h.div(".beside")[(fold_prompt(number, *one) for number, one in enumerate(texts))]
