"""A run as an Inspect log (`.eval`), for Inspect's own reader and viewer.

The file is a zip of JSON documents: a header, a list of summaries, and one file per
episode. Episodes are written as they are read, so a large run needs no memory.
"""

import hashlib
import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.reports.exports import draft_of
from agentquest.reports.exports.inspect_sample import (
    SCORE,
    file_of,
    sample_of,
    summary_of,
    usage_of,
)
from agentquest.store.stored_run import StoredRun

Json = dict[str, Any]
_VERSION = 2


class _Tally:
    """What the header says of all episodes."""

    def __init__(self) -> None:
        self.scored = 0
        self.successes = 0
        self.rewards = 0.0
        self.usage: dict[str, Counter[str]] = {}
        self.ended = ""

    def add(self, record: EpisodeRecord) -> None:
        self.ended = max(self.ended, record.started_at)
        if record.scored:
            self.scored += 1
            self.successes += record.success
            self.rewards += record.reward
        for model, usage in usage_of(record.model, record.calls).items():
            self.usage.setdefault(model, Counter()).update(usage)


def write_inspect_log(run: StoredRun, folder: Path) -> Path:
    """Write the log into a folder, under the name that Inspect would give it."""
    file = folder / _name(run.manifest)
    tally, summaries = _Tally(), []
    with draft_of(file) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for record in run.records:
            tally.add(record)
            summaries.append(summary_of(record))
            archive.writestr(file_of(record), _text(sample_of(record)))
        archive.writestr("summaries.json", _text(summaries))
        archive.writestr("header.json", _text(_header(run.manifest, tally)))
    return file


def _header(manifest: Manifest, tally: _Tally) -> Json:
    complete = tally.scored >= manifest.requested
    return {
        "version": _VERSION,
        "status": "success" if complete else "cancelled",
        "eval": _spec(manifest),
        "plan": {"name": "plan", "steps": [{"solver": manifest.agent, "params": {}}]},
        "results": _results(manifest, tally),
        "stats": {
            "started_at": manifest.created_at,
            "completed_at": tally.ended or manifest.created_at,
            "model_usage": {model: dict(usage) for model, usage in tally.usage.items()},
        },
    }


def _spec(manifest: Manifest) -> Json:
    source = manifest.provenance
    return {
        "eval_id": _short_id(manifest),
        "run_id": manifest.run_id,
        "created": manifest.created_at,
        "task": f"agentquest/{manifest.benchmark}",
        "task_id": _short_id(manifest),
        "task_version": manifest.versions.get("agentquest", "0"),
        "model": manifest.model or "none",
        "dataset": {
            "name": f"{manifest.benchmark}/{source.split}",
            "samples": len(manifest.task_ids),
            "sample_ids": manifest.task_ids,
        },
        "config": {"epochs": manifest.trials, "message_limit": None},
        "packages": {"agentquest": manifest.versions.get("agentquest", "0")},
        "metadata": {
            "agent": manifest.agent,
            "informed": manifest.informed,
            "data": source.data,
            "protocol": manifest.protocol,
            "max_steps": manifest.max_steps,
            "config_hash": manifest.config_hash,
            "data_hash": manifest.data_hash,
            "deciding": manifest.deciding,
        },
        "tags": list(manifest.tags),
    }


def _results(manifest: Manifest, tally: _Tally) -> Json:
    """Means over the episodes that have a score, as in our own reports."""
    means = {"success": tally.successes, "reward": tally.rewards} if tally.scored else {}
    return {
        "total_samples": manifest.requested,
        "completed_samples": tally.scored,
        "scores": [
            {
                "name": name,
                "scorer": SCORE,
                "params": {},
                "metrics": {"mean": {"name": "mean", "value": total / tally.scored, "params": {}}},
            }
            for name, total in means.items()
        ],
    }


def _name(manifest: Manifest) -> str:
    moment = manifest.created_at.replace(":", "-").replace("+", "-")
    return f"{moment}_{manifest.benchmark}_{_short_id(manifest)}.eval"


def _short_id(manifest: Manifest) -> str:
    decides = f"{manifest.run_id}/{manifest.config_hash}/{manifest.data_hash}"
    return hashlib.sha256(decides.encode()).hexdigest()[:22]


def _text(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False)
