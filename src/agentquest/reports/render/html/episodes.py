"""The table of all episodes on the HTML page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.table import Metric
from agentquest.reports.model import NOTHING, Report
from agentquest.reports.render.html.charts import sparkline
from agentquest.reports.safe_text import html_text

KINDS = ("won", "lost", "unscored")


@dataclass(frozen=True, slots=True)
class Sketch:
    """An episode as the page shows it outside its trajectory: `place` is where its record is in
    the file, `curve` its progress from the start on."""

    place: int
    row: EpisodeRow
    goal: str
    curve: tuple[float, ...]

    @property
    def key(self) -> str:
        return self.row.key

    @property
    def scored(self) -> bool:
        return self.row.scored

    @property
    def kind(self) -> str:
        return outcome(self.row.scored, self.row.success)


def outcome(scored: bool, success: bool) -> str:
    """The style class and the word for how an episode went."""
    if not scored:
        return "unscored"
    return "won" if success else "lost"


def episode_table(report: Report, sketches: Sequence[Sketch]) -> Iterator[str]:
    """One row per episode; the buttons above it hide rows and trajectories without a script."""
    yield '<section aria-labelledby="episodes"><h2 id="episodes">Episodes</h2>'
    numbers = {kind: sum(sketch.kind == kind for sketch in sketches) for kind in KINDS}
    shown = {"all": len(sketches), **{kind: number for kind, number in numbers.items() if number}}
    yield '<fieldset class="filter"><legend>Show</legend>'
    for kind, number in shown.items():
        checked = " checked" if kind == "all" else ""
        yield (
            f'<label><input type="radio" name="show" id="show-{kind}"{checked}> '
            f"{kind} ({number})</label>"
        )
    # What the result says already, and what only an average can tell.
    metrics = [m for m in report.shown if m.key != "success" and not m.only_solved]
    headings = ("#", "result", "goal and task type", "end", *(m.heading for m in metrics))
    yield '</fieldset><div class="wide tall"><table><caption>All episodes</caption><thead><tr>'
    for heading in (*headings, "tokens", "seconds"):
        yield f'<th scope="col">{html_text(heading)}</th>'
    yield "</tr></thead><tbody>"
    for number, sketch in enumerate(sketches, start=1):
        yield _episode(sketch, number, metrics)
    yield "</tbody></table></div></section>"


def _episode(sketch: Sketch, number: int, metrics: Sequence[Metric]) -> str:
    row, kind = sketch.row, sketch.kind
    trial = f" · trial {row.trial + 1}" if row.trial else ""
    tokens = row.spent.tokens
    cells = [
        *(_value(sketch, metric) for metric in metrics),
        NOTHING if tokens is None else f"{tokens:,}",
        f"{row.seconds:.1f}",
    ]
    written = "".join(f'<td class="number">{cell}</td>' for cell in cells)
    return (
        f'<tr class="{kind}"><td class="number">{number}</td>'
        f'<td><span class="badge {kind}">{kind}</span></td>'
        f'<th scope="row"><a href="#e{number}" title="{html_text(row.task_id)}">'
        f"{html_text(sketch.goal) or '(no goal)'}</a>"
        f" <small>{html_text(row.task_type)}{trial}</small></th>"
        f"<td>{row.end.value}</td>{written}</tr>\n"
    )


def _value(sketch: Sketch, metric: Metric) -> str:
    value = sketch.row.values[metric.key]
    written = NOTHING if value is None else metric.written(value).removesuffix(".0")
    curve = sparkline(sketch.curve, sketch.kind) + " " if metric.key == "progress" else ""
    return curve + html_text(written)
