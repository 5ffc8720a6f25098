"""Which games are compared: built-in homes written out, or folders of real data.

Every game is a file that both engines read. Real games in dialect 0.4 are read
as they are; in the other dialect, and where a problem has no game file, one is
written to a temporary folder with the logic of the reference.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from reference_install import Logic

from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.game_files import (
    GAME_FILE,
    PROBLEM_FILE,
    TRAJECTORY_FILE,
    goal_from_trajectory,
    read_game,
    read_json,
    read_text,
)
from agentquest.benchmarks.alfworld.homes.export import write_out
from agentquest.benchmarks.alfworld.pddl import read_problem
from agentquest.benchmarks.alfworld.task_types import TASK_TYPE_NAMES
from agentquest.benchmarks.alfworld.tasks import SPLITS, data_root
from agentquest.errors import UserError

_GOAL_MARK = "UNKNOWN GOAL"
_MOVABLE_GOAL = "move things about"


class Case(NamedTuple):
    name: str
    file: Path


def builtin_cases(per_type: int, dice: random.Random, folder: Path, logic: Logic) -> list[Case]:
    """Games of all six types, taken in turn from every kind of room and every split."""
    chosen: list[str] = []
    for ids in _by_type(name for split in homes.SPLITS for name in homes.game_ids(split)):
        rooms: dict[int, list[str]] = defaultdict(list)
        for name in ids:
            rooms[_scene(name) // 100].append(name)
        for names in rooms.values():
            dice.shuffle(names)
        turns = zip_longest(*(rooms[room] for room in sorted(rooms)))
        chosen += [name for turn in turns for name in turn if name][:per_type]
    folders = write_out(chosen, folder, logic.domain, logic.grammar)
    return [Case(name, path / GAME_FILE) for name, path in zip(chosen, folders, strict=True)]


def real_cases(
    data: str, per_type: int, dice: random.Random, folder: Path, logic: Logic, own_file: bool
) -> list[Case]:
    """Published games, half as many problems without a game file, and all odd ones.

    Odd are those where a receptacle has two locations: `go to` must choose.
    `own_file` tells whether a game's own file is played where there is one.
    """
    root = data_root(data)
    if root is None:
        raise UserError(f"--data {data!r} is not a folder of game data")
    trials = [
        file.parent
        for split in SPLITS
        for file in sorted((root / split).glob(f"*/*/{PROBLEM_FILE}"))
    ]
    odd = [trial for trial in trials if _has_two_locations(trial)]
    chosen = dict.fromkeys(odd)
    names = {f"{t.parent.parent.name}/{t.parent.name}/{t.name}": t for t in trials}
    for ids in _by_type(names):
        dice.shuffle(ids)
        whole = [name for name in ids if (names[name] / GAME_FILE).is_file()]
        bare = [name for name in ids if not (names[name] / GAME_FILE).is_file()]
        chosen |= {names[name]: None for name in whole[:per_type] + bare[: per_type // 2]}
    cases = []
    for trial in chosen:
        name = "/".join(trial.parts[-3:])
        file = trial / GAME_FILE
        if not (own_file and file.is_file()):
            file = _write_game(trial, folder / name, logic)
        cases.append(Case(name, file))
    return cases


def _by_type(names: Iterable[str]) -> list[list[str]]:
    """Game ids by task type, in the order of the types; others last, together."""
    groups: dict[str, list[str]] = {kind: [] for kind in TASK_TYPE_NAMES}
    for name in names:
        groups.setdefault(name.split("/")[1].partition("-")[0], []).append(name)
    return list(groups.values())


def _scene(name: str) -> int:
    return int(name.split("/")[1].rpartition("-")[2])


def _has_two_locations(trial: Path) -> bool:
    seen: dict[str, str] = {}
    for fact in read_problem(read_text(trial / PROBLEM_FILE)).facts:
        if fact[0] == "receptacleatlocation" and seen.setdefault(fact[1], fact[2]) != fact[2]:
            return True
    return False


def _write_game(trial: Path, folder: Path, logic: Logic) -> Path:
    folder.mkdir(parents=True)
    contents = {
        "pddl_domain": logic.domain,
        "grammar": logic.grammar.replace(_GOAL_MARK, _goal(trial)),
        "pddl_problem": read_text(trial / PROBLEM_FILE),
        "solvable": True,
    }
    file = folder / GAME_FILE
    file.write_text(json.dumps(contents), encoding="utf-8")
    return file


def _goal(trial: Path) -> str:
    if (trial / GAME_FILE).is_file():
        return read_game(trial).goal
    trajectory = read_json(trial / TRAJECTORY_FILE)
    if trajectory.get("task_type") not in TASK_TYPE_NAMES:
        return _MOVABLE_GOAL
    return goal_from_trajectory(trajectory, f"{trial.parent.name}/{trial.name}")
