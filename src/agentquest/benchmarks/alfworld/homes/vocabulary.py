"""ALFRED's vocabulary: which things there are, what they can do and where they fit.

These are the facts that every ALFWorld problem states about its types, so that an agent
meets the same rules in the built-in homes.
"""

from functools import cache

from agentquest.benchmarks.alfworld.task_types import TASK_TYPE_NAMES

PICK, LOOK, CLEAN, HEAT, COOL, TWO = TASK_TYPE_NAMES


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


OBJECT_TYPES = _words(
    """
    AlarmClock Apple BaseballBat BasketBall Bathtub Blinds Book Boots Bowl Box Bread ButterKnife CD
    Candle CellPhone Chair Cloth CreditCard Cup Curtains DeskLamp DishSponge Egg FloorLamp Footstool
    Fork Glassbottle HandTowel HousePlant Kettle KeyChain Knife Ladle Laptop LaundryHamperLid
    Lettuce LightSwitch Mirror Mug Newspaper Painting Pan PaperTowel PaperTowelRoll Pen Pencil
    PepperShaker Pillow Plate Plunger Poster Pot Potato RemoteControl SaltShaker ScrubBrush
    ShowerDoor ShowerGlass Sink SoapBar SoapBottle Spatula Spoon SprayBottle Statue StoveKnob
    TeddyBear Television TennisRacket TissueBox ToiletPaper ToiletPaperRoll Tomato Towel Vase Watch
    WateringCan Window WineBottle
    """
)

# Parts of a room that are named in a problem but have neither a type nor a place.
UNTYPED = frozenset({"Faucet", "Lamp", "ShowerCurtain", "ShowerHead"})

VESSELS = frozenset(_words("Bowl Box Cup Mug Pan Plate Pot"))
_CLEANABLE = (
    "Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Kettle Knife Ladle Lettuce Mug Pan Plate"
    " Pot Potato SoapBar Spatula Spoon Tomato"
)
CLEANABLE = frozenset(_words(_CLEANABLE))
HEATABLE = frozenset(_words("Apple Bread Cup Egg Mug Plate Potato Tomato"))
COOLABLE = frozenset(
    _words("Apple Bowl Bread Cup Egg Lettuce Mug Pan Plate Pot Potato Tomato WineBottle")
)
SLICEABLE = frozenset(_words("Apple Bread Egg Lettuce Potato Tomato"))
TOGGLEABLE = frozenset({"DeskLamp", "FloorLamp"})

# What a task needs of its object, and the receptacle that brings it about.
NEEDED_PROPERTY = {CLEAN: CLEANABLE, HEAT: HEATABLE, COOL: COOLABLE}
TOOL = {CLEAN: "SinkBasin", HEAT: "Microwave", COOL: "Fridge"}

# A basin is named after the object that it is part of.
BASIN_OF = {"SinkBasin": "Sink", "BathtubBasin": "Bathtub"}

_SEATS = "Book Box CellPhone CreditCard KeyChain Laptop Newspaper Pillow RemoteControl"
_CAN_CONTAIN = {
    "ArmChair": _SEATS,
    "BathtubBasin": "Cloth DishSponge HandTowel SoapBar",
    "Bed": "BaseballBat BasketBall Book CellPhone Laptop Pillow TennisRacket",
    "Cabinet": "Book Bowl Box CD Candle Cloth Cup DishSponge Glassbottle HandTowel Kettle Ladle Mug"
    " Newspaper Pan PepperShaker Plate Plunger Pot SaltShaker SoapBar SoapBottle SprayBottle"
    " TissueBox ToiletPaper Vase WateringCan WineBottle",
    "Cart": "Candle Cloth DishSponge HandTowel Plunger SoapBar SoapBottle SprayBottle ToiletPaper",
    "CoffeeMachine": "Mug",
    "CoffeeTable": "Book Bowl Box Candle CellPhone CreditCard KeyChain Laptop Newspaper Pen Pencil"
    " Plate RemoteControl Statue TissueBox Vase Watch WateringCan",
    "CounterTop": "AlarmClock Apple Book Bowl Bread ButterKnife CD Candle CellPhone Cloth"
    " CreditCard Cup DishSponge Egg Fork Glassbottle HandTowel Kettle KeyChain Knife Ladle Laptop"
    " Lettuce Mug Pan Pen Pencil PepperShaker Plate Pot Potato RemoteControl SaltShaker SoapBar"
    " SoapBottle Spatula Spoon SprayBottle Statue TissueBox ToiletPaper Tomato Vase WineBottle",
    "Desk": "AlarmClock BasketBall Book Bowl Box CD CellPhone Cloth CreditCard KeyChain Laptop Mug"
    " Pen Pencil RemoteControl Statue TennisRacket TissueBox Vase Watch WateringCan",
    "DiningTable": "AlarmClock Apple BaseballBat BasketBall Book Bowl Box Bread ButterKnife CD"
    " Candle CellPhone Cloth CreditCard Cup DishSponge Egg Fork Glassbottle Kettle KeyChain Knife"
    " Ladle Laptop Lettuce Mug Newspaper Pan Pen Pencil PepperShaker Plate Pot Potato RemoteControl"
    " SaltShaker SoapBottle Spatula Spoon SprayBottle Statue TennisRacket TissueBox Tomato Vase"
    " Watch WateringCan WineBottle",
    "Drawer": "Book ButterKnife CD Candle CellPhone Cloth CreditCard DishSponge Fork HandTowel"
    " KeyChain Knife Ladle Newspaper Pen Pencil PepperShaker RemoteControl SaltShaker SoapBar"
    " SoapBottle Spatula Spoon SprayBottle TissueBox ToiletPaper Watch WateringCan",
    "Dresser": "AlarmClock BasketBall Book Bowl Box CD Candle CellPhone Cloth CreditCard KeyChain"
    " Laptop Mug Newspaper Pen Pencil Plate RemoteControl SprayBottle Statue TennisRacket TissueBox"
    " ToiletPaper Vase Watch WateringCan",
    "Fridge": "Apple Bowl Bread Cup Egg Glassbottle Lettuce Mug Pan Plate Pot Potato Tomato"
    " WineBottle",
    "GarbageCan": "Apple Bread CD Cloth DishSponge Egg HandTowel Lettuce Newspaper Pen Pencil"
    " Potato SoapBar SoapBottle SprayBottle TissueBox ToiletPaper Tomato WineBottle",
    "HandTowelHolder": "HandTowel",
    "LaundryHamper": "",
    "Microwave": "Apple Bowl Bread Cup Egg Glassbottle Mug Plate Potato Tomato",
    "Ottoman": _SEATS,
    "PaintingHanger": "",
    "Safe": "CD CellPhone CreditCard KeyChain Statue Vase Watch",
    "Shelf": "AlarmClock Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup DishSponge"
    " Glassbottle HandTowel Kettle KeyChain Mug Newspaper Pen Pencil PepperShaker Plate Pot"
    " RemoteControl SaltShaker SoapBar SoapBottle SprayBottle Statue TissueBox ToiletPaper Vase"
    " Watch WateringCan WineBottle",
    "SideTable": "AlarmClock Apple BaseballBat BasketBall Book Bowl Box Bread ButterKnife CD Candle"
    " CellPhone Cloth CreditCard Cup DishSponge Egg Fork HandTowel Kettle KeyChain Knife Laptop"
    " Lettuce Mug Newspaper Pan Pen Pencil PepperShaker Plate Pot Potato RemoteControl SaltShaker"
    " SoapBar SoapBottle Spatula Spoon SprayBottle Statue TennisRacket TissueBox ToiletPaper Tomato"
    " Vase Watch WateringCan WineBottle",
    "SinkBasin": "Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Glassbottle HandTowel Kettle"
    " Knife Ladle Lettuce Mug Pan Plate Pot Potato SoapBar Spatula Spoon Tomato",
    "Sofa": _SEATS,
    "StoveBurner": "Kettle Pan Pot",
    "TVStand": "TissueBox",
    "Toaster": "",
    "Toilet": "Candle Cloth DishSponge HandTowel SoapBar SoapBottle SprayBottle TissueBox"
    " ToiletPaper",
    "ToiletPaperHanger": "ToiletPaper",
    "TowelHolder": "Towel",
}
RECEPTACLE_TYPES = tuple(_CAN_CONTAIN)


@cache
def can_contain(receptacle: str) -> tuple[str, ...]:
    """The object types that may be put into a receptacle type; some take nothing."""
    return _words(_CAN_CONTAIN[receptacle])
