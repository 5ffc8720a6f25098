"""The documented behaviour of the driver and its metrics."""

import json
import pickle
from pathlib import Path

import pytest

from agentquest.benchmarks.alfworld import (
    AlfWorldAction,
    AlfWorldDriver,
    AlfWorldMetrics,
    AlfWorldObservation,
    AlfWorldState,
    AlfWorldUtils,
)
from agentquest.errors import DataError, UnknownName
from agentquest.lib import Action, Driver, Metrics, Observation, State
from alfworld_worlds import Furniture, SmallWorld, Thing

FORMAT = "Your response should be in format: 'Action: <action_command>'"


def say(driver: AlfWorldDriver, command: str) -> Observation:
    return driver.step(AlfWorldAction(value=command))


def written(world: SmallWorld, folder: Path, task_type: str = "pick_and_place_simple") -> Path:
    """A small world as a problem directory, for the driver to open."""
    folder = folder / f"{task_type}-small-1" / "trial"
    folder.mkdir(parents=True)
    (folder / "initial_state.pddl").write_text(world.problem(), encoding="utf-8")
    params = {"object_target": world.thing, "parent_target": world.target}
    trajectory = {"task_type": task_type, "pddl_params": params}
    (folder / "traj_data.json").write_text(json.dumps(trajectory), encoding="utf-8")
    return folder


# -- observations and states -------------------------------------------------------------------


def test_an_observation_is_the_text_the_commands_and_the_format(driver: AlfWorldDriver) -> None:
    for command in (None, driver.metrics.milestones[0]):
        observation = driver.reset() if command is None else say(driver, command)
        text, commands, closing = observation.output.rsplit("\n", 2)
        text, heading = text.rsplit("\n", 1)
        assert text == observation.text
        assert heading == "Admissible commands:"
        assert commands == str(driver.engine.admissible)
        assert closing == FORMAT
        assert observation.admissible == tuple(driver.engine.admissible)
        assert isinstance(observation, AlfWorldObservation)
        assert (observation.success, observation.can_proceed) == (False, True)


def test_a_won_game_s_observation_is_the_text_alone(driver: AlfWorldDriver) -> None:
    *before, last = driver.metrics.milestones
    for command in before:
        observation = say(driver, command)
        assert (observation.success, observation.can_proceed) == (False, True)
        assert not driver.metrics.success
    observation = say(driver, last)
    assert (observation.success, observation.can_proceed) == (True, False)
    assert observation.output == observation.text
    assert observation.output.startswith("You move the ")
    assert "\n" not in observation.output
    assert driver.metrics.success
    assert driver.solved
    assert driver.outcome.done


@pytest.mark.parametrize("dialect", ["0.3", "0.4"])
def test_a_won_game_stays_won(dialect: str, driver: AlfWorldDriver) -> None:
    driver = AlfWorldDriver(driver.problem, dialect=dialect)
    driver.reset()
    for command in driver.metrics.milestones:
        last = say(driver, command)
    taking = next(c for c in driver.engine.admissible if c.startswith("take "))
    before = (driver.engine.state, driver.current_state, driver.metrics.export())
    for command in (taking, "look", "nonsense", "go to fridge 1"):
        for again in (say(driver, command), driver.step_raw(f"Action: {command}")):
            assert again == last
            assert (again.success, again.can_proceed) == (True, False)
    assert driver.step_raw("no command in here") == last
    assert driver.unparsed == []
    assert (driver.engine.state, driver.current_state, driver.metrics.export()) == before
    assert driver.metrics.success
    assert driver.outcome.done
    assert driver.reset().can_proceed
    assert not driver.metrics.success


def test_a_game_that_is_won_from_the_start_is_over_at_once(tmp_path: Path) -> None:
    room = (Furniture("Desk", 0), Furniture("Bed", 1))
    world = SmallWorld(room, (Thing("Book", (1,)),), "pick", "Book", "Bed")
    driver = AlfWorldDriver(written(world, tmp_path))
    first = driver.reset()
    assert (first.success, first.can_proceed, driver.metrics.success) == (True, False, True)
    assert say(driver, "go to bed 1") == first
    assert say(driver, "take book 1 from bed 1") == first
    assert driver.metrics.success
    assert driver.metrics.interactions == []


def test_the_engine_itself_plays_on_after_a_win(driver: AlfWorldDriver) -> None:
    game = driver.engine.copy()
    for command in game.plan().commands:
        game.step(command)
    assert game.won
    game.step(next(c for c in game.admissible if c.startswith("take ")))
    assert not game.won


def test_a_plain_text_is_no_action(driver: AlfWorldDriver) -> None:
    with pytest.raises(TypeError, match=r"takes an Action.*not 'look'.*step_raw"):
        driver.step("look")  # type: ignore[arg-type]
    assert driver.metrics.interactions == []


def test_the_state_after_an_invalid_command_is_the_last_valid_one(driver: AlfWorldDriver) -> None:
    assert driver.current_state.value == ""
    say(driver, "fly to the moon")
    assert driver.current_state.value == ""
    valid = driver.metrics.milestones[0]
    say(driver, valid)
    observation = say(driver, "go to fridge 99")
    assert observation.output.startswith("Nothing happens.\nAdmissible commands:\n[")
    exported = driver.metrics.export()
    assert exported["states"] == [{"value": ""}, {"value": valid}, {"value": valid}]
    assert exported["actions"][2] == {"value": "go to fridge 99"}


def test_reset_begins_anew(driver: AlfWorldDriver) -> None:
    first = driver.reset()
    for command in driver.metrics.milestones:
        say(driver, command)
    driver.step_raw("no command in here")
    assert driver.reset() == first
    assert driver.metrics.interactions == []
    assert driver.unparsed == []
    assert not driver.metrics.success
    assert driver.current_state.value == ""


@pytest.mark.parametrize(("dialect", "verb"), [("0.3", "put "), ("0.4", "move ")])
def test_dialects(dialect: str, verb: str, driver: AlfWorldDriver) -> None:
    other = AlfWorldDriver(driver.problem, dialect=dialect)
    other.reset()
    assert other.facts() == {"dialect": dialect}
    assert other.metrics.milestones[-1].startswith(verb)
    assert other.data_hash == driver.data_hash


def test_wrong_names_are_said_to_be_wrong(tmp_path: Path, driver: AlfWorldDriver) -> None:
    with pytest.raises(UnknownName, match="dialect"):
        AlfWorldDriver(driver.problem, dialect="0.2")
    with pytest.raises(UnknownName, match="split"):
        AlfWorldUtils.load_data("all", "test", "builtin")
    with pytest.raises(UnknownName, match="pick_and_place_simple"):
        AlfWorldUtils.load_data("juggle", "train", "builtin")
    with pytest.raises(DataError, match="no ALFWorld games"):
        AlfWorldUtils.load_data("all", "train", tmp_path)
    with pytest.raises(DataError, match="nonsense"):
        AlfWorldDriver("builtin:nonsense")


def test_the_public_classes_are_built_on_the_public_base_classes() -> None:
    pairs = {
        AlfWorldAction: Action,
        AlfWorldState: State,
        AlfWorldObservation: Observation,
        AlfWorldMetrics: Metrics,
        AlfWorldDriver: Driver,
    }
    assert all(issubclass(ours, base) for ours, base in pairs.items())


# -- pickling ----------------------------------------------------------------------------------


def test_a_driver_pickled_mid_game_plays_on_alike(driver: AlfWorldDriver) -> None:
    plan = driver.metrics.milestones
    for command in plan[:3]:
        say(driver, command)
    driver.step_raw("what now?")
    twin = pickle.loads(pickle.dumps(driver))
    assert twin.unparsed == ["what now?"]
    assert twin.metrics.export() == driver.metrics.export()
    for command in plan[3:]:
        assert say(twin, command) == say(driver, command)
    assert twin.metrics.export() == driver.metrics.export()
    assert twin.metrics.success


# -- metrics -----------------------------------------------------------------------------------


def test_progress_climbs_with_the_plan_and_falls_on_a_detour(driver: AlfWorldDriver) -> None:
    plan = driver.metrics.milestones
    say(driver, plan[0])
    away = next(c for c in driver.engine.admissible if c.startswith("go to "))
    say(driver, away)
    say(driver, "nonsense")
    say(driver, plan[0])
    for command in plan[1:]:
        say(driver, command)
    progress = driver.metrics.progress()
    total = len(plan)
    assert progress[0] == 1 / total
    assert progress[1] == progress[2] <= progress[0]
    assert progress[3:] == [pytest.approx(done / total) for done in range(1, total + 1)]
    assert progress[-1] == 1.0


def test_progress_below_the_start_is_zero(tmp_path: Path) -> None:
    room = (Furniture("Desk", 0), Furniture("Bed", 1), Furniture("Shelf", 2))
    things = (Thing("Book", (0,)), Thing("Pen", (2,)))
    world = SmallWorld(room, things, "pick", "Book", "Bed", start=0)
    driver = AlfWorldDriver(written(world, tmp_path))
    driver.reset()
    assert len(driver.metrics.milestones) == 3
    for command in ("go to shelf 1", "take pen 1 from shelf 1"):
        say(driver, command)
    assert driver.metrics.progress() == [0.0, 0.0]


def test_an_unreachable_goal_keeps_the_last_progress_and_is_flagged(tmp_path: Path) -> None:
    """A pen that fits nowhere, once taken, fills the hand for good."""
    room = (Furniture("Desk", 0), Furniture("Bed", 1))
    things = (Thing("Book", (0,)), Thing("Pen", (0,)))
    misfits = frozenset({("Desk", "Pen"), ("Bed", "Pen")})
    world = SmallWorld(room, things, "pick", "Book", "Bed", misfits=misfits)
    driver = AlfWorldDriver(written(world, tmp_path))
    driver.reset()
    assert len(driver.metrics.milestones) == 4
    for command in ("go to desk 1", "take pen 1 from desk 1", "go to bed 1"):
        say(driver, command)
    assert driver.metrics.progress() == [0.25, 0.25, 0.25]
    assert driver.metrics.unreachable_steps() == [1, 2]
    assert driver.metrics.export()["unreachable_steps"] == [1, 2]
    outcome = driver.outcome
    assert (outcome.progress, outcome.reachable, outcome.success) == (0.25, False, False)


def test_a_goal_out_of_reach_from_the_start_is_no_progress(tmp_path: Path) -> None:
    room = (Furniture("Desk", 0), Furniture("Bed", 1))
    world = SmallWorld(room, (Thing("Book", (0,), ()),), "pick", "Book", "Bed")
    driver = AlfWorldDriver(written(world, tmp_path))
    driver.reset()
    assert driver.metrics.milestones == []
    say(driver, "go to desk 1")
    assert driver.metrics.progress() == [0.0]
    assert driver.metrics.unreachable_steps() == [0]


def test_export_has_the_documented_shape(driver: AlfWorldDriver) -> None:
    command = driver.metrics.milestones[0]
    for text in (command, "look", "look"):
        say(driver, text)
    exported = driver.metrics.export(
        repetition_function_kwargs={"theta_a": 1, "num_execution_steps": 10}
    )
    assert list(exported) == [
        "goal", "success", "actions", "states", "observations",
        "repetition_rate", "progress", "milestones", "problem",
    ]  # fmt: skip
    assert exported["repetition_rate"] == pytest.approx(1 / 9)
    assert driver.metrics.export()["repetition_rate"] == 1 / 2
    assert driver.metrics.repetition_rate(theta_a=0.0) == 1.0
    assert list(exported["observations"][0]) == ["output", "success", "can_proceed"]
    assert exported["goal"] == driver.engine.goal_text
    assert exported["problem"] == driver.problem
    assert json.loads(json.dumps(exported)) == exported


def test_interactions_unpack_as_documented(driver: AlfWorldDriver) -> None:
    say(driver, "look")
    assert [action.value for action, _, _ in driver.metrics.interactions] == ["look"]
