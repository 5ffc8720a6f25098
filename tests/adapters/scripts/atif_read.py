"""Harbor's own models on our trajectories: `atif_read.py FILE…`, each said as a line of JSON."""

import json
import sys
from pathlib import Path

from harbor.models.trajectories import Trajectory

for name in sys.argv[1:]:
    read = Trajectory.model_validate_json(Path(name).read_text(encoding="utf-8"))
    agent = [step for step in read.steps if step.source == "agent"]
    print(
        json.dumps(
            {
                "id": read.trajectory_id,
                "actions": [step.extra["action"] for step in agent],
                "seen": [step.observation.results[0].content for step in agent],
                "prompt_tokens": read.final_metrics.total_prompt_tokens,
                "success": read.final_metrics.extra["success"],
                "tool_calls": [len(step.tool_calls or []) for step in agent],
            }
        )
    )
