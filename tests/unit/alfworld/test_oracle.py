"""The oracle's plans are the shortest there are: held to a blind search on small homes."""

import os
import random
from collections import Counter

import pytest

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.state import WorldState
from agentquest.benchmarks.alfworld.oracle.planner import Plan
from agentquest.benchmarks.alfworld.oracle.relevant import Relevant
from agentquest.benchmarks.alfworld.oracle.search import LowerBound
from agentquest.errors import DataError
from alfworld_random_worlds import random_world
from alfworld_search import explore
from alfworld_worlds import Furniture, SmallWorld, Thing

WORLDS = int(os.environ.get("AGENTQUEST_WORLDS", "150"))
MANY_STATES = 4_000


def check(game: AlfWorldEngine, state: WorldState, shortest: int | None) -> None:
    game.restore(state)
    plan = game.plan()
    if shortest is None:
        assert plan == Plan((), reachable=False)
        return
    assert plan.reachable
    assert len(plan.commands) == shortest, plan
    for command in plan.commands:
        assert not game.won
        assert command in game.admissible
        game.step(command)
    assert game.won


@pytest.mark.parametrize("first", range(0, WORLDS, 25))
def test_plans_are_as_short_as_a_blind_search_finds(first: int) -> None:
    """Homes of every shape; AGENTQUEST_WORLDS=10000 tries that many."""
    for seed in range(first, min(first + 25, WORLDS)):
        dice = random.Random(seed)
        world = random_world(dice)
        try:
            game = world.engine()
        except DataError:
            continue
        space = explore(game, MANY_STATES)
        if space is not None:
            some = dice.sample(range(len(space.states)), min(15, len(space.states)))
            for number in [0, *some]:
                check(game, space.states[number], space.steps_to_win[number])


def least_steps(game: AlfWorldEngine, state: WorldState) -> int | None:
    """The bound that guides the exact search."""
    relevant = Relevant(game.world, state, game.goal)
    return LowerBound(relevant).least(relevant.start)


@pytest.mark.parametrize(("opened", "steps"), [((True, False), 4), ((False, False), 5)])
def test_the_bound_counts_a_door_only_if_every_target_is_closed(
    opened: tuple[bool, bool], steps: int
) -> None:
    drawers = [
        Furniture("Drawer", place, openable=True, opened=is_open)
        for place, is_open in enumerate(opened, start=2)
    ]
    world = SmallWorld(
        (Furniture("CounterTop", 1), *drawers),
        (Thing("Potato", (0,)),),
        task="pick",
        thing="Potato",
        target="Drawer",
        start=3,  # at the closed one, so that the search does not leave it out
    )
    game = world.engine()
    assert least_steps(game, game.state) == len(game.plan().commands) == steps


def test_the_bound_never_exceeds_the_shortest_plan() -> None:
    compared = 0
    for seed in range(40):
        dice = random.Random(seed)
        try:
            game = random_world(dice).engine()
        except DataError:
            continue
        space = explore(game, MANY_STATES)
        states = [] if space is None else list(zip(space.states, space.steps_to_win, strict=True))
        for state, shortest in dice.sample(states, min(10, len(states))):
            if shortest:
                least = least_steps(game, state)
                assert least is not None
                assert least <= shortest, seed
                compared += 1
    assert compared > 100


def test_the_random_homes_are_of_every_shape() -> None:
    worlds = [random_world(random.Random(seed)) for seed in range(300)]
    shapes = Counter(
        shape
        for world in worlds
        for shape, there in {
            "two locations": any(len(set(f.locations)) > 1 for f in world.furniture),
            "no location": any(not f.locations for f in world.furniture),
            "a lamp to carry": any(
                t.kind == "DeskLamp" and "pickupable" in t.facts for t in world.things
            ),
            "a knife to slice": any(
                "Knife" in t.kind and "sliceable" in t.facts for t in world.things
            ),
            "in the hand": world.held is not None,
            "three places": any(len(t.inside) == 3 for t in world.things),
            "sliced before": any("isSliced" in t.facts for t in world.things),
            f"{world.task} sliced" if world.sliced else world.task: True,
            "all closed": world.all_closed,
        }.items()
        if there
    )
    assert len(shapes) == 20
    assert min(shapes.values()) >= 5, shapes


COUNTER = Furniture("CounterTop", 0)
SHELF = Furniture("Shelf", 1)
APPLE = ("pickupable", "sliceable")
ODD_WORLDS = {
    "one door opened for two things": SmallWorld(
        (COUNTER, *[Furniture("Microwave", 0, openable=True)] * 2),
        (Thing("Apple", (0,)), Thing("Mug", (0,))),
        "pick",
        "Apple",
        "Microwave",
        misfits=frozenset({("CounterTop", "Mug")}),
    ),
    "the knife waits where the apple goes": SmallWorld(
        (COUNTER, SHELF),
        (Thing("Apple", (0,), APPLE), Thing("Knife", (1,))),
        "pick",
        "Apple",
        "Shelf",
        sliced=True,
        misfits=frozenset({("CounterTop", "Knife")}),
    ),
    "one apple before the knife, one after it": SmallWorld(
        (COUNTER, Furniture("Cabinet", 0), SHELF),
        (Thing("Apple", (0,), APPLE), Thing("Apple", (1,), APPLE), Thing("Knife", (0,))),
        "two",
        "Apple",
        "Shelf",
        sliced=True,
    ),
    "sliced in one order, carried in the other": SmallWorld(
        (COUNTER, SHELF, Furniture("Desk", 2)),
        (Thing("Apple", (0,), APPLE), Thing("Apple", (2,), APPLE), Thing("Knife", (0,))),
        "two",
        "Apple",
        "Shelf",
        sliced=True,
    ),
    "an apple in two places, treated in one and placed in the other": SmallWorld(
        (
            Furniture("SinkBasin", 0),
            Furniture("Drawer", 1, openable=True),
            Furniture("Fridge", 0, openable=True),
        ),
        (Thing("Apple", (0, 1), (*APPLE, "cleanable")), Thing("Knife", (0,))),
        "clean",
        "Apple",
        "Drawer",
        sliced=True,
        misfits=frozenset({("Drawer", "Knife")}),
    ),
    "an apple in two places, left in one and taken from the other": SmallWorld(
        (Furniture("Cabinet", 0), COUNTER, Furniture("Drawer", 1, openable=True)),
        (Thing("Apple", (0, 2), APPLE), Thing("Apple", (2,), APPLE), Thing("Knife", (2,))),
        "two",
        "Apple",
        "CounterTop",
        sliced=True,
        misfits=frozenset({("Cabinet", "Knife")}),
    ),
    "an apple brought to the knife, for the knife may not come to it": SmallWorld(
        (COUNTER, SHELF),
        (
            Thing("Apple", (1,), APPLE),
            Thing("Knife", (0,)),
            Thing("DeskLamp", (0,), ("toggleable",)),
        ),
        "look",
        "Apple",
        "DeskLamp",
        sliced=True,
        misfits=frozenset({("Shelf", "Knife")}),
    ),
    "an apple in two places": SmallWorld(
        (COUNTER, SHELF, Furniture("SinkBasin", 2)),
        (Thing("Apple", (0, 1), ("pickupable", "cleanable")),),
        "clean",
        "Apple",
        "Shelf",
    ),
    "a receptacle that is entered at its other location": SmallWorld(
        (COUNTER, SHELF, Furniture("SinkBasin", 2, also_at=1), Furniture("Desk", 2, also_at=0)),
        (Thing("Apple", (3,), ("pickupable", "cleanable")),),
        "clean",
        "Apple",
        "Shelf",
    ),
    "a lamp that is brought to the apple": SmallWorld(
        (COUNTER, SHELF, Furniture("Desk", 2)),
        (
            Thing("Apple", (0,)),
            Thing("DeskLamp", (1,), ("pickupable", "toggleable")),
            Thing("Mug", (2,)),
        ),
        "look",
        "Apple",
        "DeskLamp",
        misfits=frozenset({("CounterTop", "DeskLamp")}),
        held=1,
    ),
    "slices under a lamp, of an apple in the hand": SmallWorld(
        (COUNTER, SHELF),
        (
            Thing("Apple", (), APPLE),
            Thing("Knife", (1,)),
            Thing("DeskLamp", (0,), ("toggleable",)),
        ),
        "look",
        "Apple",
        "DeskLamp",
        sliced=True,
        held=0,
    ),
    "a knife to be sliced by another": SmallWorld(
        (COUNTER, SHELF),
        (Thing("Knife", (0,), APPLE), Thing("Knife", (0,), APPLE)),
        "two",
        "Knife",
        "Shelf",
        sliced=True,
    ),
    "a dirty apple that already lies where it belongs, and elsewhere": SmallWorld(
        (COUNTER, SHELF, Furniture("SinkBasin", 2)),
        (Thing("Apple", (0, 1), ("pickupable", "cleanable")), Thing("Mug", (2,))),
        "clean",
        "Apple",
        "Shelf",
        misfits=frozenset({("Shelf", "Apple")}),
        held=1,
    ),
    "a door to close far from the lamp": SmallWorld(
        (COUNTER, SHELF, Furniture("Drawer", 2, openable=True, opened=True)),
        (Thing("Apple", (0,)), Thing("DeskLamp", (0,), ("toggleable",))),
        "look",
        "Apple",
        "DeskLamp",
        all_closed=True,
        start=0,
    ),
    "more than enough in place, a door still open": SmallWorld(
        (COUNTER, SHELF, Furniture("Drawer", 2, openable=True, opened=True)),
        (Thing("Apple", (1,)), Thing("Apple", (1,))),
        "pick",
        "Apple",
        "Shelf",
        all_closed=True,
    ),
}


@pytest.mark.parametrize("name", ODD_WORLDS)
def test_odd_worlds_from_every_state(name: str) -> None:
    game = ODD_WORLDS[name].engine()
    space = explore(game, 10_000)
    assert space is not None
    assert space.steps_to_win[0] is not None
    for state, shortest in zip(space.states, space.steps_to_win, strict=True):
        check(game, state, shortest)


def test_what_cannot_be_won_is_said_to_be_so() -> None:
    stuck = SmallWorld((COUNTER, SHELF), (Thing("Apple", (0,), ()),), "pick", "Apple", "Shelf")
    assert stuck.engine().plan() == Plan((), reachable=False)


def test_a_won_game_needs_nothing_more() -> None:
    won = SmallWorld((COUNTER, SHELF), (Thing("Apple", (1,)),), "pick", "Apple", "Shelf")
    assert won.engine().won
    assert won.engine().plan() == Plan((), reachable=True)
