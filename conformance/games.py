"""Which games are compared: built-in homes written out, or folders of real data.

Every game is a file that both engines read. Real games in dialect 0.4 are read
as they are; in the other dialect, and where a problem has no game file, one is
written to a temporary folder with the logic of the reference.
"""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from reference_install import Logic

from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.engine.game_files import (
    GAME_FILE,
    PROBLEM_FILE,
    TRAJECTORY_FILE,
    goal_from_trajectory,
    read_game,
    read_json,
    read_text,
)
from agentquest.benchmarks.alfworld.engine.pddl import read_problem
from agentquest.benchmarks.alfworld.homes.export import write_game
from agentquest.benchmarks.alfworld.task_types import TASK_TYPE_NAMES
from agentquest.benchmarks.alfworld.tasks import SPLITS, data_root
from agentquest.errors import UserError

_GOAL_MARK = "UNKNOWN GOAL"
_TWICE_PLACED = 5


class Case(NamedTuple):
    name: str
    file: Path


Change = Callable[[str, random.Random], str]


def builtin_cases(
    per_type: int, dice: random.Random, folder: Path, logic: Logic, change: Change | None = None
) -> list[Case]:
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
    made = [homes.game(game_id) for game_id in chosen]
    folders = [write_game(each, folder, logic.domain, logic.grammar) for each in made]
    cases = [Case(name, path / GAME_FILE) for name, path in zip(chosen, folders, strict=True)]
    if change is not None:
        for case in cases:
            game = read_json(case.file)
            game["pddl_problem"] = change(game["pddl_problem"], dice)
            case.file.write_text(json.dumps(game), encoding="utf-8")
    return cases


def twice_placed(problem: str, dice: random.Random) -> str:
    """The problem with a second location for some receptacles, so that `go to` must choose."""
    facts = [fact for fact in read_problem(problem).facts if fact[0] == "receptacleatlocation"]
    more = []
    for _, receptacle, location in dice.sample(facts, min(_TWICE_PLACED, len(facts))):
        others = [fact[2] for fact in facts if fact[2] != location]
        if others:
            more.append(f"    (receptacleAtLocation {receptacle} {dice.choice(others)})\n")
    return problem.replace("(:init\n", "(:init\n" + "".join(more), 1)


def real_cases(
    data: str, per_type: int, dice: random.Random, folder: Path, logic: Logic, own_file: bool
) -> list[Case]:
    """Published games, and half as many problems without a game file.

    `own_file` tells whether a game's own file is played where there is one.
    """
    root = data_root(data)
    if root is None:
        raise UserError(f"--data {data!r} is not a folder of game data")
    problems = [file for split in SPLITS for file in (root / split).glob(f"*/*/{PROBLEM_FILE}")]
    chosen: list[str] = []
    for names in _by_type("/".join(file.parts[-4:-1]) for file in sorted(problems)):
        dice.shuffle(names)
        whole = [name for name in names if (root / name / GAME_FILE).is_file()]
        bare = [name for name in names if not (root / name / GAME_FILE).is_file()]
        chosen += whole[:per_type] + bare[: per_type // 2]
    cases = []
    for name in chosen:
        trial = root / name
        file = trial / GAME_FILE
        if not (own_file and file.is_file()):
            file = _write_game(trial, folder / name, logic)
        cases.append(Case(name, file))
    return cases


def _by_type(names: Iterable[str]) -> list[list[str]]:
    """Game ids by task type; tasks of other types are left out, as they are everywhere."""
    groups: dict[str, list[str]] = {kind: [] for kind in TASK_TYPE_NAMES}
    for name in names:
        kind = name.split("/")[1].partition("-")[0]
        if kind in groups:
            groups[kind].append(name)
    return list(groups.values())


def _scene(name: str) -> int:
    return int(name.split("/")[1].rpartition("-")[2])


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
    return goal_from_trajectory(trajectory, f"{trial.parent.name}/{trial.name}")
