"""What is missing from a run, said before any number is read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from agentquest.metrics.summary import Summary
from agentquest.records.episode import EpisodeRecord


def requested_episodes(records: Sequence[EpisodeRecord], manifest: Mapping[str, Any]) -> int:
    """How many episodes were asked for: tasks times trials, or those on record if not said."""
    tasks = manifest.get("task_ids")
    config = manifest.get("config")
    trials = config.get("trials", 1) if isinstance(config, Mapping) else 1
    if not isinstance(tasks, list) or not isinstance(trials, int):
        return len(records)
    return max(len(tasks) * trials, len(records))


def warnings(records: Sequence[EpisodeRecord], manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """One loud line for each way in which the figures are not of the whole run."""
    requested = requested_episodes(records, manifest)
    found = []
    unscored = Counter(record.end.value for record in records if not record.scored)
    if unscored:
        causes = ", ".join(f"{number} {cause}" for cause, number in sorted(unscored.items()))
        found.append(
            f"{sum(unscored.values())} of {requested} episodes have no score: {causes}."
            " They are in no figure; run again to complete."
        )
    if requested > len(records):
        found.append(
            f"{requested - len(records)} of {requested} episodes have not been played yet;"
            " run again to complete."
        )
    for name, values in _mixed(records).items():
        found.append(f"Records of different {name} are mixed: {values}.")
    return tuple(found)


def notes(records: Sequence[EpisodeRecord], summary: Summary) -> tuple[str, ...]:
    """How the figures are to be read."""
    lines = [
        "Figures are over scored episodes. Intervals are 95%: Wilson for success, bootstrap for"
        " means; one without width means that all values were equal, not that it is certain."
    ]
    if len({record.trial for record in records}) > 1:
        lines.append(
            "Several trials a task: the interval of success takes episodes as independent;"
            " that of pass@1 is over tasks."
        )
        if not summary.pass_at:
            lines.append("pass@k and pass^k need two scored trials of every task.")
    unreachable = sum(
        record.scored and any(not step.reachable for step in record.steps) for record in records
    )
    if unreachable:
        lines.append(
            f"In {unreachable} scored episodes the goal went out of reach for a while or for good;"
            " progress is then the last value known."
        )
    return tuple(lines)


def _mixed(records: Sequence[EpisodeRecord]) -> dict[str, str]:
    fields = {
        "benchmarks": {record.benchmark for record in records},
        "configurations": {record.config_hash[:12] for record in records},
        "models": {str(record.model) for record in records},
        "step limits": {str(record.max_steps) for record in records},
    }
    return {name: ", ".join(sorted(values)) for name, values in fields.items() if len(values) > 1}
