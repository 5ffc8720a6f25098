"""Small SVG pictures: drawn here, coloured by the style sheet.

Every picture takes plain numbers, and has a title and a description for those who cannot see it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import htpy as h
from markupsafe import Markup

from agentquest.lib.markup import Template, join
from agentquest.metrics.statistics import Estimate
from agentquest.viewer.layout import KINDS
from agentquest.words import counted

_WIDTH = 640
_LABEL_SPACE = 250
_ROW = 30
# The first value of a shape is its style class.
draw_line = Template('<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>')
_RECT = Template('<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%s">%s</rect>')
_TEXT = Template('<text class="%s" x="%.1f" y="%.1f">%s%s</text>')
_TITLE = Template("<title>%s</title>")
_CURVE = Template('<polyline class="%s" points="%s"/>')
_GROUP = Template("<g>%s%s%s</g>")
_DOT = Template('<circle class="dot" cx="%.1f" cy="%.1f" r="5.5"/>')
_POINT = Template('<circle class="point %s" cx="%.1f" cy="%.1f" r="4"><title>%s</title></circle>')
_SPARKLINE = Template('<svg class="spark" viewBox="0 0 66 16" aria-hidden="true">%s</svg>')


@dataclass(frozen=True)
class Dot:
    """A point of a scatter; `kind` is the style class of its colour."""

    x: float
    y: float
    kind: str
    title: str


def picture(
    kind: str,
    size: tuple[int, int],
    title: str,
    description: str,
    shapes: Iterable[Markup],
    role: str = "img",
) -> Markup:
    """An SVG that scales with the page and says what it shows."""
    name = f"{title}. {description}"
    box = f"0 0 {size[0]} {size[1]}"
    svg = h.svg(class_=f"chart {kind}", viewBox=box, role=role, aria_label=name)
    return Markup(svg[h.title[name], join(shapes)])


def interval_chart(title: str, rows: Sequence[tuple[str, Estimate | None, str]]) -> Markup:
    """Rates from 0 to 100% as dots with their intervals, one row each."""
    left, right = _LABEL_SPACE, _WIDTH - 60
    bottom = _ROW * len(rows) + 8
    shapes: list[Markup] = []
    for percent in (0, 25, 50, 75, 100):
        x = left + (right - left) * percent / 100
        shapes.append(draw_line("rule", x, 4, x, bottom))
        shapes.append(draw_text(x, bottom + 16, f"{percent}%", "tick middle"))
    for position, (label, estimate, hint) in enumerate(rows):
        y = _ROW * position + _ROW / 2 + 4
        shapes.append(draw_text(left - 12, y + 4, _shorten(label, 31), "end", hint=label))
        if estimate is None:
            shapes.append(draw_text(left + 8, y + 4, "no score", "tick"))
            continue
        low, dot, high = (
            left + (right - left) * v for v in (estimate.low, estimate.value, estimate.high)
        )
        shapes.append(
            _GROUP(
                _TITLE(f"{label}: {hint}"),
                draw_rect("interval", low, y - 5, max(high - low, 1), 10, rounded=5),
                _DOT(dot, y),
            )
        )
        shapes.append(draw_text(right + 12, y + 4, f"{estimate.value:.0%}", "value"))
    described = "; ".join(f"{label}: {hint}" for label, _, hint in rows)
    return picture("intervals", (_WIDTH, bottom + 24), title, described, shapes)


def curve_chart(
    title: str, mean: Sequence[float], faint: Sequence[tuple[str, Sequence[float]]], steps: int
) -> Markup:
    """Progress over steps: the mean, and single episodes behind it (style class, values)."""
    left, right, top, bottom = 44, _WIDTH - 16, 10, 230

    def draw(kind: str, values: Sequence[float]) -> Markup:
        scale = (right - left) / max(steps, 1)
        heights = ((bottom - top) * min(max(v, 0.0), 1.0) for v in values)
        return draw_curve(kind, ((left + i * scale, bottom - y) for i, y in enumerate(heights)))

    shapes: list[Markup] = []
    for percent in (0, 25, 50, 75, 100):
        y = bottom - (bottom - top) * percent / 100
        shapes.append(draw_line("rule", left, y, right, y))
        shapes.append(draw_text(left - 8, y + 4, f"{percent / 100:.2f}", "tick end"))
    for step in _ticks(steps):
        x = left + (right - left) * step / max(steps, 1)
        shapes.append(draw_text(x, bottom + 18, str(step), "tick middle"))
    shapes.append(draw_text((left + right) / 2, bottom + 36, "steps", "tick middle"))
    shapes += [draw(f"faint {kind}", values) for kind, values in faint]
    shapes.append(draw("mean", mean))
    last = f"{mean[-1]:.2f}" if mean else "unknown"
    episodes = counted(len(faint), "episode")
    description = f"Mean of all scored episodes, {last} at the end; {episodes} behind it"
    return picture("curves", (_WIDTH, bottom + 44), title, description, shapes)


def histogram(title: str, unit: str, values: Sequence[tuple[float, str]]) -> Markup:
    """How a quantity is spread over episodes, in columns stacked by how these went."""
    left, right, top, bottom = 44, _WIDTH - 16, 14, 190
    width, columns = _columns([value for value, _ in values])
    counts = [dict.fromkeys(KINDS, 0) for _ in range(columns)]
    for value, kind in values:
        counts[min(int(value // width), columns - 1)][kind] += 1
    tallest = max((sum(column.values()) for column in counts), default=0) or 1
    each = (right - left) / columns
    shapes: list[Markup] = [draw_line("axis", left, bottom, right, bottom)]
    for number in dict.fromkeys((0, tallest)):
        y = bottom - (bottom - top) * number / tallest
        shapes.append(draw_text(left - 8, y + 4, str(number), "tick end"))
    for position, column in enumerate(counts):
        shapes += _stack(column, left + position * each, each, bottom, (bottom - top) / tallest)
    for position in _ticks(columns):
        text = _short_number(position * width)
        shapes.append(draw_text(left + position * each, bottom + 18, text, "tick middle"))
    shapes.append(draw_text((left + right) / 2, bottom + 36, unit, "tick middle"))
    described = "; ".join(
        f"{_short_number(i * width)} to {_short_number((i + 1) * width)}: {sum(c.values())}"
        for i, c in enumerate(counts)
        if sum(c.values())
    )
    return picture("histogram", (_WIDTH, bottom + 44), title, described, shapes)


def scatter(title: str, across: str, up: str, dots: Sequence[Dot]) -> Markup:
    """One dot for each task; on the line both are the same."""
    left, right, top, bottom = 56, 356, 26, 326
    most = max((max(dot.x, dot.y) for dot in dots), default=0.0) or 1.0
    shapes: list[Markup] = [
        draw_line("rule", left, bottom, right, top),
        draw_line("axis", left, bottom, right, bottom),
        draw_line("axis", left, bottom, left, top),
    ]
    for share in (0.0, 0.5, 1.0):
        x, y = left + (right - left) * share, bottom - (bottom - top) * share
        shapes.append(draw_text(x, bottom + 16, _short_number(most * share), "tick middle"))
        shapes.append(draw_text(left - 6, y + 4, _short_number(most * share), "tick end"))
    shapes.append(draw_text((left + right) / 2, bottom + 34, _shorten(across, 44), "tick middle"))
    shapes.append(draw_text(left - 40, top - 12, _shorten(up, 56), "tick"))
    for dot in dots:
        x = left + (right - left) * dot.x / most
        y = bottom - (bottom - top) * dot.y / most
        shapes.append(_POINT(dot.kind, x, y, dot.title))
    above = sum(dot.y > dot.x for dot in dots)
    below = sum(dot.y < dot.x for dot in dots)
    described = f"{counted(len(dots), 'task')}, {above} above the line, {below} below it"
    return picture("scatter", (380, 366), title, described, shapes)


def sparkline(values: Sequence[float], kind: str) -> Markup:
    """A tiny curve of progress; hidden from screen readers, because its number is in the row."""
    scale = 64 / max(len(values) - 1, 1)
    points = ((1 + i * scale, 15 - 14 * min(max(v, 0.0), 1.0)) for i, v in enumerate(values))
    return _SPARKLINE(draw_curve(kind, points))


def draw_text(x: float, y: float, text: str, kind: str, hint: str = "") -> Markup:
    """A text at a place; `hint` is shown where it says more than the text."""
    return _TEXT(kind, x, y, _TITLE(hint) if hint and hint != text else "", text)


def draw_curve(kind: str, points: Iterable[tuple[float, float]]) -> Markup:
    """A line through points."""
    return _CURVE(kind, " ".join(f"{x:.1f},{y:.1f}" for x, y in points))


def draw_rect(
    kind: str, x: float, y: float, width: float, height: float, rounded: int = 0, title: str = ""
) -> Markup:
    """A rectangle."""
    return _RECT(kind, x, y, width, height, rounded, _TITLE(title) if title else "")


def _stack(
    column: dict[str, int], x: float, width: float, bottom: float, unit: float
) -> Iterator[Markup]:
    y = bottom
    for kind, number in column.items():
        if number:
            y -= number * unit
            wide, high, title = max(width - 2, 1), number * unit, f"{number} {kind}"
            yield draw_rect(f"bar {kind}", x + 1, y, wide, high, title=title)


def _columns(values: Sequence[float]) -> tuple[float, int]:
    """A round column width that gives at most about 25 columns, and how many there are."""
    most = max(values, default=0.0)
    width = 1.0
    while most / width >= 25:
        width *= 2.5 if f"{width:.0e}".startswith("2") else 2
    return width, int(most // width) + 1


def _ticks(number: int) -> Iterable[int]:
    apart = max(1, -(-number // 10))
    apart = next((nice for nice in (1, 2, 5, 10, 20, 50, 100, 200, 500) if nice >= apart), apart)
    return range(0, number + 1, apart)


def _shorten(text: str, most: int) -> str:
    """A label that fits its place; the whole text is in the hint."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _short_number(value: float) -> str:
    """Three figures, and a letter for thousands and millions."""
    for limit, letter in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{letter}"
    return f"{value:.3g}"
