"""All runs of a folder, and the leaderboard of those that may be compared."""

from collections.abc import Iterator, Mapping, Sequence

from agentquest.records.manifest import Manifest
from agentquest.reports.safe_text import html_text
from agentquest.viewer.layout import alert, badge, interval, link, run_address, table
from agentquest.viewer.library import Broken, OpenRun

_HEADINGS = (
    "", "run", "benchmark", "agent", "model", "protocol", "state", "success", "#progress",
    "#steps", "#episodes", "#tokens", "#cost", "started",
)  # fmt: skip
FILTERS = ("benchmark", "agent", "model", "protocol", "state")


def runs_page(runs: Sequence[OpenRun | Broken], query: Mapping[str, str]) -> Iterator[str]:
    """The content of the list, newest first, and a warning for each run that cannot be read."""
    readable = [run for run in runs if isinstance(run, OpenRun)]
    yield f"<h1>Runs</h1>{_filters(readable, query)}"
    shown = [run for run in readable if _wanted(run, query)]
    shown.sort(key=lambda run: run.manifest.created_at, reverse=True)
    if not readable:
        yield "<p>There is no run in this folder yet. Start one: <code>agentquest eval</code></p>"
    else:
        yield '<form action="/compare" id="compare">'
        yield table(_HEADINGS, (_row(run) for run in shown), "runs sortable")
        yield '<p><button type="submit">Compare the chosen runs</button></p></form>'
    for run in runs:
        if isinstance(run, Broken):
            yield alert(f"{run.name}: {run.problem}")


def leaderboard_page(runs: Sequence[OpenRun | Broken]) -> Iterator[str]:
    """One table for each setting: only runs of the same one may be set beside each other."""
    yield "<h1>Leaderboard</h1>"
    yield (
        '<p class="note">Runs stand in one table only where benchmark, protocol, split, data,'
        " step limit and tasks are the same. Runs that are not complete are left out.</p>"
    )
    groups: dict[tuple[str, ...], list[OpenRun]] = {}
    for run in runs:
        if isinstance(run, OpenRun) and run.state == "complete":
            groups.setdefault(_comparable(run.manifest), []).append(run)
    for setting, members in sorted(groups.items()):
        title, protocol, split, data, steps = setting[:5]
        yield f"<h2>{html_text(title)} · {html_text(protocol or 'no protocol')}</h2>"
        yield f'<p class="note">{html_text(f"{split}, {data} data, {steps} steps at most")}</p>'
        members.sort(key=lambda run: -_success(run))
        yield table(
            ("#", "agent", "model", "success", "#progress", "#steps", "#cost", "run"),
            (
                (str(place), *_standing(run), link(run_address(run.name), run.name))
                for place, run in enumerate(members, start=1)
            ),
        )


def _comparable(manifest: Manifest) -> tuple[str, ...]:
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


def _success(run: OpenRun) -> float:
    estimate = run.report.overall.cells["success"].estimate
    return estimate.value if estimate else 0.0


def _standing(run: OpenRun) -> tuple[str, ...]:
    cells, manifest = run.report.overall.cells, run.manifest
    who = html_text(manifest.agent) + (" " + badge("informed") if manifest.informed else "")
    return (
        who,
        html_text(manifest.model or "–"),
        interval(cells["success"].estimate),
        _mean(run, "progress", 2),
        _mean(run, "steps", 1),
        _cost(run),
    )


def _row(run: OpenRun) -> tuple[str, ...]:
    manifest = run.manifest
    scored = sum(one.scored for one in run.rows)
    tokens = run.report.summary.spent.tokens
    agent, model, success, progress, steps, cost = _standing(run)
    return (
        f'<input type="checkbox" name="run" value="{html_text(run.name)}"'
        f' aria-label="choose {html_text(run.name)}">',
        link(run_address(run.name), run.name),
        html_text(manifest.benchmark_title or manifest.benchmark),
        agent,
        model,
        html_text(manifest.protocol or "–"),
        badge(run.state),
        success,
        progress,
        steps,
        f"{scored}/{manifest.requested}",
        "–" if tokens is None else f"{tokens:,}",
        cost,
        html_text(manifest.created_at[:16].replace("T", " ")),
    )


def _mean(run: OpenRun, key: str, digits: int) -> str:
    estimate = run.report.overall.cells[key].estimate
    return "–" if estimate is None else f"{estimate.value:.{digits}f}"


def _cost(run: OpenRun) -> str:
    spent = run.report.summary.spent
    if not spent.calls or spent.unpriced_calls == spent.calls:
        return "–"
    return f"{spent.cost:.4f}"


def _value(run: OpenRun, name: str) -> str:
    if name == "state":
        return run.state
    return str(getattr(run.manifest, name) or "none")


def _wanted(run: OpenRun, query: Mapping[str, str]) -> bool:
    text = query.get("text", "").lower()
    fits = all(not query.get(name) or _value(run, name) == query[name] for name in FILTERS)
    return fits and (not text or text in f"{run.name} {' '.join(run.manifest.tags)}".lower())


def _filters(runs: Sequence[OpenRun], query: Mapping[str, str]) -> str:
    parts = []
    for name in FILTERS:
        values = sorted({_value(run, name) for run in runs})
        options = "".join(
            f"<option{' selected' if query.get(name) == value else ''}>{html_text(value)}</option>"
            for value in values
        )
        parts.append(
            f'<label>{name}<select name="{name}"><option value="">any</option>{options}'
            "</select></label>"
        )
    text = html_text(query.get("text", ""))
    parts.append(f'<label>text<input type="search" name="text" value="{text}"></label>')
    return f'<form class="filters">{"".join(parts)}<button>Show</button></form>'
