"""A run as a folder that `datasets.load_dataset` opens and the Hugging Face Hub shows.

`README.md` is the dataset card: the types of the columns for the reader, the report for people.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from agentquest.records.episode import EpisodeRecord
from agentquest.reports.exports import conversation, draft_of
from agentquest.reports.exports.tables import Row, columns_of
from agentquest.reports.render.text import markdown_report
from agentquest.store.stored_run import StoredRun

Json = dict[str, Any]
_DATA = "data/episodes.jsonl"
_MESSAGE = {"role": "string", "content": "string"}
_TURN = {
    "reply": "string",
    "reasoning": "string",
    "action": "string",
    "how": "string",
    "valid": "bool",
    "observation": "string",
    "reward": "float64",
    "progress": "float64",
}


def write_hf_dataset(run: StoredRun, folder: Path) -> Path:
    """`hf/` with the card and one line per episode; returns the folder."""
    place, rows = folder / "hf", run.to_rows()
    with draft_of(place / _DATA) as draft, draft.open("w", encoding="utf-8") as output:
        for row, record in zip(rows, run.records, strict=True):
            line = {**row, **_trajectory(record)}
            output.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
    with draft_of(place / "README.md") as draft:
        draft.write_text(_card(run, rows), encoding="utf-8")
    return place


def _trajectory(record: EpisodeRecord) -> Json:
    return {
        "goal": record.goal,
        "first_observation": record.first_observation,
        "messages": list(conversation(record)),
        "turns": [{name: getattr(step, name) for name in _TURN} for step in record.steps],
    }


def _card(run: StoredRun, rows: Sequence[Row]) -> str:
    manifest = run.manifest
    head = {
        "pretty_name": f"{manifest.benchmark} episodes of {manifest.run_id}",
        "tags": ["agentquest", "agents", manifest.benchmark],
        "configs": [
            {"config_name": "default", "data_files": [{"split": _split(run), "path": _DATA}]}
        ],
        "dataset_info": {"config_name": "default", "features": list(_features(rows))},
    }
    front = yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
    return f"---\n{front}---\n\n{markdown_report(run.report)}"


def _split(run: StoredRun) -> str:
    """The Hub's splits are words; `all` is a word of its own there."""
    name = re.sub(r"\W+", "_", run.manifest.provenance.split).strip("_")
    return name if name and name != "all" else "episodes"


def _features(rows: Sequence[Row]) -> Iterator[Json]:
    kinds = {**columns_of(rows), "goal": "string", "first_observation": "string"}
    for name, kind in kinds.items():
        yield {"name": name, "dtype": kind}
    for name, inner in (("messages", _MESSAGE), ("turns", _TURN)):
        yield {"name": name, "list": [{"name": key, "dtype": kind} for key, kind in inner.items()]}
