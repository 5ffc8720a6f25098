"""MLflow: a run of theirs for each of ours, in the experiment named after the benchmark.

`MLFLOW_TRACKING_URI` says where (a server, a database, or a folder as `file:///…`);
`MLFLOW_EXPERIMENT_NAME` names another experiment. A run that is resumed here goes on there.
"""

import os
from pathlib import Path
from typing import Any

from agentquest.adapters.sinks import figures_of, summary_figures
from agentquest.extras import MissingExtra
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest, flat
from agentquest.running.sinks import Sink

try:
    from mlflow.entities import Param, RunTag
    from mlflow.tracking import MlflowClient
except ImportError as error:
    raise MissingExtra("mlflow", "the sink mlflow", ["mlflow-skinny"]) from error

_RUN = "agentquest.run"
_BATCH = 100  # parameters that a server takes at once
_LONGEST = 500  # characters of a parameter that every server takes


class MLflowSink(Sink):
    """`sinks: [mlflow]`."""

    def __init__(self, manifest: Manifest, folder: Path) -> None:
        super().__init__(manifest, folder)
        self._client = MlflowClient()
        self._id, self._episodes = self._find_run() or self._create_run()

    def _experiment(self) -> str:
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", f"agentquest-{self.manifest.benchmark}")
        known = self._client.get_experiment_by_name(name)
        return str(known.experiment_id if known else self._client.create_experiment(name))

    @property
    def _name(self) -> str:
        return f"{self.manifest.run_id}/{self.manifest.created_at}"

    def _find_run(self) -> tuple[str, int] | None:
        """The MLflow run of an earlier part of this run, and how many episodes it has."""
        wanted = f"tags.`{_RUN}` = '{self._name}'"
        for run in self._client.search_runs([self._experiment()], wanted, max_results=1):
            self._client.update_run(run.info.run_id, status="RUNNING")
            logged = self._client.get_metric_history(run.info.run_id, "episode.steps")
            return str(run.info.run_id), len(logged)
        return None

    def _create_run(self) -> tuple[str, int]:
        manifest = self.manifest
        tags = {_RUN: self._name, "mlflow.note.content": manifest.note}
        tags |= {f"agentquest.tag.{tag}": "true" for tag in manifest.tags}
        run = self._client.create_run(
            self._experiment(), run_name=manifest.run_id, tags={k: v for k, v in tags.items() if v}
        )
        settings = {**flat(manifest.deciding), "model": manifest.model, "agent": manifest.agent}
        parameters = [
            Param(name.replace(" ", "_"), str(value)[:_LONGEST]) for name, value in settings.items()
        ]
        for place in range(0, len(parameters), _BATCH):
            self._client.log_batch(run.info.run_id, params=parameters[place : place + _BATCH])
        return str(run.info.run_id), 0

    def finished(self, record: EpisodeRecord) -> None:
        """Log an episode's figures; its place among the logged episodes is the step."""
        self._episodes += 1
        for name, value in figures_of(record).items():
            self._client.log_metric(self._id, f"episode.{name}", value, step=self._episodes)

    def close(self, summary: dict[str, Any]) -> None:
        """Log the summary and end their run: as killed, where episodes are missing."""
        for name, value in summary_figures(summary).items():
            self._client.log_metric(self._id, name, value)
        is_complete = summary["total_games"] >= summary["requested"]
        tags = [RunTag("agentquest.complete", str(is_complete).lower())]
        self._client.log_batch(self._id, tags=tags)
        self._client.set_terminated(self._id, "FINISHED" if is_complete else "KILLED")
