"""Which games there are: real data if the user has it, built-in homes otherwise.

Real data is looked for in the `data_path` given, in the folder that `ALFWORLD_DATA` names,
and in the default cache `~/.cache/alfworld`. A named folder without games is an error, never
silently replaced. `builtin` in either place asks for the built-in homes.
"""

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.engine.game_files import (
    GAME_FILE,
    GOAL_SOURCES,
    HUMAN,
    MAX_BYTES,
    PROBLEM_FILE,
    TEMPLATE,
    GameText,
    read_game,
)
from agentquest.benchmarks.alfworld.task_types import TASK_TYPE_NAMES, task_type
from agentquest.errors import DataError, UnknownName
from agentquest.files import hash_file
from agentquest.lib import Task

SPLITS = homes.SPLITS
BUILTIN = "builtin"
DATA_FOLDER = "json_2.1.1"
# Public copies of the data word the goals of many games differently. These are the SHA-256 of the
# playable games, by `hash_copy`, of the copy that AgentQuest's texts were checked with.
CHECKED_COPIES = {
    "valid_seen": "7ec7b94ade39a7c6319a800fc23a58874606c0b44914da61342e960bae07fb35",
    "valid_unseen": "31033d8b6e52c64f4e4490c42af67a2b5ea9ba5816c2b51387fb169bc4fb30ea",
}
_SOLVABLE = re.compile(rb'[^\\]"solvable"\s*:\s*true')


def find_tasks(
    split: str,
    task_types: Iterable[str | int] | None = None,
    data_path: str | Path | None = None,
    playable: bool = True,
) -> list[Task]:
    """The games of a split, sorted by id.

    `playable=True` gives the games that everybody evaluates; False every problem
    directory without a movable receptacle, as AgentQuest's documents count them.
    """
    if split not in SPLITS:
        raise UnknownName(f"{split!r} is not a split; there are: {', '.join(SPLITS)}")
    names = {task_type(wanted).name for wanted in task_types or TASK_TYPE_NAMES}
    root = data_root(data_path)
    tasks = _builtin_tasks(split) if root is None else _real_tasks(root, split, playable)
    return [task for task in tasks if task.task_type in names]


def hash_copy(root: Path, split: str) -> str:
    """What tells a copy of the real data from another: a hash over its playable games."""
    digest = hashlib.sha256()
    for task in _real_tasks(root, split, playable=True):
        content = hash_file(Path(task.file))
        digest.update(f"{task.id.partition('/')[2]}\0{content}\n".encode())
    return digest.hexdigest()


def data_root(data_path: str | Path | None = None) -> Path | None:
    """The folder with the splits of the real data; None for the built-in homes."""
    named_by = "data_path"
    if data_path is None:
        named_by, data_path = "ALFWORLD_DATA", os.environ.get("ALFWORLD_DATA") or None
    if data_path is None:
        cache = Path.home() / ".cache" / "alfworld" / DATA_FOLDER
        return cache if _has_split(cache) else None
    if str(data_path) == BUILTIN:
        return None
    return _splits_folder(Path(data_path).expanduser(), f"{named_by} {str(data_path)!r}")


def open_problem(problem: str | Path, goals: str = TEMPLATE, goal_seed: int = 0) -> GameText:
    """The text of a game: a path on disk, or `builtin:<id>`.

    With `goals="human"` the goal is one of the descriptions that people wrote.
    """
    name = str(problem)
    if goals not in GOAL_SOURCES:
        raise UnknownName(f"unknown goals {goals!r}; there are: {', '.join(GOAL_SOURCES)}")
    if name.startswith(f"{BUILTIN}:"):
        if goals == HUMAN:
            raise DataError(f"{name}: the built-in homes have no descriptions written by people")
        home = homes.game(name.removeprefix(f"{BUILTIN}:"))
        return GameText(home.problem, home.goal)
    path = Path(problem)
    if not name or not _is_there(path):
        shown = name[:300] or "an empty name"
        raise DataError(f"{shown}: no such game (a path, or {BUILTIN}:<split>/<task>/<trial>)")
    if path.is_dir() and not _has_problem(path):
        trials = [trial for trial in sorted(path.iterdir()) if _has_problem(trial)]
        if trials:
            raise DataError(f"{name} is a task's folder; its games are trials: {trials[0]}")
    return read_game(path, goals, goal_seed)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _builtin_tasks(split: str) -> list[Task]:
    return [
        Task(name, name.split("/")[1].partition("-")[0], split, f"{BUILTIN}:{name}")
        for name in homes.game_ids(split)
    ]


def _real_tasks(root: Path, split: str, playable: bool) -> list[Task]:
    folder = root / split
    if not folder.is_dir():
        there = [name for name in SPLITS if (root / name).is_dir()]
        raise DataError(f"{root} has no split {split!r}; it has: {', '.join(there)}")
    wanted = _is_playable if playable else _has_problem
    return [
        Task(
            f"{split}/{trial.parent.name}/{trial.name}",
            kind,
            split,
            str(trial),
            str(trial / (GAME_FILE if playable else PROBLEM_FILE)),
        )
        for trial in sorted(folder.glob("*/*/"))
        if (kind := trial.parent.name.partition("-")[0]) in TASK_TYPE_NAMES and wanted(trial)
    ]


def _has_problem(trial: Path) -> bool:
    return (trial / PROBLEM_FILE).is_file()


def _is_playable(trial: Path) -> bool:
    file = trial / GAME_FILE
    if "Sliced" in trial.parent.name or not file.is_file() or file.stat().st_size > MAX_BYTES:
        return False
    return _SOLVABLE.search(file.read_bytes()) is not None


def _splits_folder(folder: Path, given_as: str) -> Path:
    for candidate in (folder / DATA_FOLDER, folder):
        if _has_split(candidate):
            return candidate
    raise DataError(
        f"{given_as} has no ALFWorld games: there is no {DATA_FOLDER}/ with "
        f"{', '.join(SPLITS)} in it. `agentquest download alfworld` fetches them."
    )


def _has_split(folder: Path) -> bool:
    return any((folder / split).is_dir() for split in SPLITS)
