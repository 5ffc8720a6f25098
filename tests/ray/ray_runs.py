"""Runs on a Ray cluster, for the tests: made, played, and read back."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentquest.api import play_pending
from agentquest.config import load_config
from agentquest.records.episode import EpisodeRecord
from agentquest.running.events import RunEvents
from agentquest.running.run import Run
from agentquest.store.folder import RunFolder

# What may differ between two plays of the same episode.
_NOT_SCORES = {"worker", "started_at", "seconds", "run_id", "agent", "config_hash"}


def configured(folder: Path, *more: str, games: int = 12) -> Run:
    given = ["data_path=builtin", f"num_games={games}", f"output_dir={folder}", "parallel=8"]
    config, _ = load_config(None, [*given, *more])
    return Run(config)


def on(address: str, workers: int, **resources: float) -> list[str]:
    """The settings of a run on a cluster."""
    wanted = ", ".join(f"{name}: {number}" for name, number in resources.items())
    return [
        "executor=ray",
        f"executor.address={address}",
        f"executor.workers={workers}",
        *([f"executor.resources={{{wanted}}}"] if wanted else []),
    ]


def played(run: Run, watcher: RunEvents | None = None) -> list[EpisodeRecord]:
    assert asyncio.run(play_pending(run, run.prepare(), watcher)).reason is None
    return run.directory.records()


def scores(records: list[EpisodeRecord]) -> dict[str, Any]:
    """Everything of the records but where and when they were played."""
    return {
        record.key: {
            name: value
            for name, value in record.model_dump(mode="json", exclude={"steps"}).items()
            if name not in _NOT_SCORES
        }
        | {"actions": record.actions, "seen": [step.observation for step in record.steps]}
        for record in records
    }


def all_lines(folder: Path) -> Iterator[str]:
    """The keys of all lines of the one run in a folder."""
    (run,) = (path for path in folder.iterdir() if path.is_dir())
    return (record.key for record in RunFolder(run).tries())
