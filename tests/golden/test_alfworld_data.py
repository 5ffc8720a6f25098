"""The real data: how many games there are, that each opens and is won, that none is touched."""

import os
import shutil
from pathlib import Path

import pytest

from agentquest.benchmarks.alfworld import AlfWorldDriver, AlfWorldUtils
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GAME_FILE
from agentquest.benchmarks.alfworld.task_types import TASK_TYPES
from agentquest.benchmarks.alfworld.tasks import find_tasks
from shared_data import ALFWORLD, needs_alfworld

pytestmark = needs_alfworld

SPLITS = ("valid_seen", "valid_unseen")


@pytest.mark.parametrize(("split", "all_of_them", "playable"), [
    ("valid_seen", 217, 140),
    ("valid_unseen", 222, 134),
])  # fmt: skip
def test_documented_counts(split: str, all_of_them: int, playable: int) -> None:
    load = AlfWorldUtils.load_data
    assert len(load("all", split, data_path=ALFWORLD)) == all_of_them
    assert len(load("all", split, data_path=ALFWORLD, playable=True)) == playable


@pytest.mark.parametrize(("split", "counts"), [
    ("valid_seen", {"pick": 35, "look": 13, "clean": 27, "heat": 16, "cool": 25, "two": 24}),
    ("valid_unseen", {"pick": 24, "look": 18, "clean": 31, "heat": 23, "cool": 21, "two": 17}),
])  # fmt: skip
def test_documented_counts_by_type(split: str, counts: dict[str, int]) -> None:
    for task in TASK_TYPES:
        games = AlfWorldUtils.load_data(task.name, split, data_path=ALFWORLD, playable=True)
        assert len(games) == counts[task.short], task.name


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("dialect", [None, "0.3"])
def test_every_playable_game_is_won_by_the_oracle(split: str, dialect: str | None) -> None:
    for task in find_tasks(split, data_path=ALFWORLD):
        game = AlfWorldEngine.load(task.problem, dialect)
        plan = game.plan()
        assert plan.reachable, task.id
        for command in plan.commands:
            assert not game.won, task.id
            assert command in game.admissible, task.id
            game.step(command)
        assert game.won, task.id


@pytest.mark.parametrize("split", SPLITS)
def test_every_problem_opens_and_no_playable_one_is_called_unsolvable(split: str) -> None:
    playable = {task.id for task in find_tasks(split, data_path=ALFWORLD)}
    for task in find_tasks(split, data_path=ALFWORLD, playable=False):
        game = AlfWorldEngine.load(task.problem)
        assert f"Your task is to: {game.goal_text}." in game.reset()
        assert game.plan().reachable or task.id not in playable


def test_a_problem_without_its_game_file_plays_the_same(tmp_path: Path) -> None:
    for split in SPLITS:
        for task in find_tasks(split, data_path=ALFWORLD)[::20]:
            whole = Path(task.problem)
            bare = tmp_path / task.id
            bare.mkdir(parents=True)
            for file in ("initial_state.pddl", "traj_data.json"):
                shutil.copyfile(whole / file, bare / file)
            one, other = AlfWorldEngine.load(whole, "0.4"), AlfWorldEngine.load(bare)
            assert other.dialect.value == "0.4"
            assert without_goal(other.reset()) == without_goal(one.reset())
            for command in one.plan().commands:
                assert other.step(command) == one.step(command)
                assert other.admissible == one.admissible
            assert other.won


def without_goal(introduction: str) -> str:
    return introduction.partition("Your task is to: ")[0]


def test_nothing_is_written_into_the_data_folder() -> None:
    before = listing(ALFWORLD)
    for split in SPLITS:
        for problem in AlfWorldUtils.load_data("all", split, data_path=ALFWORLD)[::25]:
            driver = AlfWorldDriver(problem)
            driver.reset()
            for command in driver.metrics.milestones:
                driver.step_raw(f"Action: {command}")
            driver.metrics.export()
    assert listing(ALFWORLD) == before


def listing(folder: Path) -> list[tuple[str, int, int]]:
    found = []
    for parent, _, names in os.walk(folder):
        for name in names:
            status = Path(parent, name).stat()
            found.append((f"{parent}/{name}", status.st_size, status.st_mtime_ns))
    assert any(name.endswith(GAME_FILE) for name, _, _ in found)
    return sorted(found)
