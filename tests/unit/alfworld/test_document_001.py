"""Progress by state machine: the documented example, and what no machine may get wrong."""

import random
from dataclasses import replace

import pytest

from agentquest.benchmarks.alfworld import AlfWorldAction, AlfWorldDriver, AlfWorldUtils, extras
from agentquest.benchmarks.alfworld.driver import AlfWorldMetrics, AlfWorldObservation
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.extras import get_progress
from agentquest.benchmarks.alfworld.task_types import TASK_TYPES
from agentquest.errors import UserError
from agentquest.lib import State
from alfworld_worlds import Furniture, SmallWorld, Thing

DOORS = {"openable": True}
KITCHEN = (
    Furniture("CounterTop", 0),
    Furniture("Fridge", 1, **DOORS),
    Furniture("Microwave", 2, **DOORS),
    Furniture("SinkBasin", 3),
    Furniture("CounterTop", 4),
)
FOOD = ("pickupable", "heatable", "coolable", "cleanable", "sliceable")


def kitchen(task: str, target: str, *things: Thing, sliced: bool = False) -> SmallWorld:
    return SmallWorld(KITCHEN, things, task, "Potato", target, sliced)


def play(game: AlfWorldEngine, *commands: str, must_work: bool = True) -> AlfWorldMetrics:
    """What a driver would record of these commands; `put` is said in the game's dialect."""
    metrics = AlfWorldMetrics()
    metrics.reset(game.goal_text)
    for command in commands:
        if command.startswith("put ") and game.dialect.value == "0.4":
            command = command.replace("put ", "move ").replace(" in/on ", " to ")
        assert not must_work or command in game.admissible, (command, game.admissible)
        observation = AlfWorldObservation.of(game.step(command), game.copy())
        metrics.record(AlfWorldAction(command), State(command), observation)
    return metrics


def test_the_documented_example(dialect: str) -> None:
    world = kitchen("heat", "Fridge", Thing("Potato", (1,), FOOD), Thing("Potato", (1,), FOOD))
    metrics = play(
        world.engine(dialect),
        "go to fridge 1",
        "open fridge 1",
        "take potato 2 from fridge 1",
        "go to microwave 1",
        "heat potato 2 with microwave 1",
        "look",
        "go to fridge 1",
        "go to countertop 1",
        "put potato 2 in/on countertop 1",
        "take potato 2 from countertop 1",
        "go to fridge 1",
        "put potato 2 in/on fridge 1",
    )
    assert metrics.goal == "put a hot potato in fridge"
    qualitative, quantitative = extras.get_progress_pick_heat_then_place(metrics)
    assert qualitative == [
        "initial",
        "initial",
        "object picked up",
        "object picked up",
        "object heated and picked up",
        "object heated and picked up",
        "object heated and picked up",
        "object heated and picked up",
        "object heated and not picked up",
        "object heated and picked up",
        "object heated and picked up",
        "object placed correctly",
    ]
    assert quantitative == [0.0, 0.0, 0.25, 0.25, 0.75, 0.75, 0.75, 0.75, 0.5, 0.75, 0.75, 1.0]
    # Without the driver's word for it that the game was won, the machine finds the same.
    metrics.interactions[-1] = metrics.interactions[-1]._replace(
        observation=replace(metrics.interactions[-1].observation, success=False)
    )
    assert get_progress(metrics) == (qualitative, quantitative)


def test_pick_and_place(dialect: str) -> None:
    world = kitchen("pick", "SinkBasin", Thing("Potato", (0,), FOOD), Thing("Apple", (0,), FOOD))
    metrics = play(
        world.engine(dialect),
        "go to countertop 2",
        "take apple 1 from countertop 2",
        "go to sinkbasin 1",
        "put apple 1 in/on sinkbasin 1",
        "go to countertop 2",
        "take potato 1 from countertop 2",
        "put potato 1 in/on countertop 2",
        "take potato 1 from countertop 2",
        "go to sinkbasin 1",
        "put potato 1 in/on sinkbasin 1",
    )
    names, values = extras.get_progress_pick_and_place(metrics)
    assert values == [0, 0, 0, 0, 0, 0.5, 0, 0.5, 0.5, 1.0]
    assert names[5:] == [
        "object picked up",
        "initial",
        "object picked up",
        "object picked up",
        "object placed correctly",
    ]


@pytest.mark.parametrize(
    ("task", "tool", "done"),
    [
        ("clean", "sinkbasin", "cleaned"),
        ("heat", "microwave", "heated"),
        ("cool", "fridge", "cooled"),
    ],
)
def test_treating_one_and_placing_another_is_no_success(
    dialect: str, task: str, tool: str, done: str
) -> None:
    world = kitchen(task, "CounterTop", Thing("Potato", (3,), FOOD), Thing("Potato", (3,), FOOD))
    metrics = play(
        world.engine(dialect),
        "go to sinkbasin 1",
        "take potato 1 from sinkbasin 1",
        *([] if tool == "sinkbasin" else [f"go to {tool} 1"]),
        f"{task} potato 1 with {tool} 1",
        *([] if tool == "sinkbasin" else ["go to sinkbasin 1"]),
        "put potato 1 in/on sinkbasin 1",
        "take potato 2 from sinkbasin 1",
        "go to countertop 1",
        "put potato 2 in/on countertop 1",
        "go to sinkbasin 1",
        "take potato 1 from sinkbasin 1",
        "go to countertop 1",
        "put potato 1 in/on countertop 1",
    )
    function = getattr(extras, f"get_progress_pick_{task}_then_place")
    names, values = function(metrics)
    assert values[-8:] == [0.5, 0.5, 0.5, 0.5, 0.5, 0.75, 0.75, 1.0]
    assert names[-4:] == [
        f"object {done} and not picked up",
        f"object {done} and picked up",
        f"object {done} and picked up",
        "object placed correctly",
    ]
    assert f"object {done} and picked up" in names[:-8]


def test_heating_is_undone_by_cooling(dialect: str) -> None:
    world = kitchen("heat", "Fridge", Thing("Potato", (0,), FOOD))
    metrics = play(
        world.engine(dialect),
        "go to countertop 2",
        "take potato 1 from countertop 2",
        "go to microwave 1",
        "heat potato 1 with microwave 1",
        "go to fridge 1",
        "cool potato 1 with fridge 1",
        "open fridge 1",
        "put potato 1 in/on fridge 1",
    )
    assert get_progress(metrics)[1] == [0, 0.25, 0.25, 0.75, 0.75, 0.25, 0.25, 0.0]


def test_commands_that_did_nothing_change_nothing(dialect: str) -> None:
    world = kitchen("heat", "CounterTop", Thing("Potato", (1,), FOOD))
    metrics = play(
        world.engine(dialect),
        "take potato 1 from fridge 1",
        "heat potato 1 with microwave 1",
        "put potato 1 in/on countertop 1",
        "go to fridge 1",
        "take potato 1 from fridge 1",
        must_work=False,
    )
    assert get_progress(metrics) == (["initial"] * 5, [0.0] * 5)


def test_look_at_obj_in_light(dialect: str) -> None:
    room = (Furniture("Desk", 0), Furniture("Bed", 1), Furniture("Shelf", 2))
    things = (
        Thing("DeskLamp", (0,), ("toggleable",)),
        Thing("FloorLamp", (1,), ("toggleable",)),
        Thing("Book", (1,)),
        Thing("Pen", (1,)),
    )
    game = SmallWorld(room, things, "look", "Book", "DeskLamp").engine(dialect)
    metrics = play(
        game,
        "go to bed 1",
        "use floorlamp 1",
        "take pen 1 from bed 1",
        "put pen 1 in/on bed 1",
        "take book 1 from bed 1",
        "put book 1 in/on bed 1",
        "go to desk 1",
        "use desklamp 1",
        "go to bed 1",
        "take book 1 from bed 1",
        "go to desk 1",
    )
    names, values = extras.get_progress_look_at_obj_in_light(metrics)
    assert values == [0, 0, 0, 0, 0.5, 0, 0, 0.25, 0.25, 0.75, 1.0]
    assert names[4] == "object picked up"
    assert names[7] == "lamp turned on"
    assert names[-2:] == ["object picked up and lamp turned on", "object examined in light"]


def test_pick_two_obj_and_place(dialect: str) -> None:
    world = kitchen("two", "CounterTop", *[Thing("Potato", (3,), FOOD)] * 2)
    fetch = ("go to sinkbasin 1", "take potato {} from sinkbasin 1")
    one, other = ([line.format(n) for line in fetch] for n in (1, 2))
    game = world.engine(dialect)
    metrics = play(
        game,
        *one,
        "go to countertop 1",
        "put potato 1 in/on countertop 1",
        *other,
        "go to countertop 2",
        "put potato 2 in/on countertop 2",
        "take potato 2 from countertop 2",
        "go to countertop 1",
        "put potato 2 in/on countertop 1",
    )
    names, values = extras.get_progress_pick_two_obj_and_place(metrics)
    # Both on countertops, but on two of them: not yet in position.
    assert values == [0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 0.5, 0.75, 0.75, 1.0]
    assert names[1] == "first object picked up"
    assert names[3] == names[7] == "first object placed correctly"
    assert names[-3:] == [
        "first object placed and second picked up",
        "first object placed and second picked up",
        "both objects placed correctly",
    ]


def test_an_object_seen_in_position_counts_as_placed() -> None:
    world = kitchen("two", "Fridge", Thing("Potato", (1,), FOOD), Thing("Potato", (0,), FOOD))
    metrics = play(
        world.engine(), "go to fridge 1", "open fridge 1", "go to countertop 2",
        "take potato 1 from countertop 2",
    )  # fmt: skip
    assert get_progress(metrics)[1] == [0, 0.5, 0.5, 0.75]


def test_slices_count_as_placed_once_they_are_slices() -> None:
    world = kitchen(
        "pick", "SinkBasin", Thing("Potato", (0,), FOOD), Thing("Knife", (3,)), sliced=True
    )
    game = world.engine()
    game.goal_text = "put sliced potato in sinkbasin"
    metrics = play(
        game,
        "go to countertop 2",
        "take potato 1 from countertop 2",
        "go to sinkbasin 1",
        "put potato 1 in/on sinkbasin 1",
        "take knife 1 from sinkbasin 1",
        "slice potato 1 with knife 1",
    )
    assert get_progress(metrics)[1] == [0, 0.5, 0.5, 0, 0, 1.0]


def walked(problem: str, dialect: str, rng: random.Random) -> AlfWorldDriver:
    driver = AlfWorldDriver(problem, dialect)
    driver.reset()
    for _ in range(40):
        plan = driver.oracle_actions()
        sensible = bool(plan) and rng.random() < 0.6
        command = plan[0] if sensible else rng.choice(driver.engine.admissible)
        driver.step(AlfWorldAction(command))
    return driver


def test_the_last_state_means_won_on_walks_through_homes(dialect: str) -> None:
    rng = random.Random(5)
    problems = [
        AlfWorldUtils.load_data(task.name, "valid_seen", "builtin")[n]
        for task in TASK_TYPES
        for n in range(4)
    ]
    for problem in problems:
        metrics = walked(problem, dialect, rng).metrics
        won = [step.observation.success for step in metrics.interactions]
        names, values = get_progress(metrics)
        assert [value == 1.0 for value in values] == won
        assert len(names) == len(values) == len(won)
        assert won.index(True) == len(won) - 1 if any(won) else len(won) == 40
        # The machine alone may miss a win (a lamp was on before) but never invents one.
        metrics.interactions = [
            step._replace(observation=replace(step.observation, success=False))
            for step in metrics.interactions
        ]
        alone = get_progress(metrics)[1]
        assert all(win or value < 1.0 for win, value in zip(won, alone, strict=True))


FUNCTIONS = {
    "pick": extras.get_progress_pick_and_place,
    "look": extras.get_progress_look_at_obj_in_light,
    "clean": extras.get_progress_pick_clean_then_place,
    "heat": extras.get_progress_pick_heat_then_place,
    "cool": extras.get_progress_pick_cool_then_place,
    "two": extras.get_progress_pick_two_obj_and_place,
}


def test_each_function_takes_its_own_task_type_only() -> None:
    for task in TASK_TYPES:
        for sentence in (*task.sentences, *task.sliced_sentences):
            metrics = AlfWorldMetrics()
            metrics.reset(sentence.format(obj="potato", recep="fridge", toggle="desklamp"))
            assert get_progress(metrics) == FUNCTIONS[task.short](metrics) == ([], [])
            for other in FUNCTIONS.keys() - {task.short}:
                with pytest.raises(UserError, match=task.name):
                    FUNCTIONS[other](metrics)


def test_a_goal_that_is_no_alfworld_task_is_refused() -> None:
    metrics = AlfWorldMetrics()
    metrics.reset("buy a red shirt")
    with pytest.raises(UserError, match="buy a red shirt"):
        get_progress(metrics)
