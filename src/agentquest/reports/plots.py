"""Pictures of a run for documents: progress, repetition, and success by task type.

Needs matplotlib (the extra `plots`), which is loaded only when a
picture is drawn. Figures are made without pyplot, so nothing global changes and
many threads may draw at once. Colours are those of Okabe and Ito, which people
with any colour vision can tell apart; lines differ in their dashes, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentquest.errors import UserError
from agentquest.extras import MissingExtra
from agentquest.metrics.report import ALL
from agentquest.metrics.rows import EpisodeRow
from agentquest.metrics.summary import mean_of_known, mean_progress
from agentquest.store.stored_run import StoredRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6C5B3B")
_DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
_INK = "#222222"
_GRID = "#DDDDDD"
_TEXT_SIZE = 11
_DOTS_PER_INCH = 150
# Without the date the same data gives the same file.
_UNDATED: dict[str, dict[str, Any]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


def plot_progress_curves(run: StoredRun, path: str | Path) -> Path:
    """Mean progress after each step, of all scored episodes and of each task type.

    An episode that has ended counts on with its last progress.
    """
    figure, axes = _canvas(path, run, 4.8, "Mean progress after each step")
    *by_type, (_, everything) = _group(run)
    longest = max(row.steps for row in everything)

    def draw(name: str, rows: Sequence[EpisodeRow], **style: Any) -> None:
        label = f"{name} (n={len(rows)})"
        axes.plot(range(longest + 1), mean_progress(rows, longest), label=label, **style)

    for i, (name, rows) in enumerate(by_type):
        colour, dashes = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
        draw(name, rows, lw=1.8, color=colour, linestyle=dashes)
    draw(ALL, everything, lw=3, color=_INK)
    axes.set_xlabel("Step", fontsize=_TEXT_SIZE)
    axes.set_ylabel("Mean progress", fontsize=_TEXT_SIZE)
    axes.set_xlim(0, max(longest, 1))
    axes.set_ylim(-0.02, 1.02)
    axes.locator_params(axis="x", integer=True)
    axes.grid(color=_GRID, lw=0.8)
    axes.legend(
        fontsize=_TEXT_SIZE - 1.5, frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0)
    )
    return _save(figure, path)


def plot_success_by_task_type(run: StoredRun, path: str | Path) -> Path:
    """Success rate of each task type and of all, with the intervals of the report."""
    rows = [row for row in run.report.rows if row.group.scored]
    height = 1.5 + 0.5 * len(rows)
    figure, axes = _canvas(path, run, height, "Success rate with 95% intervals")
    for place, row in enumerate(rows):
        rate = row.cells["success"].estimate
        assert rate is not None, "every scored episode has a success"
        colour = _INK if row.name == ALL else _COLOURS[0]
        axes.plot([rate.low, rate.high], [place, place], color=colour, lw=3, solid_capstyle="butt")
        axes.plot([rate.value], [place], "o", color=colour, markersize=9, clip_on=False, zorder=3)
        axes.text(
            1.04, place, f"{row.group.successes}/{row.group.scored}  {rate.value:.0%}",
            va="center", fontsize=_TEXT_SIZE, color=_INK,
        )  # fmt: skip
    _label_rows(axes, [(row.name, row.group.scored) for row in rows])
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    axes.set_xlabel("Success rate", fontsize=_TEXT_SIZE)
    return _save(figure, path)


def plot_repetition(run: StoredRun, path: str | Path) -> Path:
    """Repetition rate of every scored episode, as a dot, and the mean of each task type, as a
    bar."""
    groups = _group(run)
    title = "Repetition rate: every episode, and the mean"
    figure, axes = _canvas(path, run, 1.6 + 0.6 * len(groups), title)
    for place, (_, members) in enumerate(groups):
        rates = sorted(row.values["repetition"] or 0.0 for row in members)
        axes.plot(
            rates, _spread(place, rates), "o", color=_COLOURS[0], alpha=0.45, markersize=5,
            markeredgewidth=0, clip_on=False,
        )  # fmt: skip
        mean = mean_of_known(rates)
        assert mean is not None, "every group has an episode"
        axes.plot([mean, mean], [place - 0.36, place + 0.36], color=_COLOURS[1], lw=3)
        axes.text(
            1.02, place, f"mean {mean:.2f}", va="center", fontsize=_TEXT_SIZE, color=_INK,
            transform=axes.get_yaxis_transform(),
        )  # fmt: skip
    _label_rows(axes, [(name, len(members)) for name, members in groups])
    axes.set_xlim(0, 1)
    axes.set_xlabel("Repetition rate", fontsize=_TEXT_SIZE)
    return _save(figure, path)


def _group(run: StoredRun) -> list[tuple[str, list[EpisodeRow]]]:
    """The scored episodes of each task type, then all of them."""
    groups: dict[str, list[EpisodeRow]] = {}
    for row in filter(lambda row: row.scored, run.rows):
        groups.setdefault(row.task_type, []).append(row)
    return [*sorted(groups.items()), (ALL, [row for rows in groups.values() for row in rows])]


def _canvas(path: str | Path, run: StoredRun, height: float, title: str) -> tuple[Figure, Axes]:
    """An empty picture; refused before it is drawn if it could not be saved."""
    if Path(path).suffix.lower() not in _UNDATED:
        raise UserError(f"{str(path)!r}: a picture's name ends in {', '.join(_UNDATED)}")
    if not any(row.scored for row in run.rows):
        raise UserError(f"there is nothing to plot: {run.name} has no scored episode")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("plots", "a plot", ["matplotlib"]) from None
    figure = Figure(figsize=(8.0, height), dpi=_DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(title, fontsize=_TEXT_SIZE + 2, color=_INK, loc="left", pad=10)
    axes.tick_params(labelsize=_TEXT_SIZE, colors=_INK, length=0)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(side == "bottom")
    return figure, axes


def _label_rows(axes: Axes, rows: Sequence[tuple[str, int]]) -> None:
    axes.set_yticks(range(len(rows)), [f"{name} (n={number})" for name, number in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(axis="x", color=_GRID, lw=0.8)
    axes.tick_params(axis="y", pad=9)
    if len(rows) > 1:
        axes.axhline(len(rows) - 1.5, color=_INK, lw=0.8)


def _spread(row: int, rates: Sequence[float]) -> list[float]:
    """Equal rates side by side rather than on top of one another, the same in every drawing."""
    heights = []
    same = -1
    for i, rate in enumerate(rates):
        same = same + 1 if i and rate == rates[i - 1] else 0
        offset = 0.055 * ((same + 1) // 2) * (-1) ** same
        heights.append(row + max(-0.36, min(0.36, offset)))
    return heights


def _save(figure: Figure, path: str | Path) -> Path:
    target = Path(path)
    try:
        figure.savefig(target, metadata=_UNDATED[target.suffix.lower()])
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror or error}") from None
    return target
