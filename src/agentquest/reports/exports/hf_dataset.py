"""A run as a folder that `datasets.load_dataset` opens and the Hugging Face Hub shows.

`README.md` is the dataset card: the types of the columns for the reader, the report for people.
The reader's cache goes by the names of folder and configuration alone, so both carry the run,
and the configuration also what the data is: no other export is ever loaded in its place.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.messages import Message, ToolCall
from agentquest.reports.exports import draft_of
from agentquest.reports.exports.chat import conversation, declare_tool
from agentquest.reports.exports.tables import ExportedRow, columns_of
from agentquest.reports.render.text import markdown_report
from agentquest.store.stored_run import StoredRun
from agentquest.words import slug

Json = dict[str, Any]
_DATA = "data/episodes.jsonl"
# Types of what is in lists, in the dataset card's words. Chats are as OpenAI writes them.
_CALL: Json = {
    "id": "string",
    "type": "string",
    "function": {"name": "string", "arguments": "string"},
}
_MESSAGE: Json = {
    "role": "string",
    "content": "string",
    "reasoning": "string",
    "tool_calls": [_CALL],
    "tool_call_id": "string",
}
_TURN: Json = {
    "reply": "string",
    "reasoning": "string",
    "action": "string",
    "how": "string",
    "valid": "bool",
    "observation": "string",
    "reward": "float64",
    "progress": "float64",
    "tool_calls": [_CALL],
    "prompt": ["int64"],
}
_TRAJECTORY: Json = {
    "goal": "string",
    "first_observation": "string",
    "messages": [_MESSAGE],
    "turns": [_TURN],
    "prompt_messages": [_MESSAGE],
    "tools": "string",
}


def write_hf_dataset(run: StoredRun, folder: Path) -> Path:
    """`hf-RUN/` with the card and one line per episode; returns the folder."""
    name, rows, digest = slug(run.manifest.run_id), run.to_rows(), hashlib.sha256()
    place = f"hf-{name}"
    with draft_of(folder, f"{place}/{_DATA}") as draft, draft.open("wb") as output:
        for row, record in zip(rows, run.records, strict=True):
            content = {**row, **_trajectory(record)}
            line = json.dumps(content, ensure_ascii=False, allow_nan=False).encode() + b"\n"
            digest.update(line)
            output.write(line)
    with draft_of(folder, f"{place}/README.md") as draft:
        card = _card(run, rows, f"{name}-{digest.hexdigest()[:12]}")
        draft.write_text(card, encoding="utf-8")
    return folder / place


def _trajectory(record: EpisodeRecord) -> Json:
    return {
        "goal": record.goal,
        "first_observation": record.first_observation,
        "messages": [_message(message) for message in conversation(record)],
        "turns": [_turn(step) for step in record.steps],
        "prompt_messages": [_message(message) for message in record.messages],
        # Each tool has parameters of its own, which no column type fits.
        "tools": json.dumps([declare_tool(tool) for tool in record.tools]),
    }


def _message(message: Message) -> Json:
    return {
        "role": message.role,
        "content": message.content,
        "reasoning": message.reasoning or None,
        "tool_calls": [_call(call) for call in message.tool_calls] or None,
        "tool_call_id": message.tool_call_id,
    }


def _turn(step: Step) -> Json:
    """A step; `prompt` has the places of its prompt's messages in `prompt_messages`."""
    turn = {name: getattr(step, name) for name in _TURN}
    return {**turn, "tool_calls": [_call(call) for call in step.tool_calls] or None}


def _call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _card(run: StoredRun, rows: Sequence[ExportedRow], name: str) -> str:
    manifest = run.manifest
    files = [{"split": _split(run), "path": _DATA}]
    head = {
        "pretty_name": f"{manifest.benchmark} episodes of {manifest.run_id}",
        "tags": ["agentquest", "agents", manifest.benchmark],
        "configs": [{"config_name": name, "data_files": files}],
        "dataset_info": {
            "config_name": name,
            "features": _named_types({**columns_of(rows), **_TRAJECTORY}),
        },
    }
    front = yaml.safe_dump(head, sort_keys=False, allow_unicode=True)
    return f"---\n{front}---\n\n{markdown_report(run.report)}"


def _split(run: StoredRun) -> str:
    """The Hub's splits are words; `all` is a word of its own there."""
    name = re.sub(r"\W+", "_", run.manifest.provenance.split).strip("_")
    return name if name and name != "all" else "episodes"


def _named_types(kinds: Mapping[str, Any]) -> list[Json]:
    return [{"name": name, **_type_of(kind)} for name, kind in kinds.items()]


def _type_of(kind: Any) -> Json:
    """A type as the card writes it: of a list or a structure, what is in it."""
    if isinstance(kind, list):
        (inner,) = kind
        return {"list": inner if isinstance(inner, str) else _named_types(inner)}
    return {"dtype": kind} if isinstance(kind, str) else {"struct": _named_types(kind)}
