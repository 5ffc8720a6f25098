"""The sections of the HTML page above the trajectories."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agentquest.records.episode import EpisodeRecord
from agentquest.reports.charts import (
    Bar,
    bar_chart,
    curve_chart,
    histogram,
    interval_chart,
    sparkline,
)
from agentquest.reports.figures import NOTHING, Cell, Report, behaviour_score
from agentquest.reports.html_trajectory import fold, outcome
from agentquest.reports.safe_text import html_text

# More single curves than this are one grey mass, and most of a page's size.
_FAINT_CURVES = 150
_KINDS = ("won", "lost", "unscored")


def opening(report: Report, manifest: Mapping[str, Any]) -> Iterator[str]:
    """What was run, what is missing, and the figures most people look for."""
    yield f'<header><p class="brand">AgentQuest report</p><h1>{html_text(report.title)}</h1>'
    facts = "".join(
        f"<div><dt>{html_text(name)}</dt><dd>{html_text(value)}</dd></div>"
        for name, value in report.facts
    )
    yield f'<dl class="facts">{facts}</dl></header>'
    for warning in report.warnings:
        yield f'<div class="alert" role="alert">{html_text(warning)}</div>'
    yield f'<div class="tiles">{"".join(_tiles(report))}</div>'
    if report.comparable:
        listed = "".join(f"<li>{html_text(line)}</li>" for line in report.comparable)
        yield f"<h2>Published scores for this protocol</h2><ul>{listed}</ul>"
    if manifest.get("config"):
        config = json.dumps(manifest["config"], indent=2, ensure_ascii=False, default=str)
        yield fold("Configuration", f"<pre>{html_text(config)}</pre>")


def figures(report: Report) -> Iterator[str]:
    """Success by type, the table of all figures, trials, tokens and cost."""
    rows = [(row.name, row.group.success, row.cells["success"].text) for row in report.rows]
    yield _section("success", "Success by task type")
    yield _figure(
        interval_chart("Success by task type, with 95% intervals", rows),
        "Dot: success rate. Band: its 95% Wilson interval.",
    )
    headings = "".join(
        f'<th scope="col" title="{html_text(column.explanation)}">{html_text(column.heading)}</th>'
        for column in report.columns
    )
    body = "".join(
        f"<tr{' class=total' if row is report.overall else ''}>"
        f'<th scope="row">{html_text(row.name)}</th>'
        f"{''.join(_cell(row.cells[column.key]) for column in report.columns)}</tr>"
        for row in report.rows
    )
    yield (
        '<div class="wide"><table><caption>Figures with 95% intervals</caption>'
        f'<thead><tr><th scope="col">task type</th>{headings}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
    yield f'<p class="note">{html_text(" ".join(report.notes))}</p>'
    for title, pairs in (
        ("Several trials", [(name, cell.text) for name, cell in report.trials]),
        ("Tokens and cost", report.spent),
    ):
        if pairs:
            yield f"<h3>{title}</h3>{_pairs(title, pairs)}"
    yield "</section>"


def pictures(report: Report, records: Sequence[EpisodeRecord]) -> Iterator[str]:
    """Progress curves, distributions, and why episodes failed."""
    scored = [record for record in records if record.scored]
    yield _section("pictures", "How the episodes went")
    yield f'<p class="legend">{"".join(_legend(records))}</p><div class="grid">'
    yield from _curves(scored)
    yield _figure(
        histogram(
            "Steps an episode",
            "steps",
            [(float(len(record.steps)), outcome(record)) for record in scored],
            _KINDS,
        ),
        "Steps an episode",
    )
    yield from _tokens(records)
    failures = [
        Bar(end.meaning, end.episodes, "lost" if end.cause.scored else "unscored")
        for end in report.ends
        if end.cause.value != "won"
    ]
    yield (
        _figure(bar_chart("Failures by cause", failures), "Failures by cause")
        if failures
        else "<figure><figcaption>Failures by cause</figcaption><p>No episode failed.</p></figure>"
    )
    yield "</div></section>"


def episode_table(records: Sequence[EpisodeRecord], with_reward: bool) -> Iterator[str]:
    """One row an episode; the buttons above it hide rows and trajectories without a script."""
    yield _section("episodes", "Episodes")
    present = [kind for kind in _KINDS if any(outcome(record) == kind for record in records)]
    yield '<fieldset class="filter"><legend>Show</legend>'
    for kind in ("all", *present):
        checked = " checked" if kind == "all" else ""
        number = sum(kind in ("all", outcome(record)) for record in records)
        yield (
            f'<label><input type="radio" name="show" id="show-{kind}"{checked}> '
            f"{kind} ({number})</label>"
        )
    yield '</fieldset><div class="wide tall"><table><caption>All episodes</caption><thead><tr>'
    for heading in _EPISODE_HEADINGS:
        if heading != "reward" or with_reward:
            yield f'<th scope="col">{heading}</th>'
    yield "</tr></thead><tbody>"
    for position, record in enumerate(records, start=1):
        yield _episode_row(record, position, with_reward)
    yield "</tbody></table></div></section>"


_EPISODE_HEADINGS = (
    "#",
    "result",
    "goal and task type",
    "end",
    "steps",
    "progress",
    "reward",
    "repetition",
    "invalid",
    "behaviour",
    "tokens",
    "seconds",
)


def _episode_row(record: EpisodeRecord, position: int, with_reward: bool) -> str:
    kind = outcome(record)
    trial = f" · trial {record.trial + 1}" if record.trial else ""
    tokens = _token_count(record)
    curve = sparkline([0.0, *(step.progress for step in record.steps)], kind)
    numbers = (
        str(len(record.steps)),
        f"{curve} {record.progress:.2f}",
        *([f"{record.reward:.2f}"] if with_reward else []),
        f"{record.repetition_rate:.2f}",
        str(record.invalid_actions),
        f"{behaviour_score(record):.1f}" if record.scored else NOTHING,
        NOTHING if tokens is None else f"{tokens:,}",
        f"{record.seconds:.1f}",
    )
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    return (
        f'<tr class="{kind}"><td class="number">{position}</td>'
        f'<td><span class="badge {kind}">{kind}</span></td>'
        f'<th scope="row"><a href="#e{position}" title="{html_text(record.task_id)}">'
        f"{html_text(record.goal) or '(no goal)'}</a>"
        f" <small>{html_text(record.task_type)}{trial}</small></th>"
        f"<td>{record.end.value}</td>{cells}</tr>\n"
    )


def _tiles(report: Report) -> Iterable[str]:
    wanted = {
        "success": "success",
        "steps": "average steps",
        "progress": "average progress",
        "reward": "average reward",
        "behaviour": "behaviour",
    }
    for key, title in wanted.items():
        cell = report.overall.cells.get(key)
        if cell is not None:
            head, _, rest = cell.text.partition(" ")
            yield _tile(title, head, rest)
    spent = report.summary.spent
    if spent.calls:
        tokens = spent.prompt_tokens + spent.completion_tokens
        at_least = "≥ " if spent.uncounted_calls else ""
        yield _tile("tokens", f"{at_least}{tokens:,}", f"in {spent.calls:,} calls")


def _tile(title: str, head: str, rest: str) -> str:
    return (
        f'<div class="tile"><span class="name">{html_text(title)}</span>'
        f'<span class="head">{html_text(head)}</span><span class="rest">{html_text(rest)}</span>'
        "</div>"
    )


def _curves(scored: Sequence[EpisodeRecord]) -> Iterator[str]:
    steps = max((len(record.steps) for record in scored), default=0)
    if not steps:
        return
    curves = [[0.0, *(step.progress for step in record.steps)] for record in scored]
    mean = [
        sum(curve[min(step, len(curve) - 1)] for curve in curves) / len(curves)
        for step in range(steps + 1)
    ]
    every = -(-len(scored) // _FAINT_CURVES)
    faint = [
        (outcome(record), curve)
        for record, curve in list(zip(scored, curves, strict=True))[::every]
    ]
    which = "each scored episode" if every == 1 else f"{len(faint)} of {len(scored)} episodes"
    yield _figure(
        curve_chart("Progress by step", mean, faint, steps),
        f"Progress by step: the mean (an episode that ended counts on with its last value)"
        f" and, faint, {which}",
    )


def _tokens(records: Sequence[EpisodeRecord]) -> Iterator[str]:
    counted = [(_token_count(record), outcome(record)) for record in records if record.calls]
    values = [(float(tokens), kind) for tokens, kind in counted if tokens is not None]
    if not values:
        return
    unknown = len(counted) - len(values)
    left_out = f"; {unknown} left out, their server gave no counts" if unknown else ""
    yield _figure(
        histogram("Tokens an episode", "tokens", values, _KINDS), f"Tokens an episode{left_out}"
    )


def _token_count(record: EpisodeRecord) -> int | None:
    """Prompt and completion tokens of an episode; None where any call has no count."""
    calls = record.calls
    if not calls or any(c.prompt_tokens is None or c.completion_tokens is None for c in calls):
        return None
    return sum((c.prompt_tokens or 0) + (c.completion_tokens or 0) for c in calls)


def _legend(records: Sequence[EpisodeRecord]) -> Iterable[str]:
    meaning = {
        "won": "solved",
        "lost": "not solved",
        "unscored": "no score (not the agent's doing)",
    }
    for kind, text in meaning.items():
        if any(outcome(record) == kind for record in records):
            yield f'<span class="key {kind}">{html_text(text)}</span>'


def _cell(cell: Cell) -> str:
    head, _, rest = cell.text.partition(" ")
    n = "" if cell.estimate is None else f' title="n = {cell.estimate.n}"'
    small = f" <small>{html_text(rest)}</small>" if rest else ""
    return f'<td class="number"{n}>{html_text(head)}{small}</td>'


def _pairs(caption: str, pairs: Iterable[tuple[str, str]]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{html_text(name)}</th><td class="number">{html_text(value)}</td></tr>'
        for name, value in pairs
    )
    return (
        f'<table class="pairs"><caption>{html_text(caption)}</caption><tbody>{rows}</tbody></table>'
    )


def _figure(svg: str, caption: str) -> str:
    return f"<figure><figcaption>{html_text(caption)}</figcaption>{svg}</figure>"


def _section(name: str, title: str) -> str:
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{html_text(title)}</h2>'
