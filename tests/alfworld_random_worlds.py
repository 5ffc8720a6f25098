"""Random small homes of every shape the parser accepts, ordinary and odd.

Odd are: receptacles with two locations or none, lamps that can be carried,
knives that can be sliced, things in three places, things treated or lying where
they belong from the start, something in the hand at the start, and any mixture.
"""

import random

from alfworld_worlds import TREATMENTS, Furniture, SmallWorld, Thing

KINDS = ("Fridge", "Microwave", "SinkBasin", "CounterTop", "Drawer", "Cabinet")
WITH_DOORS = frozenset({"Fridge", "Microwave", "Drawer", "Cabinet"})
TOOLS = {"clean": "SinkBasin", "heat": "Microwave", "cool": "Fridge"}
TASKS = ("pick", "clean", "heat", "cool", "two", "look")


def random_world(dice: random.Random, odd: float = 0.25) -> SmallWorld:
    """A home; each oddity is there with probability `odd`."""
    task = dice.choice(TASKS)
    sliced = dice.random() < 0.4
    home = _furniture(dice, task, odd)
    things = _things(dice, task, sliced, len(home), odd)
    kinds = sorted({thing.kind for thing in things})
    misfits = {(dice.choice(KINDS), dice.choice(kinds)) for _ in range(dice.randint(0, 3))}
    held = dice.randrange(len(things)) if dice.random() < odd / 2 else None
    if held is not None and "pickupable" not in things[held].facts:
        held = None
    return SmallWorld(
        furniture=home,
        things=things,
        task=task,
        thing="Apple" if dice.random() < 1 - odd / 4 else dice.choice(kinds),
        target="DeskLamp" if task == "look" else dice.choice([f.kind for f in home]),
        sliced=sliced,
        all_closed=dice.random() < 0.1,
        start=dice.choice([9, 0]),
        held=held,
        misfits=frozenset(misfits),
    )


def _furniture(dice: random.Random, task: str, odd: float) -> tuple[Furniture, ...]:
    number = dice.choice([3, 3, 3, 4, 4, 5, 6])
    kinds = dice.choices(KINDS, k=number)
    # With many pieces fewer doors: a blind search has to visit every combination of them.
    doors = 0.5 if number < 5 else 0.2
    places = dice.choice([3, number])
    if task in TOOLS and dice.random() < 0.9:
        kinds[0] = TOOLS[task]
    return tuple(
        Furniture(
            kind,
            location=None if dice.random() < odd / 8 else dice.randint(0, places),
            openable=kind in WITH_DOORS and dice.random() < doors,
            opened=dice.random() < 0.5,
            also_at=dice.randint(0, places) if dice.random() < odd / 2 else None,
        )
        for kind in kinds
    )


def _things(
    dice: random.Random, task: str, sliced: bool, places: int, odd: float
) -> tuple[Thing, ...]:
    target = ["pickupable", *TREATMENTS.get(task, ())[:1], *(["sliceable"] if sliced else [])]
    kinds = [("Apple", target)]
    if task == "two" or dice.random() < (0.4 if places < 5 else 0.2):
        kinds.append(("Apple", target))
    if sliced:
        knife = ["pickupable", *(["sliceable"] if dice.random() < odd else [])]
        kinds.append((dice.choice(["Knife", "ButterKnife"]), knife))
    if task == "look":
        lamp = ["toggleable", *(["pickupable"] if dice.random() < odd else [])]
        kinds.append(("DeskLamp", lamp))
    if len(kinds) < 4 and dice.random() < (0.5 if places < 5 else 0.2):
        kinds.append((dice.choice(["Mug", "Apple"]), ["pickupable"]))
    return tuple(_thing(dice, kind, facts, task, places, odd) for kind, facts in kinds)


def _thing(
    dice: random.Random, kind: str, facts: list[str], task: str, places: int, odd: float
) -> Thing:
    number = min(places, dice.choice([1, 1, 1, 2, 3 if dice.random() < odd else 2]))
    if dice.random() < odd / 10:
        number = 0
    inside = tuple(sorted(dice.sample(range(places), number)))
    kept = [fact for fact in facts if fact != "pickupable" or dice.random() < 0.95]
    if dice.random() < odd / 3:
        kept += TREATMENTS.get(task, ())
    if dice.random() < odd / 4:
        kept.append("isSliced")
    if kind == "DeskLamp" and dice.random() < odd:
        kept.append("isToggled")
    elsewhere = dice.choice([None, None, None, 0, 1])
    return Thing(kind, inside, tuple(dict.fromkeys(kept)), elsewhere)
