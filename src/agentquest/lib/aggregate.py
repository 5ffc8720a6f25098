"""Many episodes at once: the figures of a whole run, overall and by kind of task.

No data means no figure: every mean of nothing is None, never 0. Rates are over
the runs given, next to the number of runs.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import fsum
from typing import Any

from agentquest.errors import UserError
from agentquest.lib.metrics import Metrics

Export = Mapping[str, Any]
Run = Metrics | Export
GroupBy = Callable[[Export], str | None]

_EXPECTED: dict[str, type | tuple[type, ...]] = {
    "success": bool,
    "actions": (list, tuple),
    "progress": (list, tuple),
    "repetition_rate": (int, float),
}
_KIND = re.compile(r"([A-Za-z_]+)-(?:.*-)?\d+")


@dataclass(frozen=True)
class Averages:
    """The figures of some runs.

    `mean_progress_curve` has one value a step of the longest run; a run that
    ended earlier counts on with its last value, one without steps with 0.
    """

    runs: int
    successes: int
    success_rate: float | None
    mean_steps: float | None
    mean_steps_of_successes: float | None
    mean_final_progress: float | None
    mean_repetition_rate: float | None
    mean_progress_curve: tuple[float, ...]


@dataclass(frozen=True)
class Aggregate:
    """All runs together, and each group by its name."""

    overall: Averages
    groups: dict[str, Averages] = field(default_factory=dict)

    def export(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def aggregate_metrics(runs: Iterable[Run], group_by: GroupBy | None = None) -> Aggregate:
    """The figures of many `Metrics` objects or `export()` dicts.

    `group_by` names the group of an export, or None for a run that belongs to
    none; by default it is the kind of task that the run's `problem` states.
    """
    exports = checked_exports(runs)
    groups = group_exports(exports, group_by)
    return Aggregate(
        average_exports(exports),
        {name: average_exports(members) for name, members in groups.items()},
    )


def group_exports(
    exports: Sequence[Export], group_by: GroupBy | None = None
) -> dict[str, list[Export]]:
    """The exports of each group, groups in alphabetical order."""
    name_of = group_by or problem_kind
    groups: dict[str, list[Export]] = {}
    for export in exports:
        name = name_of(export)
        if name is not None:
            groups.setdefault(name, []).append(export)
    return dict(sorted(groups.items()))


def problem_kind(export: Export) -> str | None:
    """The task type in a problem's name: `…/<type>-<details>-<scene>/<trial>`; else None."""
    for part in reversed(re.split(r"[/\\]", str(export.get("problem", "")))):
        if found := _KIND.fullmatch(part):
            return found[1]
    return None


def checked_exports(runs: Iterable[Run]) -> list[Export]:
    """Each run as an export; one that lacks what the figures need is an error."""
    exports = []
    for position, run in enumerate(runs):
        export = run.export() if isinstance(run, Metrics) else run
        if not isinstance(export, Mapping):
            raise UserError(
                f"runs[{position}] is a {type(run).__name__}, not Metrics or an export() dict"
            )
        for key, kind in _EXPECTED.items():
            if not isinstance(export.get(key), kind):
                found = type(export[key]).__name__ if key in export else "missing"
                raise UserError(f"runs[{position}][{key!r}] is {found}, not as export() gives it")
        if len(export["progress"]) != len(export["actions"]):
            raise UserError(
                f"runs[{position}] has {len(export['actions'])} actions"
                f" but {len(export['progress'])} values of progress"
            )
        exports.append(export)
    return exports


def average_exports(exports: Sequence[Export]) -> Averages:
    """The figures of any number of exported episodes (see `Metrics.export`)."""
    steps = [len(export["actions"]) for export in exports]
    won = [len(export["actions"]) for export in exports if export["success"]]
    curves = [export["progress"] for export in exports]
    return Averages(
        runs=len(exports),
        successes=len(won),
        success_rate=len(won) / len(exports) if exports else None,
        mean_steps=_mean(steps),
        mean_steps_of_successes=_mean(won),
        mean_final_progress=_mean([_at(curve, len(curve)) for curve in curves]),
        mean_repetition_rate=_mean([export["repetition_rate"] for export in exports]),
        mean_progress_curve=tuple(
            fsum(_at(curve, step) for curve in curves) / len(curves)
            for step in range(1, max(steps, default=0) + 1)
        ),
    )


def _at(curve: Sequence[float], step: int) -> float:
    """Progress after `step` steps, the last value carried forward."""
    return curve[min(step, len(curve)) - 1] if curve else 0.0


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None
