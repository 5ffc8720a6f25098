"""A run beside published scores: only beside those that were seen in their source.

A published score is taken as it stands, so the comparison is of one sample: the run's figure
and interval, less the score. Its own uncertainty is not in it; the number of its games is
shown where it is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from agentquest.metrics.statistics import Estimate
from agentquest.records.manifest import Manifest, PublishedScore


@dataclass(frozen=True)
class PublishedComparison:
    """The run's figure less a published score, with its interval; all are fractions of 1."""

    source: str
    model: str
    metric: str
    score: float
    difference: float
    low: float
    high: float
    of_few_tasks: bool

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves no difference out."""
        return not (self.of_few_tasks or self.low <= 0 <= self.high)

    @property
    def text(self) -> str:
        """The comparison in words, in points of percent."""
        verdict = "above" if self.difference > 0 else "below"
        if not self.is_clear:
            verdict = "too few tasks to say" if self.of_few_tasks else "no clear difference"
        difference, low, high = self.difference * 100, self.low * 100, self.high * 100
        return f"this run {difference:+.1f} [{low:+.1f}, {high:+.1f}]: {verdict}"


def compare_with_published(
    manifest: Manifest, figures: Mapping[str, Estimate | None]
) -> tuple[PublishedComparison, ...]:
    """The run against every verified score; none while not all of its tasks have a score."""
    found = []
    for entry in manifest.comparable_with:
        figure = figures.get(entry.metric)
        if not entry.verified or figure is None or figure.tasks < len(manifest.task_ids):
            continue
        for model, percent in entry.scores.items():
            score = percent / 100
            ends = (figure.value - score, figure.low - score, figure.high - score)
            few = figure.of_few_tasks
            found.append(PublishedComparison(entry.source, model, entry.metric, score, *ends, few))
    return tuple(found)


def list_published(
    manifest: Manifest, figures: Mapping[str, Estimate | None] | None = None
) -> tuple[str, ...]:
    """The scores that the run can be compared with, and those it cannot, with why."""
    compared = {
        (one.source, one.metric, one.model): f" ({one.text})"
        for one in compare_with_published(manifest, figures or {})
    }
    comparable = [
        f"{entry.source} ({_describe(entry)}): "
        + ", ".join(
            f"{model} {score:g}{compared.get((entry.source, entry.metric, model), '')}"
            for model, score in entry.scores.items()
        )
        for entry in manifest.comparable_with
    ]
    refused = [
        f"not comparable with {source}: {why}"
        for source, why in manifest.not_comparable_with.items()
    ]
    return (*comparable, *refused)


def _describe(entry: PublishedScore) -> str:
    parts = [
        entry.setting,
        "" if entry.metric == "success" else f"mean {entry.metric}",
        f"{entry.n} games" if entry.n else "",
        entry.where,
        entry.address,
        f"seen there on {entry.looked_up}" if entry.verified else "not verified in the source",
    ]
    return "; ".join(part for part in parts if part)
