"""What Weights & Biases wrote offline: `sink_wandb.py FILE.wandb`, said as JSON."""

import json
import struct
import sys
from pathlib import Path

from wandb.proto import wandb_internal_pb2

_BLOCK = 32768
_HEAD = 7


def records(content):
    """The file is a log in LevelDB's format, behind a head of its own."""
    at, whole = _HEAD, b""
    while at + _HEAD <= len(content):
        if _BLOCK - at % _BLOCK < _HEAD:  # too little for a head: filled up with zeros
            at += _BLOCK - at % _BLOCK
            continue
        _, length, part = struct.unpack("<IHB", content[at : at + _HEAD])
        whole += content[at + _HEAD : at + _HEAD + length]
        at += _HEAD + length
        if part in (1, 4):  # whole, or the last part
            yield whole
            whole = b""


said = {"history": [], "summary": {}, "config": {}, "run": {}}
for data in records(Path(sys.argv[1]).read_bytes()):
    record = wandb_internal_pb2.Record()
    record.ParseFromString(data)
    kind = record.WhichOneof("record_type")
    if kind == "history":
        said["history"].append(
            {item.key or ".".join(item.nested_key): item.value_json for item in record.history.item}
        )
    elif kind == "summary":
        for item in record.summary.update:
            said["summary"][item.key or ".".join(item.nested_key)] = item.value_json
    elif kind == "run":
        run = record.run
        said["run"] = {"name": run.display_name, "tags": list(run.tags), "notes": run.notes}
        said["run"]["project"] = run.project
        for item in run.config.update:
            said["config"][item.key] = item.value_json
print(json.dumps(said))
