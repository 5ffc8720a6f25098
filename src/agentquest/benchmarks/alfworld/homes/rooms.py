"""What the four kinds of room are made of, as frequencies.

The figures are rounded frequencies measured over the rooms of the real
benchmark, so that built-in games are about as full, and their things about as
hidden, as the real ones (see `compare`).

`FURNITURE`: how many of each receptacle a room has; one number is drawn per room.
`FITTINGS`: the same (one digit drawn per room) for things that cannot be picked up, and the
weighted places where they are. A place `-` means that the thing stands by itself. A thing
without any place is only named.
`STOCK`: things that can be picked up. `share` is the share of rooms that have the thing at all
(a room always has the same things), `copies` how many (one digit drawn per game), `places` the
weighted receptacles; `-` is out of reach.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

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
# Of the cabinets and drawers of one room, the share that has a door: one drawn per room. In rooms
# that are not listed all have one.
OPENABLE_SHARES: dict[str, dict[str, tuple[float, ...]]] = {
    "Cabinet": {"kitchen": (1.0, 1.0, 1.0, 0.85, 0.7, 0.5)},
    "Drawer": {
        "kitchen": (1.0, 1.0, 1.0, 0.8, 0.5, 0.0),
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
    return {place: int(weight) for place, weight in pairs}


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


class Stock(NamedTuple):
    """How often a thing is found, and where; see the top of this module."""

    share: float
    copies: str
    places: str


_STOCK = {
    "kitchen": """
    Apple 1 123 DiningTable:4 Fridge:4 CounterTop:4 SinkBasin:3 Microwave:2 SideTable:2 GarbageCan:2
    Book 0.1 1123 DiningTable:9 CounterTop:8 Cabinet:2 Drawer:1
    Bowl 1 123 Cabinet:6 Fridge:5 DiningTable:4 CounterTop:3 SideTable:2 Shelf:1
    Bread 1 11223 DiningTable:9 CounterTop:9 Fridge:2 SideTable:1
    ButterKnife 1 123 CounterTop:9 DiningTable:8 Drawer:1 SinkBasin:1 -:1
    CellPhone 0.15 123 DiningTable:9 CounterTop:6 Drawer:4 Shelf:2
    CreditCard 0.1 123 Drawer:6 CounterTop:6 Shelf:5 -:1
    Cup 1 1112223334 DiningTable:4 Cabinet:4 CounterTop:3 Fridge:3 SinkBasin:2 SideTable:2 Shelf:1
        Microwave:1
    DishSponge 1 123 DiningTable:5 CounterTop:4 Cabinet:4 Drawer:4 SinkBasin:1 GarbageCan:1
        SideTable:1
    Egg 1 1123 CounterTop:5 Fridge:4 DiningTable:4 SinkBasin:2 GarbageCan:2 Microwave:2 SideTable:1
    Fork 1 123 CounterTop:7 DiningTable:7 Drawer:3 SideTable:2 SinkBasin:1
    Glassbottle 0.25 1123 Cabinet:6 CounterTop:5 DiningTable:5 Shelf:1 SinkBasin:1 Fridge:1
        GarbageCan:1
    Kettle 0.45 1123 StoveBurner:7 CounterTop:6 Cabinet:3 DiningTable:3
    Knife 1 123 CounterTop:8 DiningTable:6 Drawer:3 SideTable:1 SinkBasin:1 -:1
    Ladle 0.35 112 CounterTop:9 DiningTable:5 Cabinet:4 Drawer:2
    Lettuce 1 11223 DiningTable:8 CounterTop:7 Fridge:4 SinkBasin:1 SideTable:1
    Mug 1 112233 CounterTop:3 DiningTable:3 Fridge:3 SideTable:3 Cabinet:2 Microwave:2
        CoffeeMachine:3 Shelf:2 SinkBasin:1 -:1
    Pan 1 1112 StoveBurner:9 CounterTop:6 DiningTable:2 Cabinet:1 Fridge:1
    PaperTowelRoll 0.35 1 CounterTop:6 SideTable:5 DiningTable:4 GarbageCan:2
    PepperShaker 1 123 CounterTop:5 SideTable:4 Shelf:3 DiningTable:3 Cabinet:3 Drawer:2
    Plate 1 112233 Cabinet:7 DiningTable:5 CounterTop:4 Shelf:2 Fridge:1 SinkBasin:1 -:1
    Pot 1 11122 StoveBurner:14 CounterTop:2 DiningTable:2 Shelf:1 Fridge:1 Cabinet:1
    Potato 1 1123 CounterTop:6 Fridge:5 DiningTable:3 SideTable:2 Microwave:2 SinkBasin:2
        GarbageCan:1
    SaltShaker 1 123 Cabinet:5 CounterTop:5 DiningTable:4 Drawer:3 Shelf:1 SideTable:1
    SoapBottle 1 123 DiningTable:5 CounterTop:4 Cabinet:4 SideTable:4 Shelf:1 GarbageCan:2
    Spatula 1 1223 CounterTop:8 DiningTable:6 Drawer:3 SinkBasin:2 -:1
    Spoon 1 123 CounterTop:5 DiningTable:4 Drawer:4 SideTable:3 SinkBasin:2 -:1
    SprayBottle 0.1 12 Cabinet:8 DiningTable:6 CounterTop:4 GarbageCan:2
    Statue 0.15 112 Shelf:10 CounterTop:7 DiningTable:3
    Tomato 1 1112223334 DiningTable:5 Fridge:5 CounterTop:5 SideTable:3 GarbageCan:1 SinkBasin:1
    Vase 0.15 23 Cabinet:8 Shelf:6 CounterTop:5
    WineBottle 0.35 1123 CounterTop:5 Cabinet:5 DiningTable:5 Shelf:2 GarbageCan:1 Fridge:1""",
    "living": """
    Book 0.3 1123 Dresser:5 SideTable:4 CoffeeTable:3 DiningTable:3 Sofa:1 ArmChair:1 Drawer:1
    Boots 0.2 1 -:1
    Bowl 0.2 112 DiningTable:10 CoffeeTable:4
    Box 1 1112 Desk:5 DiningTable:4 Sofa:2 CoffeeTable:2 Dresser:1 Cabinet:1 SideTable:1 -:1
    CellPhone 0.35 123 Drawer:5 ArmChair:3 Desk:2 Dresser:2 Shelf:2 Sofa:1 Safe:1 DiningTable:1
        CoffeeTable:1
    CreditCard 1 12223 Dresser:3 SideTable:2 CoffeeTable:2 Sofa:2 DiningTable:2 ArmChair:2 Shelf:2
        Desk:2 Ottoman:1 Drawer:1 TVStand:1
    KeyChain 1 12233 Dresser:3 Drawer:3 CoffeeTable:2 DiningTable:2 TVStand:2 Safe:1 Sofa:1
        SideTable:1 ArmChair:1 -:2
    Laptop 1 11123 CoffeeTable:5 Sofa:4 DiningTable:4 Dresser:3 ArmChair:1 SideTable:1
    Newspaper 0.6 1123 DiningTable:4 Dresser:4 Sofa:3 SideTable:3 Shelf:2 ArmChair:2 CoffeeTable:1
        Cabinet:1
    Pen 0.15 123 SideTable:8 Drawer:5 DiningTable:4 CoffeeTable:2
    Pencil 0.2 123 SideTable:9 CoffeeTable:8 GarbageCan:2
    Pillow 1 1112 Sofa:15 ArmChair:5
    Plate 0.35 1123 DiningTable:9 CoffeeTable:5 Shelf:3 SideTable:1
    RemoteControl 1 12233 Dresser:4 CoffeeTable:3 Sofa:3 SideTable:2 Desk:2 DiningTable:2 Shelf:1
        Drawer:1 ArmChair:1
    Statue 0.95 12233 DiningTable:4 Shelf:4 Dresser:3 TVStand:3 SideTable:3 CoffeeTable:3
    TissueBox 0.4 123 DiningTable:5 TVStand:4 Cabinet:3 SideTable:3 CoffeeTable:1 Dresser:1
    Vase 0.6 122334 Shelf:7 DiningTable:3 Dresser:2 CoffeeTable:2 SideTable:1 Cabinet:1 Desk:1
        Safe:1
    Watch 0.55 123 DiningTable:4 TVStand:3 Shelf:3 Safe:3 SideTable:2 CoffeeTable:2 Drawer:1
        Dresser:1
    WateringCan 0.45 1 -:10 Shelf:5 CoffeeTable:3""",
    "bedroom": """
    AlarmClock 1 1123 Desk:4 Dresser:4 DiningTable:4 SideTable:4 Shelf:3
    BaseballBat 0.5 1 -:1
    BasketBall 0.45 1 -:1
    Book 1 1123 Bed:6 CounterTop:4 Desk:3 ArmChair:2 DiningTable:2 Drawer:1 Dresser:1
    Boots 0.15 1 -:1
    Bowl 0.5 1123 DiningTable:7 Desk:5 Shelf:4 CounterTop:2 SideTable:1
    Box 0.5 1 -:15 Shelf:3 Desk:2
    CD 1 1233 DiningTable:4 Drawer:3 Desk:3 Dresser:2 SideTable:2 Cabinet:2 Shelf:1 GarbageCan:1 -:2
    CellPhone 1 123 DiningTable:3 Bed:3 Dresser:3 CounterTop:3 Desk:3 Drawer:2 SideTable:2 Safe:1
    CreditCard 1 1233 Drawer:5 ArmChair:4 DiningTable:3 CounterTop:2 Desk:2 SideTable:1 Shelf:1
        Dresser:1
    KeyChain 1 1123 Desk:3 DiningTable:3 Shelf:3 Drawer:2 Safe:2 Dresser:2 ArmChair:2 SideTable:1
        -:1
    Laptop 1 112 Bed:10 Desk:4 DiningTable:2 CounterTop:2 ArmChair:2
    Mug 0.65 1123 DiningTable:5 Cabinet:4 Desk:3 Shelf:3 CounterTop:2 SideTable:1 Dresser:1
    Pen 1 1123 DiningTable:5 Desk:3 Shelf:3 CounterTop:3 Dresser:2 SideTable:2 Drawer:2
    Pencil 1 1233 DiningTable:4 Dresser:4 Desk:3 Shelf:3 SideTable:2 Drawer:2 GarbageCan:1
    Pillow 1 11223 Bed:1
    RemoteControl 0.1 23 Desk:8 DiningTable:5 SideTable:3 Dresser:1 Drawer:1
    Statue 0.15 112 Shelf:12 SideTable:8
    TeddyBear 0.35 1 Bed:5 -:1
    TennisRacket 0.4 1 -:1
    TissueBox 0.15 13 Desk:14 Drawer:3 Shelf:3
    Vase 0.1 123 Shelf:7 Desk:6 SideTable:4 Dresser:2
    Watch 0.1 12 Dresser:11 Shelf:4 SideTable:4 DiningTable:2""",
    "bathroom": """
    Candle 1 12233 Cabinet:4 Shelf:3 CounterTop:3 Drawer:3 Toilet:3 SideTable:2 Dresser:1 -:1
    Cloth 1 11223 Cabinet:5 BathtubBasin:4 Cart:3 Drawer:3 Shelf:2 CounterTop:2
    DishSponge 0.2 1233 BathtubBasin:5 Cart:3 Shelf:2 CounterTop:2 Toilet:2 SinkBasin:2 Drawer:1
        Cabinet:1 -:1
    HandTowel 1 1112 HandTowelHolder:1
    PaperTowelRoll 0.2 1 CounterTop:9 Toilet:6 GarbageCan:4
    Plunger 1 1 -:1
    ScrubBrush 1 1 -:1
    SoapBar 1 1112233 Shelf:4 CounterTop:3 SinkBasin:2 Drawer:2 Toilet:2 BathtubBasin:2 Cabinet:2
        GarbageCan:1 -:1
    SoapBottle 1 1223 Dresser:4 CounterTop:4 Shelf:3 Cabinet:3 Toilet:2 Cart:2 GarbageCan:1
        Drawer:1 -:1
    SprayBottle 1 12233 SideTable:4 Dresser:3 Cart:3 Cabinet:3 CounterTop:2 Shelf:2 Toilet:2
        GarbageCan:1
    TissueBox 0.25 1233 SideTable:7 Shelf:4 CounterTop:3 Cabinet:3 Drawer:2
    ToiletPaper 1 22223 Cabinet:3 Drawer:2 Shelf:2 Cart:2 CounterTop:2 Toilet:2 ToiletPaperHanger:2
        GarbageCan:1 Dresser:1 -:2
    Towel 1 1112 TowelHolder:1""",
}


def _read_stock(table: str) -> dict[str, Stock]:
    """A line for each thing: its name, share, copies and places."""
    lines = table.replace("\n        ", " ").strip().splitlines()
    rows = (line.split(maxsplit=3) for line in lines)
    return {kind: Stock(float(share), copies, places) for kind, share, copies, places in rows}


STOCK = {room: _read_stock(table) for room, table in _STOCK.items()}
