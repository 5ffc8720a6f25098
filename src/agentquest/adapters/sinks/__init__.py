"""Sinks for the tools that labs watch their runs with: OpenTelemetry, Weights & Biases, MLflow.

Each is configured by its package's own environment variables, so that no key and no address
stands in a run's configuration.
"""

from agentquest.records.episode import EpisodeRecord


def figures_of(record: EpisodeRecord) -> dict[str, float]:
    """The numbers of an episode; its outcome only where it is a score."""
    figures = {"steps": float(len(record.steps)), "seconds": record.seconds}
    if record.scored:
        figures |= {
            "success": float(record.success),
            "reward": record.reward,
            "progress": record.progress,
        }
    usages = [call.usage for call in record.calls if call.usage is not None]
    if usages:
        figures["prompt_tokens"] = sum(usage.prompt_tokens for usage in usages)
        figures["completion_tokens"] = sum(usage.completion_tokens for usage in usages)
    return figures


def summary_figures(summary: dict[str, object]) -> dict[str, float]:
    """The run's figures by name, without those that nothing is known of."""
    metrics = summary["metrics"]
    assert isinstance(metrics, dict)
    found = {name: figure["value"] for name, figure in metrics.items() if figure is not None}
    for name in ("total_games", "requested", "unscored"):
        found[name] = float(str(summary[name]))
    return found
