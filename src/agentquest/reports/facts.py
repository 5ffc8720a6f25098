"""What a run was: the facts a number cannot be read without."""

from collections.abc import Iterable

from agentquest.metrics.rows import Setting
from agentquest.records.manifest import Manifest
from agentquest.records.outcome import AgentFaults

_FAULTS = {
    AgentFaults.LOSE: "lose (an agent that crashes or does not answer loses the game)",
    AgentFaults.OWE: "owe (a game in which the agent crashed is played again)",
}


def facts(manifest: Manifest, settings: Iterable[Setting]) -> tuple[tuple[str, str], ...]:
    """The header of a report. What the records say of themselves overrides what was planned."""
    origin = manifest.provenance
    seen: dict[str, dict[str, None]] = {}
    for setting in settings:
        for name, value in setting.facts:
            seen.setdefault(name, {})[value] = None
    details = {**origin.details, **{name: ", ".join(values) for name, values in seen.items()}}
    informed = " (is shown the oracle's plan: an upper bound, not an agent under test)"
    found = (
        ("benchmark", manifest.benchmark_title or manifest.benchmark),
        ("data", origin.data),
        ("data path", origin.data_path or ""),
        ("split", origin.split),
        *details.items(),
        ("protocol", manifest.protocol or "none (settings of its own)"),
        ("agent", manifest.agent + (informed if manifest.informed else "")),
        ("model", manifest.model or "none"),
        ("agent faults", _FAULTS[manifest.agent_faults]),
        ("max steps", str(manifest.max_steps)),
        ("tasks", f"{len(manifest.task_ids):,}"),
        ("trials per task", str(manifest.trials)),
        ("tags", ", ".join(manifest.tags)),
        ("note", manifest.note),
        ("started", manifest.created_at),
        ("versions", ", ".join(f"{name} {value}" for name, value in manifest.versions.items())),
    )
    return tuple((name, value) for name, value in found if value)


def published(manifest: Manifest) -> tuple[str, ...]:
    """The published scores that the run's protocol can be set beside, and those it cannot."""
    comparable = [
        f"{entry.source} ({entry.setting}): "
        + ", ".join(f"{name} {score:g}" for name, score in entry.scores.items())
        for entry in manifest.comparable_with
    ]
    refused = [
        f"not comparable with {source}: {why}"
        for source, why in manifest.not_comparable_with.items()
    ]
    return (*comparable, *refused)
