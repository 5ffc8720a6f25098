"""Goals and worlds beyond ALFRED's are refused by name; what is opened is planned for soon."""

import random
import re

import pytest

from agentquest.benchmarks.alfworld.engine.engine import (
    MOST_LYING,
    MOST_RECEPTACLES,
    MOST_THINGS,
    MOST_WITH_DOUBLE_PLACES,
    AlfWorldEngine,
)
from agentquest.benchmarks.alfworld.engine.game_files import GameText
from agentquest.benchmarks.alfworld.oracle.relevant import Relevant
from agentquest.benchmarks.alfworld.oracle.search import Search
from agentquest.errors import DataError
from alfworld_worlds import Furniture, SmallWorld, Thing

ROOM = (Furniture("CounterTop", 0), Furniture("Shelf", 1), Furniture("SinkBasin", 2))
APPLE = ("pickupable", "cleanable", "heatable", "coolable", "sliceable")
APPLES = tuple(Thing("Apple", (0,), APPLE) for _ in range(4))
LAMP = Thing("DeskLamp", (0,), ("toggleable",))
KITCHEN = ("CounterTop", "Shelf", "SinkBasin", "Desk", "Drawer", "Cabinet")


def placing(number: int, *conditions: str) -> str:
    names = [f"?o{n}" for n in range(number)]
    different = [f"(not (= {a} {b}))" for a in names for b in names if a < b]
    of_each = ["(objectType {} AppleType)", "(inReceptacle {} ?r)", *conditions]
    atoms = [atom.format(name) for name in names for atom in of_each]
    things = " ".join(f"{name} - object" for name in names)
    body = " ".join([*different, "(receptacleType ?r ShelfType)", *atoms])
    return f"(exists (?r - receptacle {things}) (and {body}))"


def looking(*conditions: str) -> str:
    wanted = " ".join(condition.format("?o") for condition in conditions)
    return (
        "(exists (?l - object ?r - receptacle ?a - agent ?p - location)"
        " (and (objectType ?l DeskLampType) (toggleable ?l) (isToggled ?l)"
        " (receptacleAtLocation ?r ?p) (atLocation ?a ?p) (inReceptacle ?l ?r)))"
        " (exists (?o - object ?a - agent)"
        f" (and (objectType ?o AppleType) (holds ?a ?o) {wanted}))"
    )


CLEAN, HOT, COOL = "(isClean {})", "(isHot {})", "(isCool {})"
SLICED = "(isSliced {})"
CLOSED = "(forall (?re - receptacle) (not (opened ?re)))"
BEYOND = {
    "asks for 3 objects": placing(3),
    "asks for 40 objects": placing(40),
    "to treat one object in two ways": placing(1, CLEAN, HOT),
    "to treat one object in two ways, which": placing(1, HOT, COOL),
    "to treat two objects": placing(2, CLEAN),
    "to place an object and to hold one": f"(and {placing(1)} {looking()})",
    "to look at a treated object": f"(and {looking(CLEAN)})",
    "for slices and for all doors to be closed": f"(and {placing(1, SLICED)} {CLOSED})",
}


def opened(world: SmallWorld, goal: str = "") -> AlfWorldEngine:
    problem = world.problem()
    if goal:
        problem = problem[: problem.index("(:goal")] + f"(:goal {goal}))"
    return AlfWorldEngine.from_text(GameText(problem, "a goal"))


@pytest.mark.parametrize("name", BEYOND)
def test_goals_that_alfred_does_not_have(name: str) -> None:
    world = SmallWorld(ROOM, (*APPLES, LAMP), "pick", "Apple", "Shelf")
    with pytest.raises(DataError, match=f"the goal asks.*{re.escape(name.removeprefix('asks '))}"):
        opened(world, BEYOND[name])


@pytest.mark.parametrize(
    "goal",
    [placing(1), placing(2), placing(2, SLICED), placing(1, CLEAN, SLICED), looking(SLICED)],
)
def test_goals_that_it_has(goal: str) -> None:
    knife = Thing("Knife", (2,))
    world = SmallWorld(ROOM, (*APPLES, LAMP, knife), "pick", "Apple", "Shelf")
    assert opened(world, f"(and {goal})").plan().reachable


def desks(number: int, second: int | None = None) -> tuple[Furniture, ...]:
    return (*ROOM, Furniture("Desk", 3, also_at=second), *[Furniture("Desk", 3)] * (number - 4))


def with_things(*things: Thing, room: tuple[Furniture, ...] = ROOM, **more: object) -> SmallWorld:
    return SmallWorld(room, things, "pick", "Apple", "Shelf", **more)  # type: ignore[arg-type]


TWO_PLACES = Thing("Apple", (0, 2), APPLE)
TOO_LARGE = {
    f"{MOST_THINGS + 1} objects that will do": with_things(*[APPLES[0]] * (MOST_THINGS + 1)),
    f"in {MOST_LYING + 2} receptacles": with_things(*[TWO_PLACES] * (MOST_LYING // 2 + 1)),
    f"{MOST_THINGS + 1} knives": with_things(
        APPLES[0], *[Thing("Knife", (0,))] * (MOST_THINGS + 1), sliced=True
    ),
    f"{MOST_RECEPTACLES + 1} receptacles": with_things(APPLES[0], room=desks(MOST_RECEPTACLES + 1)),
    f"{MOST_WITH_DOUBLE_PLACES + 1} receptacles of which some have two locations": with_things(
        APPLES[0], room=desks(MOST_WITH_DOUBLE_PLACES + 1, second=2)
    ),
    "all doors closed in a home with a receptacle at two locations": with_things(
        APPLES[0], room=desks(4, second=2), all_closed=True
    ),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_worlds_that_are_too_large(name: str) -> None:
    with pytest.raises(DataError, match=name):
        TOO_LARGE[name].engine()


def test_as_many_as_is_said_may_be_there() -> None:
    knives = [Thing("Knife", (0,))] * MOST_THINGS
    apples = [TWO_PLACES] * (MOST_LYING // 2)
    assert with_things(*apples, *knives, sliced=True).engine().plan().reachable
    room = desks(MOST_WITH_DOUBLE_PLACES, second=2)
    assert with_things(*APPLES, room=room).engine().plan().reachable
    assert with_things(*APPLES, room=desks(MOST_RECEPTACLES)).engine().plan().reachable


def crowded_home(dice: random.Random) -> SmallWorld:
    """As much as may be there, and everywhere: the search has to look hard."""
    double = dice.random() < 0.3
    number = MOST_WITH_DOUBLE_PLACES if double else dice.choice([30, 60, MOST_RECEPTACLES])
    places = dice.choice([number // 3, number])
    room = tuple(
        Furniture(
            dice.choice(KITCHEN),
            dice.randrange(places),
            openable=dice.random() < 0.4,
            opened=dice.random() < 0.4,
            also_at=dice.randrange(places) if double and dice.random() < 0.5 else None,
        )
        for _ in range(number)
    )
    task = dice.choice(["pick", "clean", "two", "look"])
    here = range(number)
    things = [Thing("Apple", tuple(dice.sample(here, 2)), APPLE) for _ in range(MOST_LYING // 2)]
    things += [Thing("Knife", tuple(dice.sample(here, 1))) for _ in range(MOST_THINGS)]
    things.append(Thing("DeskLamp", (0,), ("toggleable", "pickupable")))
    misfits = {(f, t) for f in KITCHEN for t in ("Apple", "Knife") if dice.random() < 0.3}
    target = "DeskLamp" if task == "look" else dice.choice(KITCHEN)
    return SmallWorld(
        room, tuple(things), task, "Apple", target, sliced=True, misfits=frozenset(misfits)
    )


def test_the_search_stays_small_in_crowded_homes() -> None:
    for seed in range(25):
        game = crowded_home(random.Random(seed)).engine()
        search = Search(Relevant(game.world, game.state, game.goal))
        moves = search.run()
        plan = game.plan()
        assert len(moves or ()) == len(plan.commands)
        assert search.generated < 10_000, seed
