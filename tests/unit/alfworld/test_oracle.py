"""The oracle's plans are the shortest there are: held to a blind search on small homes."""

import random

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.state import State
from agentquest.benchmarks.alfworld.oracle.planner import Plan
from alfworld_search import explore
from alfworld_worlds import TREATMENTS, Furniture, SmallWorld, Thing

KINDS = ("Fridge", "Microwave", "SinkBasin", "CounterTop", "Drawer", "Cabinet")
WITH_DOORS = frozenset({"Fridge", "Microwave", "Drawer", "Cabinet"})
TOOLS = {"clean": "SinkBasin", "heat": "Microwave", "cool": "Fridge"}
MANY_STATES = 2_500


@st.composite
def furniture(draw: st.DrawFn, task: str) -> tuple[Furniture, ...]:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=3, max_size=4))
    if task in TOOLS and draw(st.integers(0, 9)):
        kinds[0] = TOOLS[task]
    return tuple(
        Furniture(
            kind,
            location=draw(st.integers(0, 3)),
            openable=kind in WITH_DOORS and draw(st.booleans()),
            opened=draw(st.booleans()),
        )
        for kind in kinds
    )


@st.composite
def thing(draw: st.DrawFn, kind: str, facts: tuple[str, ...], places: int) -> Thing:
    inside = draw(st.sets(st.integers(0, places - 1), min_size=1, max_size=2))
    elsewhere = draw(st.sampled_from([None, None, None, 0, 1]))
    fixed = draw(st.integers(0, 19)) == 7
    kept = tuple(fact for fact in facts if not (fixed and fact == "pickupable"))
    return Thing(kind, tuple(sorted(inside)), kept, elsewhere)


@st.composite
def small_worlds(draw: st.DrawFn) -> SmallWorld:
    task = draw(st.sampled_from(["pick", "clean", "heat", "cool", "two", "look"]))
    sliced = draw(st.integers(0, 2)) == 2
    home = draw(furniture(task))
    facts = ["pickupable", *TREATMENTS.get(task, ())[:1], *(["sliceable"] if sliced else [])]
    kinds: list[tuple[str, tuple[str, ...]]] = [("Apple", tuple(facts))]
    if task == "two" or draw(st.booleans()):
        kinds.append(("Apple", tuple(facts)))
    if sliced:
        kinds.append((draw(st.sampled_from(["Knife", "ButterKnife"])), ("pickupable",)))
    if task == "look":
        kinds.append(("DeskLamp", ("toggleable",)))
    if len(kinds) < 4 and draw(st.booleans()):
        kinds.append(("Mug", ("pickupable",)))
    pairs = st.tuples(st.sampled_from(KINDS), st.sampled_from([kind for kind, _ in kinds]))
    return SmallWorld(
        furniture=home,
        things=tuple(draw(thing(kind, facts, len(home))) for kind, facts in kinds),
        task=task,
        thing="Apple",
        target="DeskLamp" if task == "look" else draw(st.sampled_from([f.kind for f in home])),
        sliced=sliced,
        all_closed=draw(st.integers(0, 9)) == 5,
        start=draw(st.sampled_from([9, 0])),
        misfits=frozenset(draw(st.sets(pairs, max_size=3))),
    )


def check(game: AlfWorldEngine, state: State, shortest: int | None) -> None:
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


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(small_worlds(), st.integers(0, 2**32))
def test_plans_are_as_short_as_a_blind_search_finds(world: SmallWorld, seed: int) -> None:
    game = world.engine()
    space = explore(game, MANY_STATES)
    assume(space is not None)
    assert space is not None
    event(f"{world.task}{' sliced' if world.sliced else ''}")
    some = random.Random(seed).sample(range(len(space.states)), min(25, len(space.states)))
    for number in [0, *some]:
        check(game, space.states[number], space.steps_to_win[number])


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
