"""A game to play, and games on disk."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentquest.benchmarks.alfworld import AlfWorldDriver, AlfWorldUtils, homes
from agentquest.benchmarks.alfworld.tasks import find_tasks
from shared_data import ALFWORLD


@pytest.fixture(params=["0.3", "0.4"])
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


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


@pytest.fixture
def published() -> dict[str, Any]:
    """What the first published game's file holds; for tests that have the data."""
    task = find_tasks("valid_seen", data_path=ALFWORLD)[0]
    content: dict[str, Any] = json.loads(Path(task.problem, "game.tw-pddl").read_text())
    return content
