"""Built-in homes written out as ALFWorld game folders read back as the same games."""

import importlib.util
import json
import os
import shutil
from pathlib import Path

import pytest

from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GAME_FILE, GameText
from agentquest.benchmarks.alfworld.game import open_game
from agentquest.benchmarks.alfworld.homes.export import reference_logic, write_game
from agentquest.errors import DataError, UserError

DOMAIN = "(define (domain alfred))"
GRAMMAR = 'grammar :: "Your task is to: UNKNOWN GOAL."'
IDS = homes.game_ids("valid_unseen")[::22]


def write_all(folder: Path) -> list[Path]:
    return [write_game(homes.game(each), folder, DOMAIN, GRAMMAR, ("look", each)) for each in IDS]


def test_folders_have_the_standard_layout(tmp_path: Path) -> None:
    folders = write_all(tmp_path)
    assert folders == [tmp_path / "json_2.1.1" / game_id for game_id in IDS]
    for game_id, folder in zip(IDS, folders, strict=True):
        made = homes.game(game_id)
        assert sorted(file.name for file in folder.iterdir()) == [
            "game.tw-pddl",
            "initial_state.pddl",
            "traj_data.json",
        ]
        assert (folder / "initial_state.pddl").read_text() == made.problem
        assert json.loads((folder / "traj_data.json").read_text()) == made.traj_data
        assert json.loads((folder / "game.tw-pddl").read_text()) == {
            "pddl_domain": DOMAIN,
            "grammar": f'grammar :: "Your task is to: {made.goal}."',
            "pddl_problem": made.problem,
            "solvable": True,
            "walkthrough": ["look", game_id],
        }


def test_a_folder_without_game_file_is_the_same_game(tmp_path: Path) -> None:
    for game_id, folder in zip(IDS, write_all(tmp_path), strict=True):
        (folder / "game.tw-pddl").unlink()
        made = homes.game(game_id)
        ours = AlfWorldEngine.from_text(GameText(made.problem, made.goal))
        read = AlfWorldEngine.load(folder)
        assert read.reset() == ours.reset()
        assert read.admissible == ours.admissible


def test_a_game_whose_files_were_written_anew_is_another(tmp_path: Path) -> None:
    """Opened games are kept for a while, by their files as they were."""
    played = tmp_path / "played"
    worlds = []
    for day, folder in enumerate(write_all(tmp_path)[:2]):
        (folder / GAME_FILE).unlink()
        for file in folder.iterdir():
            os.utime(file, (day, day))
        shutil.copytree(folder, played, dirs_exist_ok=True)
        worlds.append(open_game(str(played), None).engine.world)
        assert open_game(str(played), None).engine.world is worlds[-1]
    assert worlds[0].object_names != worlds[1].object_names


def test_an_id_that_leads_elsewhere_is_no_game() -> None:
    with pytest.raises(DataError, match="no built-in home"):
        homes.game("valid_seen/../../escape/trial")


def test_a_grammar_without_a_place_for_the_goal_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="UNKNOWN GOAL"):
        write_game(homes.game(IDS[0]), tmp_path, DOMAIN, "no place")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(
    importlib.util.find_spec("alfworld") is not None, reason="the reference is installed here"
)
def test_without_the_reference_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "alfworld").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match=r"install the package 'alfworld'.* --logic "):
        reference_logic()


@pytest.mark.skipif(
    importlib.util.find_spec("alfworld") is not None, reason="the reference is installed here"
)
def test_logic_is_read_from_the_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "alfworld" / "data"
    data.mkdir(parents=True)
    (tmp_path / "alfworld" / "__init__.py").write_text("raise RuntimeError('never imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    (data / "alfred.pddl").write_text(DOMAIN)
    with pytest.raises(UserError, match=r"alfred\.twl2"):
        reference_logic()
    (data / "alfred.twl2").write_text(GRAMMAR)
    assert reference_logic() == (DOMAIN, GRAMMAR)
