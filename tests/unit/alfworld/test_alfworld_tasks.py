"""Which games there are, on a machine with data of its own making."""

import shutil
from pathlib import Path

import pytest

from agentquest.benchmarks.alfworld import AlfWorldDriver, AlfWorldUtils
from agentquest.benchmarks.alfworld.tasks import find_tasks
from agentquest.errors import DataError, UnknownName
from agentquest.running.factory import make_benchmark
from shared_data import ALFWORLD, needs_alfworld

PICK = "pick_and_place_simple-Pen-None-Desk-301"
HEAT = "pick_heat_then_place_in_recep-Egg-None-Fridge-2"
SLICED = "pick_heat_then_place_in_recep-AppleSliced-None-Fridge-2"
MOVABLE = "pick_and_place_with_movable_recep-Pen-Mug-Desk-301"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder as downloaded; the files hold only what the search looks at."""

    def add(task: str, trial: str, solvable: str | None) -> None:
        folder = tmp_path / "alfworld" / "json_2.1.1" / "valid_seen" / task / trial
        folder.mkdir(parents=True)
        (folder / "initial_state.pddl").write_text("(define)")
        if solvable is not None:
            text = f'{{"grammar": "\\\\"solvable\\\\": true", "solvable": {solvable}}}'
            (folder / "game.tw-pddl").write_text(text)

    add(PICK, "trial_T2", "true")
    add(PICK, "trial_T1", "true")
    add(PICK, "trial_T3", "false")
    add(HEAT, "trial_T1", "true")
    add(HEAT, "trial_T2", None)
    add(SLICED, "trial_T1", "true")
    add(MOVABLE, "trial_T1", "true")
    return tmp_path / "alfworld"


def names(data: Path | None, playable: bool, *types: str) -> list[str]:
    tasks = find_tasks("valid_seen", types or None, data, playable)
    return [task.id.removeprefix("valid_seen/") for task in tasks]


def test_playable_games_and_all_problems(data: Path) -> None:
    played = [f"{PICK}/trial_T1", f"{PICK}/trial_T2", f"{HEAT}/trial_T1"]
    assert names(data, True) == played
    others = [f"{PICK}/trial_T3", f"{SLICED}/trial_T1", f"{HEAT}/trial_T2"]
    assert sorted(names(data, False)) == sorted([*played, *others])


def test_types_by_any_of_their_names(data: Path) -> None:
    for name in ("4", "heat", "pick_heat_then_place", "pick_heat_then_place_in_recep"):
        assert names(data, True, name) == [f"{HEAT}/trial_T1"]


def test_where_data_is_looked_for(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = names(data, True)
    assert names(data / "json_2.1.1", True) == found
    monkeypatch.setenv("ALFWORLD_DATA", str(data))
    assert names(None, True) == found
    assert len(AlfWorldUtils.load_data(source="valid_seen", data_path="builtin")) == 140
    monkeypatch.setenv("ALFWORLD_DATA", "builtin")
    assert len(names(None, True)) == 140
    monkeypatch.delenv("ALFWORLD_DATA")
    monkeypatch.setenv("HOME", str(data.parent))
    monkeypatch.setenv("USERPROFILE", str(data.parent))
    assert len(names(None, True)) == 140
    (data.parent / ".cache").mkdir()
    data.rename(data.parent / ".cache" / "alfworld")
    assert names(None, True) == found


def test_what_was_named_is_never_replaced(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match="has no split 'train'; it has: valid_seen"):
        find_tasks("train", data_path=data)
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("ALFWORLD_DATA", str(empty))
    with pytest.raises(DataError, match=r"ALFWORLD_DATA .*empty.* has no ALFWorld games"):
        find_tasks("valid_seen")


@pytest.mark.parametrize(
    ("split", "size"),
    [("train", 3553), ("valid_seen", 140), ("valid_unseen", 134), ("valid_train", 200)],
)
def test_built_in_homes_have_the_published_sizes(split: str, size: int) -> None:
    problems = AlfWorldUtils.load_data("all", split, "builtin")
    assert len(set(problems)) == len(problems) == size
    assert AlfWorldDriver(problems[0]).reset().can_proceed


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(UnknownName, match="not a task type"):
        find_tasks("valid_seen", ["pick_"], "builtin")


@needs_alfworld
def test_a_copy_of_the_data_is_named_and_an_unknown_one_warned_about(tmp_path: Path) -> None:
    """One other byte in one game is another copy."""
    known = make_benchmark("alfworld", {"data_path": str(ALFWORLD)}).provenance()
    assert known.details["copy"].endswith("(the one AgentQuest is checked with)")
    assert known.warning == ""
    for game in Path(known.data_path or "", "valid_unseen").glob("*/*/"):
        (tmp_path / "valid_unseen" / game.parent.name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "valid_unseen" / game.parent.name / game.name).symlink_to(game)
    folder = {"data_path": str(tmp_path)}
    assert make_benchmark("alfworld", folder).provenance().details == known.details
    changed = next((tmp_path / "valid_unseen").glob("*/*/"))
    original = changed.resolve()
    changed.unlink()
    shutil.copytree(original, changed)
    with (changed / "game.tw-pddl").open("ab") as file:
        file.write(b" ")
    other = make_benchmark("alfworld", folder).provenance()
    assert other.details["copy"].endswith("(unknown)")
    assert "compare only with runs on the same one" in other.warning
    builtin = make_benchmark("alfworld", {"data_path": "builtin"}).provenance()
    assert ("copy" in builtin.details, builtin.warning) == (False, "")
