"""What is missing from a run or odd about it, said before any number is read."""

from collections import Counter
from collections.abc import Sequence

from agentquest.metrics.rows import EpisodeRow, Setting
from agentquest.metrics.summary import Summary
from agentquest.metrics.table import Metric
from agentquest.records.manifest import Manifest
from agentquest.words import counted, plural

# More replies without an answer than this, and the figures say little about the agent.
_UNREAD_SHARE = 0.05


def warnings(
    manifest: Manifest, rows: Sequence[EpisodeRow], summary: Summary, table: Sequence[Metric]
) -> tuple[str, ...]:
    """One loud line for each way in which the figures are not what they seem."""
    return (
        *_unscored(manifest, rows),
        *_unread(summary),
        *_mixed({row.setting for row in rows}),
        *_missing(manifest, table),
        *_failed(rows, table),
    )


def notes(rows: Sequence[EpisodeRow], summary: Summary) -> tuple[str, ...]:
    """How the figures are to be read."""
    lines = ["Figures cover scored episodes. Intervals are 95%: Wilson for rates, bootstrap for"]
    if summary.several_trials:
        lines[0] += (
            " means and for rates over several trials, where tasks are resampled, not episodes;"
        )
    else:
        lines[0] += " means;"
    lines[0] += " one of zero width means that all values were equal, not that it is certain."
    if summary.several_trials and not summary.pass_at:
        lines.append("pass@k and pass^k need two scored trials of every task.")
    unreachable = sum(row.scored and row.unreachable for row in rows)
    if unreachable:
        lines.append(
            f"In {unreachable} scored {plural(unreachable, 'episode')} the goal became unreachable"
            " for a while or for good; progress is then the last known value."
        )
    return tuple(lines)


def _unscored(manifest: Manifest, rows: Sequence[EpisodeRow]) -> list[str]:
    found = []
    requested = max(manifest.requested, len(rows))
    unscored = [row for row in rows if not row.scored]
    if unscored:
        causes = Counter(
            f"{row.end.value} ({row.error})" if row.error else row.end.value for row in unscored
        )
        listed = ", ".join(f"{number} {cause}" for cause, number in causes.most_common())
        found.append(
            f"Episodes without a score: {len(unscored)} of {requested} ({listed})."
            " No figure includes them; run the same command again to complete the run."
        )
    if requested > len(rows):
        found.append(
            f"Episodes not played yet: {requested - len(rows)} of {requested};"
            " run the same command again to complete the run."
        )
    return found


def _unread(summary: Summary) -> list[str]:
    replies, unread = summary.overall.replies, summary.overall.unread
    all_, without = sum(replies.values()), sum(unread.values())
    if not all_ or without / all_ <= _UNREAD_SHARE:
        return []
    listed = ", ".join(f"{number} {name}" for name, number in unread.items())
    return [
        f"{without} of {counted(all_, 'reply')} ({without / all_:.1%}) could not be read as an"
        f" action: {listed}. The figures say as much about that as about the agent."
    ]


def _mixed(settings: set[Setting]) -> list[str]:
    fields = {
        "benchmarks": {setting.benchmark for setting in settings},
        "configurations": {setting.config_hash[:12] for setting in settings},
        "models": {str(setting.model) for setting in settings},
        "step limits": {str(setting.max_steps) for setting in settings},
    }
    return [
        f"Records of different {name} are mixed: {', '.join(sorted(values))}."
        for name, values in fields.items()
        if len(values) > 1
    ]


def _missing(manifest: Manifest, table: Sequence[Metric]) -> list[str]:
    found = {metric.path for metric in table}
    return [
        f"The metric {path} has not been measured; run the same command again to measure it."
        for path in manifest.metrics
        if path not in found
    ]


def _failed(rows: Sequence[EpisodeRow], table: Sequence[Metric]) -> list[str]:
    found = []
    for metric in table:
        failures = [row for row in rows if metric.key in row.failed]
        if failures:
            first = failures[0]
            found.append(
                f"The metric {metric.key} could not be computed for"
                f" {counted(len(failures), 'episode')} and leaves out what failed; the first is"
                f" {first.key}: {first.failed[metric.key]}"
            )
    return found
