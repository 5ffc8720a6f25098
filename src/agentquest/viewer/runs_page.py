"""All runs of a folder, and the leaderboard of those that may be compared."""

from collections.abc import Iterator, Mapping, Sequence

import htpy as h

from agentquest.lib.markup import Piece, Template
from agentquest.records.manifest import Manifest
from agentquest.store.library import BrokenRun, Library, RunSummary
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.layout import (
    alert,
    badge,
    choice,
    filter_form,
    interval,
    known_columns,
    link,
    number,
    standing,
    table,
)
from agentquest.words import counted

Setting = tuple[str, ...]
_HEADINGS = (
    "run", "benchmark", "agent", "model", "protocol", "state", "success", "#progress", "#steps",
    "#episodes", "#tokens", "#cost", "started",
)  # fmt: skip
_STANDING = ("agent", "model", "success", "#progress", "#steps", "#cost", "run")
FILTERS = ("benchmark", "agent", "model", "protocol", "state")
_CHECKBOX = Template('<input type="checkbox" name="run" value="%s" aria-label="choose %s">')
_DATE = Template('<time title="%s">%s</time>')


def runs_page(site: Addresses, library: Library, query: Mapping[str, str]) -> Iterator[h.Node]:
    """The runs that a query asks for, and the folders that cannot be read."""
    runs = library.summaries()
    readable = [run for run in runs if isinstance(run, RunSummary)]
    yield h.h1["Runs"]
    if readable:
        yield _filters(site, readable, query)
    newest = sorted(readable, key=lambda run: run.manifest.created_at, reverse=True)
    shown = _matching(newest, query)
    if not readable:
        start = h.code["agentquest eval"]
        yield h.p["There are no runs in this folder yet. Start one: ", start]
    elif not shown:
        yield h.p["No run matches. ", link(site.page("runs"), "All runs")]
    elif site.served:
        yield h.form("#compare", action=site.compare([]))[
            _tables(site, shown, query.get("group", "")),
            h.p(".act-row")[h.button["Compare selected runs"]],
        ]
    else:
        yield _tables(site, shown, "")
    for run in runs:
        if isinstance(run, BrokenRun):
            yield alert(f"{run.name}: {run.problem}")
        elif run.figures.damage:
            yield alert(run.figures.damage)


def _tables(site: Addresses, runs: Sequence[RunSummary], by: str) -> Iterator[h.Node]:
    """One table, or one for each value of what they are grouped by."""
    groups: dict[str, list[RunSummary]] = {}
    for run in runs:
        groups.setdefault(value_of(run, by) if by in FILTERS else "", []).append(run)
    for name, members in sorted(groups.items()):
        if name:
            yield h.h2[f"{name} ", h.small[counted(len(members), "run")]]
        headings = ("choose", *_HEADINGS) if site.served else _HEADINGS
        rows = known_columns(headings, [_row(site, run) for run in members])
        known = () if site.served else map(_filter_values, members)
        yield table(*rows, "runs sortable", f"Runs {name}".strip(), known)


def leaderboard_page(
    site: Addresses, library: Library, query: Mapping[str, str]
) -> Iterator[h.Node]:
    """One table for each setting: runs of different settings cannot be ranked together."""
    yield h.h1["Leaderboard"]
    yield h.p(".note")[
        "Runs share a table only if benchmark, protocol, split, data,"
        " step limit and tasks are the same. Incomplete runs are left out."
    ]
    tables = standings(library.summaries())
    if not tables:
        yield h.p["No run is complete yet."]
    before = set()
    for setting, members in tables.items():
        title, protocol, split, data, steps, trials = setting[:6]
        note = f"{split}, {data} data, {counted(len(members[0].manifest.task_ids), 'task')}, "
        note += f"at most {steps} {'step' if steps == '1' else 'steps'}"
        note += f", {trials} trials per task" if trials != "1" else ""
        # Two tables that look alike differ in which tasks were played.
        note += ", other tasks than above" if (title, protocol, note) in before else ""
        before.add((title, protocol, note))
        yield h.h2[f"{title} ", h.small[protocol or "no protocol"]]
        yield h.p(".note")[note]
        first = members[0].name
        rows = [
            (str(place), *_standing(site, run), _compare_link(site, first, run.name))
            for place, run in enumerate(members, start=1)
        ]
        known = known_columns(("#", *_STANDING, "compare"), rows)
        yield table(*known, "standings", f"{title}, {split}")


def overview(site: Addresses, runs: Sequence[RunSummary]) -> h.Element:
    """Runs that are compared, the one that the others are measured against first."""
    roles = ("baseline", *("other" for _ in runs[1:]))
    rows = [(role, *_standing(site, run)) for role, run in zip(roles, runs, strict=True)]
    return table(*known_columns(("role", *_STANDING), rows), "standings", "The runs compared")


def _compare_link(site: Addresses, first: str, name: str) -> Piece:
    address = None if first == name else site.compare([first, name])
    return link(address, "compare with the first") if address else ""


def standings(runs: Sequence[RunSummary | BrokenRun]) -> dict[Setting, list[RunSummary]]:
    """Complete runs by what must be the same for a comparison, the best of each first."""
    groups: dict[Setting, list[RunSummary]] = {}
    for run in runs:
        if isinstance(run, RunSummary) and run.state == "complete" and run.figures.scored:
            groups.setdefault(_comparable(run.manifest), []).append(run)
    for members in groups.values():
        members.sort(key=lambda run: (-success_of(run), run.figures.steps or 0.0))
    return dict(sorted(groups.items()))


def _comparable(manifest: Manifest) -> Setting:
    where = manifest.provenance
    return (
        manifest.benchmark_title or manifest.benchmark,
        manifest.protocol or "",
        where.split,
        where.data,
        str(manifest.max_steps),
        str(manifest.trials),
        manifest.data_hash,
        manifest.agent_faults.value,
    )


def success_of(run: RunSummary) -> float:
    """The rate that runs are ranked by."""
    return run.figures.success.value if run.figures.success else 0.0


def _standing(site: Addresses, run: RunSummary) -> tuple[Piece, ...]:
    return (*_figures(run), link(site.run(run.name), run.name))


def _figures(run: RunSummary) -> tuple[Piece, ...]:
    """Who played, and how well."""
    figures, manifest = run.figures, run.manifest
    agent: Piece = manifest.agent
    if manifest.informed:
        agent = h.fragment[agent, " ", badge("informed", "uses the oracle")]
    return (
        agent,
        manifest.model or "–",
        standing(run.standing) if run.standing else interval(figures.success),
        number(figures.progress, 2),
        number(figures.steps, 1),
        number(figures.cost, 4),
    )


def _row(site: Addresses, run: RunSummary) -> Sequence[Piece]:
    manifest, figures, started = run.manifest, run.figures, run.manifest.created_at
    agent, model, success, progress, steps, cost = _figures(run)
    cells = (
        link(site.run(run.name), run.name),
        manifest.benchmark_title or manifest.benchmark,
        agent,
        model,
        manifest.protocol or "–",
        badge(run.state),
        success,
        progress,
        steps,
        run.scored,
        number(figures.tokens),
        cost,
        _DATE(started, started[:10]),
    )
    if site.served:
        return (_CHECKBOX(run.name, run.name), *cells)
    return cells


def _filter_values(run: RunSummary) -> Mapping[str, str]:
    return {name: value_of(run, name) for name in FILTERS}


def value_of(run: RunSummary, name: str) -> str:
    """What a run is filtered and grouped by."""
    if name == "state":
        return run.state
    return str(getattr(run.manifest, name) or "none")


def _matching(runs: Sequence[RunSummary], query: Mapping[str, str]) -> Sequence[RunSummary]:
    for name in FILTERS:
        if chosen := query.get(name):
            runs = [run for run in runs if value_of(run, name) == chosen]
    if text := query.get("text", "").lower():
        runs = [run for run in runs if text in f"{run.name} {' '.join(run.manifest.tags)}".lower()]
    return runs


def _filters(site: Addresses, runs: Sequence[RunSummary], query: Mapping[str, str]) -> h.Element:
    fields = [
        choice(name, name, sorted({value_of(run, name) for run in runs}), query.get(name, ""))
        for name in FILTERS
    ]
    if site.served:
        fields.append(choice("group", "group by", FILTERS, query.get("group", ""), "nothing"))
    return filter_form(site.served, "runs", fields, "text", query.get("text", ""))
