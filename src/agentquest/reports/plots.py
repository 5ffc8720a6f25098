"""Pictures of many episodes: progress, repetition, and success by task type.

Needs matplotlib (the extra `plots`), which is loaded only when a
picture is drawn. Figures are made without pyplot, so nothing global changes and
many threads may draw at once. Colours are those of Okabe and Ito, which people
with any colour vision can tell apart; lines differ in their dashes, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentquest.errors import UserError
from agentquest.extras import MissingExtra
from agentquest.lib.aggregate import (
    Aggregate,
    Averages,
    GroupBy,
    Run,
    average_exports,
    checked_exports,
    group_exports,
)
from agentquest.metrics.statistics import estimate_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6C5B3B")
_DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
_INK = "#222222"
_GRID = "#DDDDDD"
_TEXT_SIZE = 11
_DOTS_PER_INCH = 150


def plot_progress_curves(aggregate: Aggregate, path: str | Path) -> Path:
    """Mean progress after each step, of all runs and of each group.

    A run that has ended counts on with its last progress, as in the aggregate.
    """
    target = _target(path)
    _require_runs(aggregate.overall.runs)
    longest = len(aggregate.overall.mean_progress_curve)
    figure, axes = _canvas(8.0, 4.8, "Mean progress after each step")
    for i, (name, summary) in enumerate(aggregate.groups.items()):
        axes.plot(
            *_curve(summary, longest),
            label=_with_n(name, summary.runs),
            lw=1.8,
            color=_COLOURS[i % len(_COLOURS)],
            linestyle=_DASHES[i % len(_DASHES)],
        )
    label = _with_n("all runs", aggregate.overall.runs)
    axes.plot(*_curve(aggregate.overall, longest), label=label, lw=3, color=_INK)
    axes.set_xlabel("Step", fontsize=_TEXT_SIZE)
    axes.set_ylabel("Mean progress", fontsize=_TEXT_SIZE)
    axes.set_xlim(0, max(longest, 1))
    axes.set_ylim(-0.02, 1.02)
    axes.locator_params(axis="x", integer=True)
    axes.grid(color=_GRID, lw=0.8)
    axes.legend(
        fontsize=_TEXT_SIZE - 1.5, frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0)
    )
    return _save(figure, target)


def plot_success_by_task_type(aggregate: Aggregate, path: str | Path) -> Path:
    """Success rate of each group and of all runs, with 95% intervals."""
    target = _target(path)
    _require_runs(aggregate.overall.runs)
    rows = [*aggregate.groups.items(), ("all runs", aggregate.overall)]
    figure, axes = _canvas(8.0, 1.5 + 0.5 * len(rows), "Success rate with 95% intervals")
    for row, (name, summary) in enumerate(rows):
        rate = estimate_rate(summary.successes, summary.runs)
        if rate is None:
            continue
        colour = _INK if name == "all runs" else _COLOURS[0]
        axes.plot([rate.low, rate.high], [row, row], color=colour, lw=3, solid_capstyle="butt")
        axes.plot([rate.value], [row], "o", color=colour, markersize=9, clip_on=False, zorder=3)
        axes.text(
            1.04, row, f"{summary.successes}/{summary.runs}  {rate.value:.0%}",
            va="center", fontsize=_TEXT_SIZE, color=_INK,
        )  # fmt: skip
    _label_rows(axes, [_with_n(name, summary.runs) for name, summary in rows])
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    axes.set_xlabel("Success rate", fontsize=_TEXT_SIZE)
    return _save(figure, target)


def plot_repetition(runs: Iterable[Run], path: str | Path, group_by: GroupBy | None = None) -> Path:
    """Repetition rate of every run, as a dot, and the mean of each group, as a bar."""
    target = _target(path)
    exports = checked_exports(runs)
    _require_runs(len(exports))
    rows = [*group_exports(exports, group_by).items(), ("all runs", exports)]
    figure, axes = _canvas(8.0, 1.6 + 0.6 * len(rows), "Repetition rate: every run, and the mean")
    highest = 0.0
    for row, (_, members) in enumerate(rows):
        rates = sorted(float(export["repetition_rate"]) for export in members)
        highest = max(highest, rates[-1])
        axes.plot(
            rates, _spread(row, rates), "o", color=_COLOURS[0], alpha=0.45, markersize=5,
            markeredgewidth=0, clip_on=False,
        )  # fmt: skip
        mean = average_exports(members).mean_repetition_rate
        assert mean is not None
        axes.plot([mean, mean], [row - 0.36, row + 0.36], color=_COLOURS[1], lw=3)
        axes.text(
            1.02, row, f"mean {mean:.2f}", va="center", fontsize=_TEXT_SIZE, color=_INK,
            transform=axes.get_yaxis_transform(),
        )  # fmt: skip
    _label_rows(axes, [_with_n(name, len(members)) for name, members in rows])
    axes.set_xlim(0, max(1.0, highest))
    axes.set_xlabel("Repetition rate", fontsize=_TEXT_SIZE)
    return _save(figure, target)


def _canvas(width: float, height: float, title: str) -> tuple[Figure, Axes]:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("plots", "a plot", ["matplotlib"]) from None
    figure = Figure(figsize=(width, height), dpi=_DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(title, fontsize=_TEXT_SIZE + 2, color=_INK, loc="left", pad=10)
    axes.tick_params(labelsize=_TEXT_SIZE, colors=_INK, length=0)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(side == "bottom")
    return figure, axes


def _label_rows(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(axis="x", color=_GRID, lw=0.8)
    axes.tick_params(axis="y", pad=9)
    if len(labels) > 1:
        axes.axhline(len(labels) - 1.5, color=_INK, lw=0.8)


def _curve(summary: Averages, longest: int) -> tuple[list[int], list[float]]:
    """From no progress at step 0 to the length of the longest run."""
    values = [0.0, *summary.mean_progress_curve]
    values += values[-1:] * (longest + 1 - len(values))
    return list(range(len(values))), values


def _spread(row: int, rates: Sequence[float]) -> list[float]:
    """Equal rates side by side rather than on top of one another, the same in every drawing."""
    heights = []
    same = -1
    for i, rate in enumerate(rates):
        same = same + 1 if i and rate == rates[i - 1] else 0
        offset = 0.055 * ((same + 1) // 2) * (-1) ** same
        heights.append(row + max(-0.36, min(0.36, offset)))
    return heights


def _with_n(name: str, runs: int) -> str:
    return f"{name} (n={runs})"


def _require_runs(runs: int) -> None:
    if runs == 0:
        raise UserError("there is nothing to plot: no runs were given")


def _target(path: str | Path) -> Path:
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise UserError(f"{str(path)!r}: a picture's name ends in {', '.join(FORMATS)}")
    return target


def _save(figure: Figure, target: Path) -> Path:
    # Without the date the same data gives the same file.
    undated: dict[str, dict[str, Any]] = {
        ".png": {},
        ".svg": {"Date": None},
        ".pdf": {"CreationDate": None},
    }
    try:
        figure.savefig(target, metadata=undated[target.suffix.lower()])
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror or error}") from None
    return target
