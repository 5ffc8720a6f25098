"""All runs of a folder, and the leaderboard of those that may be compared."""

from collections.abc import Iterator, Mapping, Sequence

from agentquest.records.manifest import Manifest
from agentquest.reports.safe_text import html_text
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.glances import Glance
from agentquest.viewer.layout import (
    Cells,
    alert,
    badge,
    choice,
    interval,
    known_columns,
    link,
    table,
)
from agentquest.viewer.library import Broken
from agentquest.words import counted

Setting = tuple[str, ...]
_HEADINGS = (
    "run", "benchmark", "agent", "model", "protocol", "state", "success", "#progress", "#steps",
    "#episodes", "#tokens", "#cost", "started",
)  # fmt: skip
_STANDING = ("agent", "model", "success", "#progress", "#steps", "#cost", "run")
FILTERS = ("benchmark", "agent", "model", "protocol", "state")


def runs_page(
    site: Addresses, runs: Sequence[Glance | Broken], query: Mapping[str, str]
) -> Iterator[str]:
    """The runs that a query asks for, and the folders that cannot be read."""
    readable = [run for run in runs if isinstance(run, Glance)]
    yield f"<h1>Runs</h1>{_filters(site, readable, query) if readable else ''}"
    shown = [run for run in readable if _wanted(run, query)]
    shown.sort(key=lambda run: run.manifest.created_at, reverse=True)
    if not readable:
        yield "<p>There are no runs in this folder yet. Start one: <code>agentquest eval</code></p>"
    elif not shown:
        yield f"<p>No run matches. {link(site.page('runs'), 'All runs')}</p>"
    elif site.served:
        yield f'<form action="{html_text(site.compare([]))}" id="compare">'
        yield from _groups(site, shown, query.get("group", ""))
        yield '<p class="act-row"><button>Compare selected runs</button></p></form>'
    else:
        yield from _groups(site, shown, "")
    for run in runs:
        if isinstance(run, Broken):
            yield alert(f"{run.name}: {run.problem}")
        elif run.figures.damage:
            yield alert(run.figures.damage)


def _groups(site: Addresses, runs: Sequence[Glance], by: str) -> Iterator[str]:
    """One table, or one for each value of what they are grouped by."""
    groups: dict[str, list[Glance]] = {}
    for run in runs:
        groups.setdefault(value_of(run, by) if by in FILTERS else "", []).append(run)
    for name, members in sorted(groups.items()):
        if name:
            yield f"<h2>{html_text(name)} <small>{counted(len(members), 'run')}</small></h2>"
        headings = ("choose", *_HEADINGS) if site.served else _HEADINGS
        known = known_columns(headings, [_row(site, run) for run in members])
        yield table(*known, "runs sortable", f"Runs {name}".strip())


def leaderboard_page(site: Addresses, runs: Sequence[Glance | Broken]) -> Iterator[str]:
    """One table for each setting: only runs of the same one may be set beside each other."""
    yield "<h1>Leaderboard</h1>"
    yield (
        '<p class="note">Runs share a table only if benchmark, protocol, split, data,'
        " step limit and tasks are the same. Incomplete runs are left out.</p>"
    )
    tables = standings(runs)
    if not tables:
        yield "<p>No run is complete yet.</p>"
    before = set()
    for setting, members in tables.items():
        title, protocol, split, data, steps, trials = setting[:6]
        told = f"{split}, {data} data, {counted(len(members[0].manifest.task_ids), 'task')}, "
        told += f"at most {steps} {'step' if steps == '1' else 'steps'}"
        told += f", {trials} trials per task" if trials != "1" else ""
        # Two tables that look alike differ in which tasks were played.
        told += ", other tasks than above" if (title, protocol, told) in before else ""
        before.add((title, protocol, told))
        yield f"<h2>{html_text(title)} <small>{html_text(protocol or 'no protocol')}</small></h2>"
        yield f'<p class="note">{html_text(told)}</p>'
        first = members[0].name
        rows = [
            (str(place), *_standing(site, run), _beside(site, first, run.name))
            for place, run in enumerate(members, start=1)
        ]
        known = known_columns(("#", *_STANDING, "beside"), rows)
        yield table(*known, "standings", f"{title}, {split}")


def overview(site: Addresses, runs: Sequence[Glance]) -> str:
    """Runs that are compared, the one that the others are measured against first."""
    roles = ("baseline", *("other" for _ in runs[1:]))
    rows = [(role, *_standing(site, run)) for role, run in zip(roles, runs, strict=True)]
    return table(*known_columns(("role", *_STANDING), rows), "standings", "The runs compared")


def _beside(site: Addresses, first: str, name: str) -> str:
    address = None if first == name else site.compare([first, name])
    return link(address, "compare with the first") if address else ""


def standings(runs: Sequence[Glance | Broken]) -> dict[Setting, list[Glance]]:
    """Complete runs by what must be the same for a comparison, the best of each first."""
    groups: dict[Setting, list[Glance]] = {}
    for run in runs:
        if isinstance(run, Glance) and run.state == "complete" and run.figures.scored:
            groups.setdefault(_comparable(run.manifest), []).append(run)
    for members in groups.values():
        members.sort(key=lambda run: (-_success(run), run.figures.steps or 0.0))
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


def _success(run: Glance) -> float:
    return run.figures.success.value if run.figures.success else 0.0


def _standing(site: Addresses, run: Glance) -> tuple[str, ...]:
    return (*_shown(run), link(site.run(run.name), run.name))


def _shown(run: Glance) -> tuple[str, ...]:
    figures, manifest = run.figures, run.manifest
    who = html_text(manifest.agent) + (" " + badge("informed") if manifest.informed else "")
    return (
        who,
        html_text(manifest.model or "–"),
        interval(figures.success),
        "–" if figures.progress is None else f"{figures.progress:.2f}",
        "–" if figures.steps is None else f"{figures.steps:.1f}",
        "–" if figures.cost is None else f"{figures.cost:.4f}",
    )


def _row(site: Addresses, run: Glance) -> Sequence[str]:
    manifest, figures, begun = run.manifest, run.figures, run.manifest.created_at
    agent, model, success, progress, steps, cost = _shown(run)
    asked = f"/{manifest.requested:,}" if manifest.requested else ""
    cells = (
        link(site.run(run.name), run.name),
        html_text(manifest.benchmark_title or manifest.benchmark),
        agent,
        model,
        html_text(manifest.protocol or "–"),
        badge(run.state),
        success,
        progress,
        steps,
        f"{figures.scored:,}{asked}",
        "–" if figures.tokens is None else f"{figures.tokens:,}",
        cost,
        f'<time title="{html_text(begun)}">{html_text(begun[:10])}</time>',
    )
    if not site.served:
        return Cells(cells, {name: value_of(run, name) for name in FILTERS})
    name = html_text(run.name)
    box = f'<input type="checkbox" name="run" value="{name}" aria-label="choose {name}">'
    return (box, *cells)


def value_of(run: Glance, name: str) -> str:
    """What a run is filtered and grouped by."""
    if name == "state":
        return run.state
    return str(getattr(run.manifest, name) or "none")


def _wanted(run: Glance, query: Mapping[str, str]) -> bool:
    text = query.get("text", "").lower()
    fits = all(not query.get(name) or value_of(run, name) == query[name] for name in FILTERS)
    return fits and (not text or text in f"{run.name} {' '.join(run.manifest.tags)}".lower())


def _filters(site: Addresses, runs: Sequence[Glance], query: Mapping[str, str]) -> str:
    parts = [
        choice(name, name, sorted({value_of(run, name) for run in runs}), query.get(name, ""))
        for name in FILTERS
    ]
    if site.served:
        parts.append(choice("group", "group by", FILTERS, query.get("group", ""), "nothing"))
    text = html_text(query.get("text", ""))
    parts.append(f'<label>text<input type="search" name="text" value="{text}"></label>')
    here = "" if site.served else ' data-here="runs"'
    return f'<form class="filters"{here}>{"".join(parts)}<button>Show</button></form>'
