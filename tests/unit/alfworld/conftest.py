"""A game to play, and one on disk."""

import json
from pathlib import Path

import pytest

from agentquest.benchmarks.alfworld import AlfWorldDriver, AlfWorldUtils, homes


@pytest.fixture
def driver() -> AlfWorldDriver:
    problem = AlfWorldUtils.load_data("pick_heat_then_place", "valid_unseen", "builtin")[0]
    driver = AlfWorldDriver(problem=problem)
    driver.reset()
    return driver


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A problem directory as published, made from the first built-in home of valid_seen."""
    home = homes.game(homes.game_ids("valid_seen")[0])
    folder = tmp_path / "task" / "trial_T1"
    folder.mkdir(parents=True)
    (folder / "initial_state.pddl").write_text(home.problem, encoding="utf-8")
    (folder / "traj_data.json").write_text(json.dumps(home.traj_data), encoding="utf-8")
    return folder
