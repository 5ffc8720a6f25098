"""The map of a home: what the texts of a game say shows on it."""

import re

import pytest

from agentquest.benchmarks.alfworld.benchmark import AlfWorldBenchmark
from agentquest.lib import Moment
from alfworld_worlds import Furniture, SmallWorld, Thing

KITCHEN = SmallWorld(
    furniture=(
        Furniture("Fridge", 1, openable=True),
        Furniture("CounterTop", 2),
        Furniture("Microwave", 3, openable=True),
    ),
    things=(
        Thing("Potato", (1,), ("pickupable", "sliceable", "heatable", "coolable")),
        Thing("Knife", (1,)),
    ),
    task="pick",
    thing="Potato",
    target="Fridge",
)
PUT = {"0.3": "put {} in/on {}", "0.4": "move {} to {}"}


def draw_last(dialect: str, *commands: str) -> dict[str, str]:
    """The cells of the map after these commands: what is in them, without markup."""
    game = KITCHEN.engine(dialect)
    moments = [Moment(game.reset())]
    for command in commands:
        moments.append(Moment(game.step(command), action=command))
        assert "Nothing happens" not in moments[-1].observation, command
    *_, picture = AlfWorldBenchmark.pictures(moments)
    cells = re.findall(r'<span class="place ([^"]*)"><b>([^<]*)</b>([^<]*)</span>', str(picture))
    return {name: f"{kinds}:{content}" for kinds, name, content in cells}


def test_what_is_known_at_the_start(dialect: str) -> None:
    assert draw_last(dialect) == {
        "nothing in hand": "hand:",
        "countertop 1": "unseen:",
        "fridge 1": "unseen:",
        "microwave 1": "unseen:",
    }


def test_sliced_things_show(dialect: str) -> None:
    commands = ["go to countertop 1", "take knife 1 from countertop 1"]
    cells = draw_last(dialect, *commands, "slice potato 1 with knife 1")
    assert cells["countertop 1"] == "seen here: potato 1 (sliced)"
    assert "knife 1 in hand" in cells


@pytest.mark.parametrize(
    ("verb", "device", "shown"),
    [("heat", "microwave 1", "heated"), ("cool", "fridge 1", "cooled")],
)
def test_treated_things_show(dialect: str, verb: str, device: str, shown: str) -> None:
    commands = ["go to countertop 1", "take potato 1 from countertop 1", f"go to {device}"]
    cells = draw_last(dialect, *commands, f"{verb} potato 1 with {device}")
    assert f"potato 1 ({shown}) in hand" in cells
    assert cells["countertop 1"] == "seen: knife 1"


def test_closed_and_empty_places_differ(dialect: str) -> None:
    assert draw_last(dialect, "go to fridge 1")["fridge 1"] == "unseen here: closed"
    opened = draw_last(dialect, "go to fridge 1", "open fridge 1")
    assert opened["fridge 1"] == "seen here: empty"
    closed = draw_last(dialect, "go to fridge 1", "open fridge 1", "close fridge 1")
    assert closed["fridge 1"] == "seen here: closed"


def test_what_was_put_down_shows(dialect: str) -> None:
    commands = ["go to countertop 1", "take potato 1 from countertop 1", "go to fridge 1"]
    put = PUT[dialect].format("potato 1", "fridge 1")
    cells = draw_last(dialect, *commands, "open fridge 1", put)
    assert cells["fridge 1"] == "seen here: potato 1"
    assert "nothing in hand" in cells


def test_any_other_text_leaves_the_map_empty() -> None:
    assert list(AlfWorldBenchmark.pictures([Moment("Hello."), Moment("<b>")])) == [None, None]
