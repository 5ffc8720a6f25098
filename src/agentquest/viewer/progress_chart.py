"""Progress over the steps of an episode, with the oracle's distance and the places to look at.

Marks differ in shape as well as in colour.
"""

from collections.abc import Callable, Iterator

from agentquest.records.episode import EpisodeRecord, Step
from agentquest.reports.safe_text import html_text
from agentquest.viewer.addresses import Addresses
from agentquest.viewer.charts import picture
from agentquest.viewer.insight import Insight
from agentquest.words import counted

_WIDTH, _HEIGHT = 1300, 132
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 36, 12, 104
Scale = Callable[[float], float]
# For those without a keyboard; the script shows them, because nothing else can move the page.
_BUTTONS = (
    '<p class="moves" hidden>'
    '<button type="button" data-move="-1" title="the step before">←</button>'
    '<button type="button" data-move="1" title="the next step">→</button>'
    '<button type="button" data-move="play">Play</button></p>'
)
# What is drawn at a step, by what is most worth seeing, with the words of the legend.
MARKS = {
    "harmful": "first harmful step",
    "invalid": "not carried out",
    "cycle": "in a circle",
    "repeated": "repeated",
    "plain": "step",
}


def progress_chart(site: Addresses, run: str, record: EpisodeRecord, seen: Insight) -> str:
    """The picture of an episode; empty without steps."""
    count = len(record.steps)
    if not count:
        return ""
    wide = (_WIDTH - _LEFT - _RIGHT) / count

    def x(place: float) -> float:
        return _LEFT + wide * place

    def y(share: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * min(max(share, 0.0), 1.0)

    shapes = [*_frame(count, x, y), *_unreachable(seen, count, x), *_distance(seen, x, y)]
    values = [0.0, *(step.progress for step in record.steps)]
    points = " ".join(f"{x(place):.1f},{y(value):.1f}" for place, value in enumerate(values))
    shapes.append(f'<polyline class="progress-line" points="{points}"/>')
    kinds = set()
    for step in record.steps:
        kind = _kind(step, seen)
        kinds.add(kind)
        title = f"step {step.index}: {step.action or 'no action'}"
        title += "" if kind == "plain" else f" ({MARKS[kind]})"
        address = html_text(site.episode(run, record.key, step.index))
        shapes.append(
            f'<a href="{address}" data-goto="{step.index}" aria-label="{html_text(title)}">'
            f"<title>{html_text(title)}</title>"
            f'<rect class="hit" x="{x(step.index) - wide / 2:.1f}" y="4"'
            f' width="{wide:.1f}" height="{_BOTTOM}"/>'
            f"{mark(kind, x(step.index), y(step.progress), min(4.0, max(1.6, wide / 2)))}</a>"
        )
    told = f"progress from 0 to {record.progress:.2f} over {counted(count, 'step')}"
    name = html_text(f"Progress: {told}")
    svg = picture("timeline", _WIDTH, _HEIGHT, "Progress", told, shapes)
    svg = svg.replace('role="img"', 'role="group"', 1)
    return (
        f'<figure class="timeline" aria-label="{name}">'
        f'<div class="scroll" tabindex="0" role="group" aria-label="Steps">{svg}</div>'
        f"{_legend(kinds, seen)}{_BUTTONS}</figure>"
    )


def mark(kind: str, x: float, y: float, size: float) -> str:
    """A small sign at a place: a dot, a ring, a square, a cross or a triangle."""
    style = f'class="mark {kind}"'
    if kind == "invalid":
        return (
            f'<path {style} d="M{x - size:.1f} {y - size:.1f}L{x + size:.1f} {y + size:.1f}'
            f'M{x + size:.1f} {y - size:.1f}L{x - size:.1f} {y + size:.1f}"/>'
        )
    if kind == "harmful":
        wide = size * 1.5
        return (
            f'<path {style} d="M{x:.1f} {y + wide:.1f}L{x - wide:.1f} {y - wide:.1f}'
            f'H{x + wide:.1f}z"/>'
        )
    if kind == "cycle":
        return (
            f'<rect {style} x="{x - size:.1f}" y="{y - size:.1f}" width="{2 * size:.1f}"'
            f' height="{2 * size:.1f}"/>'
        )
    return f'<circle {style} cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}"/>'


def _kind(step: Step, seen: Insight) -> str:
    place = step.index - 1
    if seen.first_harmful == step.index:
        return "harmful"
    if not step.valid:
        return "invalid"
    if seen.in_cycle[place]:
        return "cycle"
    return "repeated" if seen.repeated[place] else "plain"


def _frame(count: int, x: Scale, y: Scale) -> Iterator[str]:
    for value in (0, 0.5, 1):
        yield (
            f'<line class="rule" x1="{_LEFT}" y1="{y(value):.1f}" x2="{_WIDTH - _RIGHT}"'
            f' y2="{y(value):.1f}"/>'
            f'<text class="tick end" x="{_LEFT - 8}" y="{y(value) + 4:.1f}">{value:g}</text>'
        )
    apart = next(n for n in (1, 2, 5, 10, 20, 50, 100, 1000, 10_000) if count / n <= 25)
    for step in range(0, count + 1, apart):
        yield f'<text class="tick middle" x="{x(step):.1f}" y="{_HEIGHT - 8}">{step}</text>'


def _unreachable(seen: Insight, count: int, x: Scale) -> Iterator[str]:
    if seen.lost_for_good is not None:
        start = x(seen.lost_for_good - 0.5)
        yield (
            f'<rect class="lost-for-good" x="{start:.1f}" y="{_TOP}"'
            f' width="{x(count) - start + 8:.1f}" height="{_BOTTOM - _TOP}">'
            "<title>the goal is out of reach</title></rect>"
        )


def _distance(seen: Insight, x: Scale, y: Scale) -> Iterator[str]:
    """The oracle's remaining steps, as a share of the most there ever were."""
    most = max((distance for distance in seen.distances if distance is not None), default=0)
    if not most:
        return
    points = " ".join(
        f"{x(place):.1f},{y(distance / most):.1f}"
        for place, distance in enumerate(seen.distances)
        if distance is not None
    )
    yield f'<polyline class="distance-line" points="{points}"/>'
    yield f'<text class="tick" x="{_WIDTH - _RIGHT + 11}" y="{y(1) + 4:.1f}">{most}</text>'
    yield f'<text class="tick" x="{_WIDTH - _RIGHT + 11}" y="{y(0) + 4:.1f}">0</text>'


def _legend(kinds: set[str], seen: Insight) -> str:
    parts = ['<span><i class="line progress"></i>progress (left)</span>']
    if seen.distances:
        parts.append('<span><i class="line distance"></i>steps to the goal (right)</span>')
    for kind, text in MARKS.items():
        if kind in kinds:
            sign = mark(kind, 6, 6, 3.5)
            parts.append(
                f'<span><svg class="sign" viewBox="0 0 12 12" aria-hidden="true">{sign}</svg>'
                f"{text}</span>"
            )
    if seen.lost_for_good is not None:
        parts.append('<span><i class="area"></i>goal out of reach</span>')
    return f'<figcaption class="legend">{"".join(parts)}</figcaption>'
