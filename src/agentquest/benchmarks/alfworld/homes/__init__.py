"""Built-in homes: generated ALFWorld games, for use without the official data.

Kitchens, living rooms, bedrooms and bathrooms with ALFRED's vocabulary and the six task types,
in splits of the published sizes. The same id gives the same game on every machine.
"""

from dataclasses import dataclass
from typing import Any

from agentquest.benchmarks.alfworld.homes.layouts import layout
from agentquest.benchmarks.alfworld.homes.placing import set_up
from agentquest.benchmarks.alfworld.homes.problem_text import as_pddl
from agentquest.benchmarks.alfworld.homes.tasks import SPLITS, HomeTask, games
from agentquest.benchmarks.alfworld.homes.vocabulary import LOOK
from agentquest.benchmarks.alfworld.task_types import goal_sentence, task_type
from agentquest.errors import DataError, UnknownName
from agentquest.lib.dice import Dice

__all__ = ["SPLITS", "HomeGame", "game", "game_ids"]

_SPLITS = ", ".join(SPLITS)


@dataclass(frozen=True)
class HomeGame:
    """One game: `problem` and `traj_data` are what the files of a published game hold."""

    id: str
    split: str
    task_type: str
    goal: str
    problem: str
    traj_data: dict[str, Any]


def game_ids(split: str) -> tuple[str, ...]:
    """The ids of a split, `<split>/<task>/<trial>`, in alphabetical order."""
    if split not in SPLITS:
        raise UnknownName(f"no split {split!r} among the built-in homes; there are: {_SPLITS}")
    return tuple(games(split))


def game(game_id: str) -> HomeGame:
    """Make one game."""
    split, _, rest = game_id.partition("/")
    task = games(split).get(game_id) if split in SPLITS else None
    if task is None:
        raise DataError(
            f"no built-in home {game_id!r}; ids look like '<split>/<task>/<trial>'"
            f" with a split of {_SPLITS}, and game_ids(split) lists them"
        )
    trial = rest.partition("/")[2]
    traj_data = _traj_data(task, trial)
    params = traj_data["pddl_params"]
    goal = goal_sentence(
        task_type(task.task_type),
        rest,
        params["object_target"],
        params["parent_target"],
        params["toggle_target"],
    )
    traj_data["turk_annotations"]["anns"].append({"task_desc": f"{goal[0].upper()}{goal[1:]}."})
    home = layout(task.scene)
    setup = set_up(task, home, Dice(f"agentquest game {game_id}"))
    problem = as_pddl(trial, task, home, setup)
    return HomeGame(game_id, split, task.task_type, goal, problem, traj_data)


def _traj_data(task: HomeTask, trial: str) -> dict[str, Any]:
    lamp = task.task_type == LOOK
    return {
        "task_id": trial,
        "task_type": task.task_type,
        "pddl_params": {
            "mrecep_target": "",
            "object_sliced": False,
            "object_target": task.thing,
            "parent_target": "" if lamp else task.target,
            "toggle_target": task.target if lamp else "",
        },
        "scene": {"floor_plan": f"FloorPlan{task.scene}", "scene_num": task.scene},
        "turk_annotations": {"anns": []},
    }
