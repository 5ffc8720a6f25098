"""A run as one line of a list: its figures without its episodes."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from agentquest.metrics.row_index import IndexedRow
from agentquest.metrics.rows import total
from agentquest.metrics.statistics import Estimate, rate
from agentquest.metrics.summary import in_order
from agentquest.records.manifest import Manifest


@dataclass(frozen=True)
class Figures:
    """Means are over scored episodes; None is unknown, never zero."""

    episodes: int
    scored: int
    success: Estimate | None
    progress: float | None
    steps: float | None
    tokens: int | None
    cost: float | None
    damage: str

    def stored(self) -> dict[str, Any]:
        """The figures as plain data, for `figures_from` to read."""
        return asdict(self)


@dataclass(frozen=True)
class Glance:
    """One run of a list; `state` is `complete`, `running`, `owed` or `stopped`."""

    name: str
    manifest: Manifest
    state: str
    figures: Figures


def figures_of(rows: Sequence[IndexedRow], damage: str) -> Figures:
    """The same figures as the report's, without the intervals of means."""
    scored = in_order(one.row for one in rows if one.scored)
    tasks: dict[str, int] = {}
    clusters = [tasks.setdefault(row.task_id, len(tasks)) for row in scored]
    spent = total(one.row.spent for one in rows)
    priced = spent.calls and not spent.unpriced_calls
    return Figures(
        episodes=len(rows),
        scored=len(scored),
        success=rate([float(row.success) for row in scored], clusters) if scored else None,
        progress=_mean([row.values.get("progress") for row in scored]),
        steps=_mean([float(row.steps) for row in scored]),
        tokens=spent.tokens,
        cost=spent.cost if priced else None,
        damage=damage,
    )


def figures_from(stored: dict[str, Any]) -> Figures | None:
    """Figures as they were stored; None where they are not of this shape."""
    try:
        success = stored["success"]
        return Figures(**{**stored, "success": Estimate(**success) if success else None})
    except (KeyError, TypeError):
        return None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
