"""What the four kinds of room are made of, as frequencies.

The figures are rounded frequencies measured over the rooms of the real
benchmark, so that built-in games are about as full, and their things about as
hidden, as the real ones (see `compare`).

`FURNITURE`: numbers of each receptacle that rooms have, one drawn per room.
`FITTINGS`: likewise (one digit drawn per room) for things that cannot be picked
up, and the weighted places where they stand. A place `-` is none: the thing
stands by itself. Without any place it is named and no more.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

SCENE_BLOCKS = {"kitchen": 0, "living": 200, "bedroom": 300, "bathroom": 400}
SCENES_PER_BLOCK = 30
UNSEEN_PER_BLOCK = 3
"""The last rooms of each kind, which no split but valid_unseen plays in."""


FURNITURE: dict[str, dict[str, tuple[int, ...]]] = {
    "kitchen": {
        "Cabinet": (4, 6, 8, 9, 10, 10, 11, 12, 13, 13, 15, 16, 18, 20, 20, 23, 26),
        "CoffeeMachine": (1,),
        "CounterTop": (1, 2, 2, 2, 3, 3, 3, 4),
        "DiningTable": (0, 0, 0, 0, 1, 1, 1, 1, 2),
        "Drawer": (0, 1, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 12, 13, 18),
        "Fridge": (1,),
        "GarbageCan": (1,),
        "Microwave": (1,),
        "Shelf": (0, 0, 0, 0, 3),
        "SideTable": (0, 0, 0, 0, 0, 0, 0, 1),
        "SinkBasin": (1,),
        "StoveBurner": (4, 4, 4, 4, 4, 4, 4, 4, 4, 6),
        "Toaster": (1,),
    },
    "living": {
        "ArmChair": (0, 1, 1, 1, 1, 1, 2, 2, 2, 3),
        "Cabinet": (0, 0, 0, 0, 0, 0, 1, 4, 8),
        "CoffeeTable": (0, 1, 1, 1, 1, 2),
        "Desk": (0, 0, 0, 0, 0, 0, 0, 0, 1),
        "DiningTable": (0, 0, 0, 0, 1, 1, 1, 2),
        "Drawer": (0, 0, 0, 1, 2, 4, 4, 5, 6, 7, 12),
        "Dresser": (0, 0, 1),
        "GarbageCan": (1,),
        "Ottoman": (0, 0, 0, 0, 0, 0, 0, 0, 1),
        "Safe": (0, 0, 0, 0, 0, 0, 1),
        "Shelf": (0, 0, 0, 0, 0, 1, 3, 4, 8, 12),
        "SideTable": (0, 1, 1, 2, 2, 3, 3),
        "Sofa": (1, 1, 1, 1, 2),
        "TVStand": (0, 0, 0, 1, 1, 2),
    },
    "bedroom": {
        "ArmChair": (0, 0, 0, 0, 0, 0, 1, 2),
        "Bed": (1, 1, 1, 1, 2),
        "Cabinet": (0, 0, 0, 0, 0, 0, 0, 1, 4),
        "CounterTop": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        "Desk": (0, 1, 1, 1, 2),
        "DiningTable": (0, 0, 0, 0, 0, 0, 1),
        "Drawer": (0, 2, 2, 2, 3, 4, 5, 5, 6, 8, 10, 13),
        "Dresser": (0, 0, 1, 1, 1, 2),
        "GarbageCan": (1,),
        "LaundryHamper": (0, 0, 0, 1),
        "Safe": (0, 0, 0, 0, 1),
        "Shelf": (0, 0, 1, 1, 2, 5, 5, 6, 12),
        "SideTable": (0, 0, 1, 1, 2),
    },
    "bathroom": {
        "BathtubBasin": (0, 1, 1, 1),
        "Cabinet": (0, 0, 0, 0, 3, 4, 4, 4, 4, 5),
        "Cart": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        "CounterTop": (0, 1, 1, 1, 1, 1, 1, 2),
        "Drawer": (0, 0, 0, 0, 0, 2, 4, 6, 8),
        "Dresser": (0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        "GarbageCan": (1,),
        "HandTowelHolder": (1, 1, 1, 2, 2),
        "Shelf": (0, 0, 0, 0, 0, 0, 1, 2, 4),
        "SideTable": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        "SinkBasin": (1, 2),
        "Toilet": (1,),
        "ToiletPaperHanger": (1,),
        "TowelHolder": (1, 1, 1, 2),
    },
}

ALWAYS_OPENABLE = frozenset({"Fridge", "Microwave", "Safe"})
# Of the cabinets and drawers of one room, the share that has a door: one drawn per room.
OPENABLE_SHARES = {
    "Cabinet": {
        "kitchen": (1.0, 1.0, 1.0, 0.85, 0.7, 0.5),
        "living": (1.0,),
        "bedroom": (1.0,),
        "bathroom": (1.0,),
    },
    "Drawer": {
        "kitchen": (1.0, 1.0, 1.0, 0.8, 0.5, 0.0),
        "living": (1.0,),
        "bedroom": (1.0, 1.0, 0.8, 0.6),
        "bathroom": (1.0, 1.0, 0.0),
    },
}

FITTINGS: dict[str, dict[str, tuple[str, str]]] = {
    "kitchen": {
        "Blinds": ("00001", "-:1"),
        "Chair": ("01111222", "-:1"),
        "Curtains": ("000000000001", "-:1"),
        "Faucet": ("1", ""),
        "HousePlant": ("001", "CounterTop:2 DiningTable:1"),
        "LightSwitch": ("1", "-:1"),
        "StoveKnob": ("4", "-:1"),
        "Window": ("01111112", "-:1"),
    },
    "living": {
        "Chair": ("0012446", "-:1"),
        "Curtains": ("0001", "-:1"),
        "DeskLamp": ("0001", "SideTable:1 Desk:1"),
        "FloorLamp": ("1", "-:1"),
        "HousePlant": ("1", "-:1 SideTable:1 CoffeeTable:1"),
        "Lamp": ("00012", ""),
        "LightSwitch": ("1", "-:1"),
        "Painting": ("112234", "-:1"),
        "Television": ("1", "TVStand:4 Dresser:4 -:2"),
        "Window": ("0122334", "-:1"),
    },
    "bedroom": {
        "Blinds": ("1112", "-:1"),
        "Chair": ("01112", "-:1"),
        "DeskLamp": ("01111", "Desk:6 Dresser:4 SideTable:6 Shelf:1"),
        "HousePlant": ("0001", "Dresser:2 Shelf:1 Desk:1"),
        "Lamp": ("0012", ""),
        "LaundryHamperLid": ("0001", "-:1"),
        "LightSwitch": ("1", "-:1"),
        "Mirror": ("1", "-:1"),
        "Painting": ("000123", "-:1"),
        "Poster": ("00001", "-:1"),
        "Television": ("0000000001", "Dresser:1 -:1"),
        "Window": ("1112", "-:1"),
    },
    "bathroom": {
        "Faucet": ("2233", ""),
        "LightSwitch": ("1", "-:1"),
        "Mirror": ("1", "-:5 CounterTop:1"),
        "ShowerCurtain": ("01", ""),
        "ShowerDoor": ("01", "-:1"),
        "ShowerGlass": ("001", "-:1"),
        "ShowerHead": ("001", ""),
        "Window": ("01", "-:1"),
    },
}


@cache
def weighted_places(text: str) -> Mapping[str, int]:
    """`"Fridge:4 CounterTop:2"` as a table of weights."""
    pairs = (entry.split(":") for entry in text.split())
    return MappingProxyType({place: int(weight) for place, weight in pairs})


def room_of(scene: int) -> str:
    """The kind of room a scene number stands for."""
    return next(room for room, first in SCENE_BLOCKS.items() if first // 100 == scene // 100)


def scenes_of(room: str, unseen: bool) -> range:
    """The numbers of the rooms of one kind: of those kept for valid_unseen, or of all others."""
    first = SCENE_BLOCKS[room] + 1
    kept_from, end = first + SCENES_PER_BLOCK - UNSEEN_PER_BLOCK, first + SCENES_PER_BLOCK
    return range(kept_from, end) if unseen else range(first, kept_from)


def is_unseen(scene: int) -> bool:
    """Whether a room is kept for valid_unseen."""
    return scene in scenes_of(room_of(scene), unseen=True)
