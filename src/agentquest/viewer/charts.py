"""Small SVG pictures: drawn here, coloured by the style sheet.

Every picture has a title and a description for those who cannot see it, and
takes plain numbers. Text from outside goes through `html_text`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentquest.metrics.statistics import Estimate
from agentquest.reports.safe_text import html_text
from agentquest.words import counted

_WIDTH = 640
_LABEL_SPACE = 250
_ROW = 30


@dataclass(frozen=True)
class Bar:
    """One bar; `kind` is the style class of its colour."""

    label: str
    value: int
    kind: str


def picture(
    kind: str, width: int, height: int, title: str, description: str, shapes: Iterable[str]
) -> str:
    """An SVG that scales with the page and says what it shows."""
    name = f"{html_text(title)}. {html_text(description)}"
    return (
        f'<svg class="chart {kind}" viewBox="0 0 {width} {height}" role="img" aria-label="{name}">'
        f"<title>{name}</title>{''.join(shapes)}</svg>"
    )


def interval_chart(title: str, rows: Sequence[tuple[str, Estimate | None, str]]) -> str:
    """Rates from 0 to 100% as dots with their intervals, one row each."""
    left, right = _LABEL_SPACE, _WIDTH - 60
    bottom = _ROW * len(rows) + 8
    shapes = []
    for percent in (0, 25, 50, 75, 100):
        x = left + (right - left) * percent / 100
        shapes.append(_line(x, 4, x, bottom, "rule"))
        shapes.append(_text(x, bottom + 16, f"{percent}%", "tick middle"))
    for position, (label, estimate, hint) in enumerate(rows):
        y = _ROW * position + _ROW / 2 + 4
        shapes.append(_text(left - 12, y + 4, _shortened(label, 31), "end", hint=label))
        if estimate is None:
            shapes.append(_text(left + 8, y + 4, "no score", "tick"))
            continue
        low, dot, high = (
            left + (right - left) * v for v in (estimate.low, estimate.value, estimate.high)
        )
        shapes.append(
            f"<g><title>{html_text(label)}: {html_text(hint)}</title>"
            f'<rect class="interval" x="{low:.1f}" y="{y - 5:.1f}" '
            f'width="{max(high - low, 1):.1f}" height="10" rx="5"/>'
            f'<circle class="dot" cx="{dot:.1f}" cy="{y:.1f}" r="5.5"/></g>'
        )
        shapes.append(_text(right + 12, y + 4, f"{estimate.value:.0%}", "value"))
    described = "; ".join(f"{label}: {hint}" for label, _, hint in rows)
    return picture("intervals", _WIDTH, bottom + 24, title, described, shapes)


def bar_chart(title: str, bars: Sequence[Bar]) -> str:
    """Counts as horizontal bars."""
    left, right = _LABEL_SPACE, _WIDTH - 60
    most = max((bar.value for bar in bars), default=0) or 1
    shapes = []
    for position, bar in enumerate(bars):
        y = _ROW * position + 4
        width = (right - left) * bar.value / most
        shapes.append(
            _text(left - 12, y + _ROW / 2 + 4, _shortened(bar.label, 31), "end", hint=bar.label)
        )
        shapes.append(
            f'<rect class="bar {bar.kind}" x="{left}" y="{y + 5:.1f}" width="{max(width, 1):.1f}" '
            f'height="{_ROW - 10}" rx="3"/>'
        )
        shapes.append(_text(left + width + 8, y + _ROW / 2 + 4, str(bar.value), "value"))
    described = ", ".join(f"{bar.label} {bar.value}" for bar in bars)
    return picture("bars", _WIDTH, _ROW * len(bars) + 8, title, described, shapes)


def curve_chart(
    title: str, mean: Sequence[float], faint: Sequence[tuple[str, Sequence[float]]], steps: int
) -> str:
    """Progress over steps: the mean, and single episodes behind it (style class, values)."""
    left, right, top, bottom = 44, _WIDTH - 16, 10, 230

    def points(values: Sequence[float]) -> str:
        scale = (right - left) / max(steps, 1)
        return " ".join(
            f"{left + i * scale:.1f},{bottom - (bottom - top) * min(max(v, 0.0), 1.0):.1f}"
            for i, v in enumerate(values)
        )

    shapes = []
    for percent in (0, 25, 50, 75, 100):
        y = bottom - (bottom - top) * percent / 100
        shapes.append(_line(left, y, right, y, "rule"))
        shapes.append(_text(left - 8, y + 4, f"{percent / 100:.2f}", "tick end"))
    for step in _ticks(steps):
        x = left + (right - left) * step / max(steps, 1)
        shapes.append(_text(x, bottom + 18, str(step), "tick middle"))
    shapes.append(_text((left + right) / 2, bottom + 36, "steps", "tick middle"))
    shapes += [f'<polyline class="faint {kind}" points="{points(v)}"/>' for kind, v in faint]
    shapes.append(f'<polyline class="mean" points="{points(mean)}"/>')
    last = f"{mean[-1]:.2f}" if mean else "unknown"
    episodes = counted(len(faint), "episode")
    description = f"Mean of all scored episodes, {last} at the end; {episodes} behind it"
    return picture("curves", _WIDTH, bottom + 44, title, description, shapes)


def histogram(
    title: str, unit: str, values: Sequence[tuple[float, str]], kinds: Sequence[str]
) -> str:
    """How a quantity is spread, in columns stacked by style class."""
    left, right, top, bottom = 44, _WIDTH - 16, 14, 190
    width, columns = _columns([value for value, _ in values])
    counts = [dict.fromkeys(kinds, 0) for _ in range(columns)]
    for value, kind in values:
        counts[min(int(value // width), columns - 1)][kind] += 1
    tallest = max((sum(column.values()) for column in counts), default=0) or 1
    each = (right - left) / columns
    shapes = [_line(left, bottom, right, bottom, "axis")]
    for number in dict.fromkeys((0, tallest)):
        y = bottom - (bottom - top) * number / tallest
        shapes.append(_text(left - 8, y + 4, str(number), "tick end"))
    for position, column in enumerate(counts):
        shapes += _stack(column, left + position * each, each, bottom, (bottom - top) / tallest)
    for position in _ticks(columns):
        text = _short_number(position * width)
        shapes.append(_text(left + position * each, bottom + 18, text, "tick middle"))
    shapes.append(_text((left + right) / 2, bottom + 36, unit, "tick middle"))
    described = "; ".join(
        f"{_short_number(i * width)} to {_short_number((i + 1) * width)}: {sum(c.values())}"
        for i, c in enumerate(counts)
        if sum(c.values())
    )
    return picture("histogram", _WIDTH, bottom + 44, title, described, shapes)


@dataclass(frozen=True)
class Dot:
    """A point of a scatter; `kind` is the style class of its colour."""

    x: float
    y: float
    kind: str
    title: str


def scatter(title: str, across: str, up: str, dots: Sequence[Dot]) -> str:
    """One dot for each task; on the line both are the same."""
    left, right, top, bottom = 56, 356, 26, 326
    most = max((max(dot.x, dot.y) for dot in dots), default=0.0) or 1.0
    shapes = [_line(left, bottom, right, top, "rule")]
    shapes += [_line(left, bottom, right, bottom, "axis"), _line(left, bottom, left, top, "axis")]
    for share in (0.0, 0.5, 1.0):
        x, y = left + (right - left) * share, bottom - (bottom - top) * share
        shapes.append(_text(x, bottom + 16, _short_number(most * share), "tick middle"))
        shapes.append(_text(left - 6, y + 4, _short_number(most * share), "tick end"))
    shapes.append(_text((left + right) / 2, bottom + 34, _shortened(across, 44), "tick middle"))
    shapes.append(_text(left - 40, top - 12, _shortened(up, 56), "tick"))
    for dot in dots:
        x = left + (right - left) * dot.x / most
        y = bottom - (bottom - top) * dot.y / most
        shapes.append(
            f'<circle class="point {dot.kind}" cx="{x:.1f}" cy="{y:.1f}" r="4">'
            f"<title>{html_text(dot.title)}</title></circle>"
        )
    above = sum(dot.y > dot.x for dot in dots)
    below = sum(dot.y < dot.x for dot in dots)
    described = f"{counted(len(dots), 'task')}, {above} above the line, {below} below it"
    return picture("scatter", 380, 366, title, described, shapes)


def sparkline(values: Sequence[float], kind: str) -> str:
    """A tiny curve of progress; decoration beside the number, so hidden from readers aloud."""
    scale = 64 / max(len(values) - 1, 1)
    points = " ".join(
        f"{1 + i * scale:.1f},{15 - 14 * min(max(v, 0.0), 1.0):.1f}" for i, v in enumerate(values)
    )
    return (
        f'<svg class="spark" viewBox="0 0 66 16" aria-hidden="true">'
        f'<polyline class="{kind}" points="{points}"/></svg>'
    )


def _stack(
    column: dict[str, int], x: float, width: float, bottom: float, unit: float
) -> Iterable[str]:
    y = bottom
    for kind, number in column.items():
        if number:
            y -= number * unit
            yield (
                f'<rect class="bar {kind}" x="{x + 1:.1f}" y="{y:.1f}" '
                f'width="{max(width - 2, 1):.1f}" height="{number * unit:.1f}">'
                f"<title>{number} {html_text(kind)}</title></rect>"
            )


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


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, kind: str, hint: str = "") -> str:
    title = f"<title>{html_text(hint)}</title>" if hint and hint != text else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{title}{html_text(text)}</text>'


def _shortened(text: str, most: int) -> str:
    """A label that fits its place; the whole text is in the hint."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _short_number(value: float) -> str:
    """Three figures, and a letter for thousands and millions."""
    for limit, letter in ((1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{letter}"
    return f"{value:.3g}"
