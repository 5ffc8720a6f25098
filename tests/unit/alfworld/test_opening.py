"""Opening games: shared where they are equal, from regular files only, in a dialect on request."""

import gc
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentquest.benchmarks.alfworld import AlfWorldAction, AlfWorldDriver, AlfWorldUtils, homes
from agentquest.benchmarks.alfworld.engine import engine
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GameText
from agentquest.benchmarks.alfworld.tasks import find_tasks, open_problem
from agentquest.errors import DataError, UnknownName
from shared_data import ALFWORLD, needs_alfworld

HOME = homes.game(homes.game_ids("valid_seen")[0])


def test_a_folder_of_trials_and_an_empty_name_are_no_games(folder: Path) -> None:
    with pytest.raises(DataError, match=rf"is a task's folder; its games are trials: {folder}"):
        open_problem(folder.parent)
    with pytest.raises(DataError, match="an empty name: no such game"):
        open_problem("")


# -- sharing -----------------------------------------------------------------------------------


def test_equal_problems_share_what_is_parsed(folder: Path) -> None:
    one, other = AlfWorldEngine.load(folder), AlfWorldEngine.load(folder, "0.3")
    assert one.world is other.world
    assert one.state is other.state
    third = AlfWorldEngine.from_text(GameText(HOME.problem, "another goal sentence"))
    assert third.world is one.world
    assert third.goal_text != one.goal_text
    one.step(one.plan().commands[0])
    assert other.state is third.state
    assert other.state != one.state


def test_other_problems_or_rules_are_not_mixed_up() -> None:
    one = AlfWorldEngine.from_text(GameText(HOME.problem, "a goal"))
    sinks = frozenset({"sinktype", "sinkbasintype"})
    assert AlfWorldEngine.from_text(GameText(HOME.problem, "a goal", cleaners=sinks)) is not one
    assert AlfWorldEngine.from_text(GameText(HOME.problem + " ", "a goal")).world is not one.world
    assert AlfWorldEngine.from_text(GameText(HOME.problem, "a", cleaners=sinks)).world.cleaners == (
        sinks
    )


def test_what_nobody_uses_any_more_is_let_go() -> None:
    problem = homes.game(homes.game_ids("valid_train")[7]).problem
    gc.collect()  # of games of other tests
    before = len(engine._in_use)
    game = AlfWorldEngine.from_text(GameText(problem, "a goal"))
    assert len(engine._in_use) == before + 1
    del game
    gc.collect()
    assert len(engine._in_use) == before


def test_a_thousand_opened_games_hold_as_many_worlds_as_there_are_problems() -> None:
    problems = AlfWorldUtils.load_data("all", "valid_seen", "builtin")[:10]
    drivers = [AlfWorldDriver(problems[n % 10]) for n in range(100)]
    assert len({id(driver.engine.world) for driver in drivers}) == 10
    twins = pickle.loads(pickle.dumps(drivers[:20]))
    assert len({id(twin.engine.world) for twin in twins}) == 10
    for driver, twin in zip(drivers[:20], twins, strict=True):
        assert twin.reset() == driver.reset()


def test_an_observation_tells_of_its_own_moment_whenever_it_is_read() -> None:
    driver = AlfWorldDriver(AlfWorldUtils.load_data("heat", "valid_seen", "builtin")[0])
    late = [driver.reset()]
    twin = AlfWorldDriver(driver.problem)
    read = [(twin.reset().output, twin.reset().admissible)]
    for command in [*driver.metrics.milestones[:3], "nonsense", *driver.metrics.milestones[3:]]:
        late.append(driver.step(AlfWorldAction(command)))
        now = twin.step(AlfWorldAction(command))
        read.append((now.output, now.admissible))
    assert [(seen.output, seen.admissible) for seen in late] == read
    stored = pickle.loads(pickle.dumps(late[1]))
    assert (stored.output, stored.admissible, stored) == (*read[1], late[1])


# -- files -------------------------------------------------------------------------------------


def test_a_pipe_or_a_device_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe" / "game.tw-pddl"
    device = tmp_path / "device" / "game.tw-pddl"
    for file in (pipe, device):
        file.parent.mkdir()
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for file in (pipe, device):
        for path in (file, file.parent):
            with pytest.raises(DataError, match="not a regular file"):
                AlfWorldEngine.load(path)
    split = tmp_path / "valid_seen" / "pick_and_place_simple-A-None-B-1" / "trial"
    split.mkdir(parents=True)
    (split / "game.tw-pddl").symlink_to(device)
    assert find_tasks("valid_seen", data_path=tmp_path) == []


def test_a_byte_order_mark_is_no_part_of_the_text(folder: Path) -> None:
    plain = AlfWorldEngine.load(folder)
    for name in ("initial_state.pddl", "traj_data.json"):
        file = folder / name
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    marked = AlfWorldEngine.load(folder)
    assert marked.reset() == plain.reset()
    assert marked.world is plain.world


MODIFIED: dict[str, Callable[[str], str]] = {
    "another word": lambda grammar: grammar.replace("You ", "Thou ", 1),
    "a line more": lambda grammar: grammar + "\n; nothing",
}


@needs_alfworld
@pytest.mark.parametrize("name", MODIFIED)
def test_a_modified_grammar_is_played_in_a_dialect_that_is_named(
    name: str, published: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "game.tw-pddl"
    file.write_text(json.dumps(published), encoding="utf-8-sig")
    ours = AlfWorldDriver(file)
    published["grammar"] = MODIFIED[name](published["grammar"])
    file.write_text(json.dumps(published), encoding="utf-8")
    with pytest.raises(DataError, match=r"unknown grammar.*naming one of them as the dialect"):
        AlfWorldDriver(file)
    assert ours.facts() == {"dialect": "0.4"}
    for dialect in ("0.3", "0.4"):
        theirs = AlfWorldDriver(file, dialect=dialect)
        facts = theirs.facts()
        assert facts.pop("grammar_fingerprint") == open_problem(file).grammar
        assert facts == {"dialect": dialect, "grammar": "modified"}
    assert theirs.reset() == ours.reset()
    assert theirs.data_hash == ours.data_hash
    for command in ours.metrics.milestones:
        assert theirs.step(AlfWorldAction(command)) == ours.step(AlfWorldAction(command))


@needs_alfworld
def test_a_grammar_without_a_goal_sentence_has_the_one_of_its_trajectory(
    published: dict[str, Any], folder: Path
) -> None:
    bare = AlfWorldEngine.load(folder)
    published["grammar"] = published["grammar"].replace("Your task is to:", "Thy quest:")
    file = folder / "game.tw-pddl"
    file.write_text(json.dumps(published), encoding="utf-8")
    driver = AlfWorldDriver(folder, dialect="0.4")
    assert driver.engine.goal_text == bare.goal_text
    assert driver.facts()["grammar"] == "modified"
    (folder / "traj_data.json").unlink()
    with pytest.raises(DataError, match="no goal sentence"):
        AlfWorldDriver(folder, dialect="0.4")


@needs_alfworld
def test_unknown_rules_are_refused_in_every_dialect(
    published: dict[str, Any], tmp_path: Path
) -> None:
    published["pddl_domain"] = published["pddl_domain"].replace("(holdsAny ?a)", "(openable ?a)", 1)
    file = tmp_path / "game.tw-pddl"
    file.write_text(json.dumps(published), encoding="utf-8")
    with pytest.raises(DataError, match="unknown pddl_domain"):
        AlfWorldDriver(file, dialect="0.4")


# -- goals in people's own words -----------------------------------------------------------------


def annotated(folder: Path, *written: object) -> Path:
    anns = [{"task_desc": text} if isinstance(text, str) else text for text in written]
    trajectory = {**HOME.traj_data, "turk_annotations": {"anns": anns}}
    (folder / "traj_data.json").write_text(json.dumps(trajectory), encoding="utf-8")
    return folder


def test_a_goal_that_a_person_wrote_is_used_as_it_is(folder: Path) -> None:
    written = ["Put the thing there. ", "Fetch it, please", "Move it\n"]
    annotated(folder, *written)
    plain = AlfWorldDriver(folder)
    chosen = {
        AlfWorldDriver(folder, goals="human", goal_seed=n).engine.goal_text for n in range(30)
    }
    assert chosen == {text.strip() for text in written}
    driver = AlfWorldDriver(folder, goals="human", goal_seed=3)
    goal = driver.engine.goal_text
    assert driver.reset().text.endswith(f"Your task is to: {goal}.")
    assert driver.metrics.goal == goal
    assert driver.facts() == {"dialect": "0.4", "goals": "human", "goal_seed": "3"}
    assert driver.data_hash != plain.data_hash
    assert tuple(driver.metrics.milestones) == plain.engine.plan().commands
    again = AlfWorldDriver(folder / ".." / "trial_T1", goals="human", goal_seed=3)
    assert again.engine.goal_text == goal


@pytest.mark.parametrize(
    "written", [(), ("",), ({"high_descs": []},), (["a"],), ("say {x}",), ("two\nlines",)]
)
def test_a_description_that_is_none(written: tuple[object, ...], folder: Path) -> None:
    annotated(folder, *written)
    with pytest.raises(DataError, match="trial_T1"):
        AlfWorldDriver(folder, goals="human")
    AlfWorldDriver(folder)


def test_built_in_homes_have_no_such_goals() -> None:
    with pytest.raises(DataError, match="no descriptions written by people"):
        AlfWorldDriver(f"builtin:{HOME.id}", goals="human")
    with pytest.raises(UnknownName, match="template, human"):
        AlfWorldDriver(f"builtin:{HOME.id}", goals="dog")


@needs_alfworld
def test_all_published_games_have_goals_that_people_wrote() -> None:
    for split in ("valid_seen", "valid_unseen"):
        for task in find_tasks(split, data_path=ALFWORLD):
            text = open_problem(task.problem, "human")
            trajectory = json.loads(Path(task.problem, "traj_data.json").read_text())
            anns = trajectory["turk_annotations"]["anns"]
            assert text.goal in {ann["task_desc"].strip() for ann in anns}
            assert text.goal != open_problem(task.problem).goal
