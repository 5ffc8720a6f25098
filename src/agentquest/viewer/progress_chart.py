"""Progress over the steps of an episode, with the oracle's distance and the places to look at."""

from collections.abc import Callable

from agentquest.records.episode import EpisodeRecord
from agentquest.reports.render.html.charts import picture
from agentquest.reports.safe_text import html_text
from agentquest.viewer.insight import Insight
from agentquest.viewer.layout import episode_address

_WIDTH, _HEIGHT = 900, 150
_LEFT, _TOP, _BOTTOM = 36, 14, 122
Scale = Callable[[float], float]


def progress_chart(run: str, record: EpisodeRecord, seen: Insight) -> str:
    """The chart as SVG, each step a link; empty for an episode without steps."""
    count = len(record.steps)
    if not count:
        return ""
    wide = (_WIDTH - _LEFT - 16) / max(count, 1)

    def x(place: float) -> float:
        return _LEFT + wide * place

    def y(share: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * share

    shapes = [
        f'<line class="rule" x1="{_LEFT}" y1="{y(v):.1f}" x2="{_WIDTH - 16}" y2="{y(v):.1f}"/>'
        f'<text class="tick end" x="{_LEFT - 8}" y="{y(v) + 4:.1f}">{v:g}</text>'
        for v in (0, 0.5, 1)
    ]
    shapes += _distance_line(seen, x, y)
    points = " ".join(
        f"{x(place):.1f},{y(value):.1f}"
        for place, value in enumerate([0.0, *(step.progress for step in record.steps)])
    )
    shapes.append(f'<polyline class="progress-line" points="{points}"/>')
    for step in record.steps:
        place = step.index - 1
        kinds = [
            "invalid" if not step.valid else "",
            "cycle" if seen.in_cycle[place] else "",
            "repeated" if seen.repeated[place] else "",
            "unreachable" if not step.reachable else "",
            "harmful" if seen.first_harmful == step.index else "",
        ]
        kind = " ".join(filter(None, kinds)) or "plain"
        title = f"step {step.index}: {step.action or 'no action'}"
        if kind != "plain":
            title += f" ({kind.replace(' ', ', ')})"
        address = html_text(episode_address(run, record.key, step.index))
        shapes.append(
            f'<a href="{address}" data-goto="{step.index}"><title>{html_text(title)}</title>'
            f'<rect class="hit" x="{x(step.index) - wide / 2:.1f}" y="{_TOP - 8}"'
            f' width="{wide:.1f}" height="{_HEIGHT - _TOP}"/>'
            f'<circle class="mark {kind}" cx="{x(step.index):.1f}" cy="{y(step.progress):.1f}"'
            ' r="4"/></a>'
        )
    described = f"progress from 0 to {record.progress:.2f} over {count} steps"
    legend = (
        '<p class="note legend"><span class="key progress-key"></span>progress'
        '<span class="key distance-key"></span>distance to the goal, of the longest seen'
        '<span class="key invalid-key"></span>invalid<span class="key cycle-key"></span>in a circle'
        "</p>"
    )
    svg = picture("timeline", _WIDTH, _HEIGHT, "Progress", described, shapes)
    return f'<figure class="timeline">{svg}{legend}</figure>'


def _distance_line(seen: Insight, x: Scale, y: Scale) -> list[str]:
    """The oracle's remaining steps, as a share of the most there ever were."""
    known = [distance for distance in seen.distances if distance is not None]
    most = max(known, default=0)
    if not most:
        return []
    points = " ".join(
        f"{x(place):.1f},{y(distance / most):.1f}"
        for place, distance in enumerate(seen.distances)
        if distance is not None
    )
    return [f'<polyline class="distance-line" points="{points}"/>']
