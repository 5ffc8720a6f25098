"""What MLflow keeps of our runs: `sink_mlflow.py URI`, said as JSON."""

import json
import sys

from mlflow.tracking import MlflowClient

client = MlflowClient(sys.argv[1])
experiments = client.search_experiments(filter_string="name LIKE 'agentquest%'")
runs = client.search_runs([one.experiment_id for one in experiments])
print(
    json.dumps(
        [
            {
                "name": run.info.run_name,
                "status": run.info.status,
                "metrics": run.data.metrics,
                "params": run.data.params,
                "tags": run.data.tags,
                "told": [
                    m.value for m in client.get_metric_history(run.info.run_id, "episode.steps")
                ],
            }
            for run in runs
        ]
    )
)
