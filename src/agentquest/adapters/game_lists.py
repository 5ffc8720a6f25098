"""Which ALFWorld games AgentGym and AgentBench play, as their own files list them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentquest.errors import DataError
from agentquest.lib import Arena, Task

_SPLITS = ("train", "valid_train")


def agentgym_games(arena: Arena, files: Sequence[Path]) -> list[Task]:
    """`mappings_train.json`, games of train; then `mappings_test.json`, games of valid_train."""
    if len(files) > len(_SPLITS):
        raise DataError("AgentGym has two mapping files: mappings_train.json, mappings_test.json")
    names = []
    for file, split in zip(files, _SPLITS, strict=False):
        rows = _read(file)
        try:
            names += [f"{split}/{row['task_type']}/{row['task_id']}" for row in rows]
        except (TypeError, KeyError) as error:
            raise DataError(f"{file} is not an AgentGym mapping file: {error!r}") from None
    return [arena.task(name, name.partition("/")[0]) for name in names]


def agentbench_games(arena: Arena, file: Path) -> list[Task]:
    """`data/alfworld/*.json`: for each kind of task, paths that end in split, kind, trial, file."""
    kinds = _read(file)
    try:
        paths = [path.split("/") for listed in kinds.values() for path in listed]
        names = ["/".join(path[-4:-1]) for path in paths]
    except (AttributeError, TypeError) as error:
        raise DataError(f"{file} is not an AgentBench list of games: {error!r}") from None
    return [arena.task(name, name.partition("/")[0]) for name in names]


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read as JSON: {error}") from None
