"""The games that are measured: built-in homes written to a folder, or real data."""

import json
import random
from pathlib import Path

from games import builtin_cases
from reference_install import reference_logic

from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.engine.game_files import (
    GAME_FILE,
    PROBLEM_FILE,
    TRAJECTORY_FILE,
)
from agentquest.benchmarks.alfworld.task_types import TASK_TYPE_NAMES
from agentquest.benchmarks.alfworld.tasks import SPLITS, data_root, find_tasks
from agentquest.errors import UserError


def game_files(
    data: str | None, per_type: int, dice: random.Random, folder: Path, python: Path | None
) -> list[Path]:
    """Games of every type. Without the reference there is no logic for whole game files."""
    if data is not None:
        return _real_files(data, per_type, dice)
    if python is not None:
        cases = builtin_cases(per_type, dice, folder, reference_logic(python, "0.4"))
        return [case.file for case in cases]
    chosen = []
    for kind in TASK_TYPE_NAMES:
        ids = [name for name in homes.game_ids("valid_unseen") if f"/{kind}-" in name]
        chosen += dice.sample(ids, min(per_type, len(ids)))
    return _write_problems(chosen, folder)


def live_games(data: str | None, count: int, folder: Path) -> list[Path]:
    """Different games to be held in memory at once, as many as there are."""
    if data is not None:
        return _real_files(data, count, random.Random(0))
    return _write_problems(list(homes.game_ids("train")[:count]), folder / "live")


def _real_files(data: str, per_type: int, dice: random.Random) -> list[Path]:
    root = data_root(data)
    if root is None:
        raise UserError(f"--data {data!r} is not a folder of game data")
    tasks = [
        task
        for split in SPLITS
        if (root / split).is_dir()
        for task in find_tasks(split, data_path=root)
    ]
    files = []
    for kind in TASK_TYPE_NAMES:
        same = [Path(task.problem) / GAME_FILE for task in tasks if task.task_type == kind]
        files += dice.sample(same, min(per_type, len(same)))
    return files


def _write_problems(ids: list[str], folder: Path) -> list[Path]:
    written = []
    for name in ids:
        home = homes.game(name)
        target = folder / name
        target.mkdir(parents=True)
        (target / PROBLEM_FILE).write_text(home.problem, encoding="utf-8")
        (target / TRAJECTORY_FILE).write_text(json.dumps(home.traj_data), encoding="utf-8")
        written.append(target)
    return written
