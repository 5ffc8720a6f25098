"""Weights & Biases: a run of theirs for each of ours, with a row per episode.

`WANDB_PROJECT` (default: agentquest), `WANDB_MODE=offline` and `WANDB_API_KEY` are theirs. A run
that is resumed here goes on there.
"""

import hashlib
import os
from pathlib import Path
from typing import Any

from agentquest.adapters.sinks import figures_of, summary_figures
from agentquest.extras import MissingExtra
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.running.sinks import Sink

try:
    import wandb
except ImportError as error:
    raise MissingExtra("wandb", "the sink wandb", ["wandb"]) from error


class WandbSink(Sink):
    """`sinks: [wandb]`."""

    def __init__(self, manifest: Manifest, folder: Path) -> None:
        super().__init__(manifest, folder)
        decides = f"{manifest.run_id}/{manifest.config_hash}/{manifest.created_at}"
        self._run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", "agentquest"),
            id=hashlib.sha256(decides.encode()).hexdigest()[:16],
            name=manifest.run_id,
            job_type="evaluation",
            group=manifest.benchmark,
            tags=[tag[:64] for tag in manifest.tags],
            notes=manifest.note or None,
            config=manifest.deciding,
            dir=str(folder),
            resume=None if os.environ.get("WANDB_MODE") == "offline" else "allow",
            settings=wandb.Settings(silent=True, console="off"),
        )

    def finished(self, record: EpisodeRecord) -> None:
        """Log a row: the episode's figures, its task, type and end."""
        row: dict[str, Any] = {f"episode/{k}": v for k, v in figures_of(record).items()}
        row |= {
            "episode/task": record.task_id,
            "episode/type": record.task_type,
            "episode/end": record.end.value,
        }
        self._run.log(row)

    def close(self, summary: dict[str, Any]) -> None:
        """Put the figures into their run's summary, and finish it."""
        self._run.summary.update(summary_figures(summary))
        self._run.finish()
