"""Built-in homes held against the published games: same words, same goals, alike in size."""

import re
from functools import cache
from pathlib import Path

import pytest

from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GameText
from agentquest.benchmarks.alfworld.engine.pddl import read_problem
from agentquest.benchmarks.alfworld.homes.compare import distributions, quantile, side_by_side
from agentquest.benchmarks.alfworld.homes.vocabulary import (
    CLEANABLE,
    COOLABLE,
    HEATABLE,
    OBJECT_TYPES,
    RECEPTACLE_TYPES,
    SLICEABLE,
    TOGGLEABLE,
    VESSELS,
    can_contain,
)
from agentquest.benchmarks.alfworld.task_types import TASK_TYPE_NAMES
from agentquest.errors import DataError
from shared_data import ALFWORLD, needs_alfworld


def plan_length(problem: str) -> int:
    return len(AlfWorldEngine.from_text(GameText(problem, "")).plan().commands)


@cache
def published(task_type: str = "") -> tuple[str, ...]:
    games = sorted(Path(ALFWORLD).glob(f"json_2.1.1/valid_*/{task_type}*/*/game.tw-pddl"))
    return tuple((g.parent / "initial_state.pddl").read_text() for g in games)


@cache
def built_in(task_type: str = "") -> tuple[str, ...]:
    ids = homes.game_ids("valid_seen") + homes.game_ids("valid_unseen")
    return tuple(homes.game(i).problem for i in ids if f"/{task_type}" in i)


@needs_alfworld
def test_what_fits_where_is_exactly_the_published_table() -> None:
    for text in published():
        problem = read_problem(text)
        table = {(f[1], f[2]) for f in problem.facts if f[0] == "cancontain"}
        there = {f[2] for f in problem.facts if f[0] in ("objecttype", "receptacletype")}
        ours = {
            (f"{receptacle}Type".lower(), f"{kind}Type".lower())
            for receptacle in RECEPTACLE_TYPES
            for kind in can_contain(receptacle)
        }
        assert table == {(r, o) for r, o in ours if r in there and o in there}


@needs_alfworld
def test_abilities_are_exactly_the_published_ones() -> None:
    abilities = {
        "isreceptacleobject": VESSELS,
        "cleanable": CLEANABLE,
        "heatable": HEATABLE,
        "coolable": COOLABLE,
        "sliceable": SLICEABLE,
        "toggleable": TOGGLEABLE,
    }
    for text in published():
        problem = read_problem(text)
        kinds = {f[1]: f[2] for f in problem.facts if f[0] == "objecttype"}
        for predicate, able in abilities.items():
            stated = {f[1] for f in problem.facts if f[0] == predicate}
            names = {f"{kind}Type".lower() for kind in able}
            assert stated == {thing for thing, kind in kinds.items() if kind in names}


@needs_alfworld
def test_declared_types_are_the_published_ones() -> None:
    for text in (published()[0], built_in()[0]):
        kinds = read_problem(text).kinds
        for kind, names in (("otype", OBJECT_TYPES), ("rtype", RECEPTACLE_TYPES)):
            declared = {name for name, its_kind in kinds.items() if its_kind == kind}
            assert declared == {f"{name}Type".lower() for name in names}
        plain = {name for name, kind in kinds.items() if kind == "object" and "_bar_" not in name}
        assert plain == {name.lower() for name in OBJECT_TYPES}


@needs_alfworld
@pytest.mark.parametrize("task_type", TASK_TYPE_NAMES)
def test_goals_are_nested_as_the_published_ones(task_type: str) -> None:
    def shape(text: str) -> str:
        formula = str(read_problem(text).goal)
        kinds = dict.fromkeys(re.findall(r"'(\w+type)'(?=\])", formula))
        for number, kind in enumerate(kinds):
            formula = formula.replace(f"'{kind}'", f"type {number}")
        return formula

    assert {shape(text) for text in published(task_type)} == {
        shape(text) for text in built_in(task_type)
    }


# Largest difference of a quartile allowed, per measure: about a sixth of the published range.
TOLERANCE = {
    "receptacles": 5,
    "openable": 4,
    "sharing a spot": 4,
    "objects": 9,
    "target objects": 1,
    "target receptacles": 2,
    "plan length": 1,
}


@needs_alfworld
def test_quartiles_are_near_the_published_ones() -> None:
    ours = distributions(built_in(), plan_length)
    real = distributions(published(), plan_length)
    assert set(ours) == set(real) == set(TOLERANCE)
    for name, tolerance in TOLERANCE.items():
        for percent in (25, 50, 75):
            difference = quantile(ours[name], percent) - quantile(real[name], percent)
            assert abs(difference) <= tolerance, (name, percent, difference)


@needs_alfworld
@pytest.mark.parametrize("task_type", TASK_TYPE_NAMES)
def test_plans_are_as_long_as_the_published_ones(task_type: str) -> None:
    ours = distributions(built_in(task_type), plan_length)["plan length"]
    real = distributions(published(task_type), plan_length)["plan length"]
    assert abs(sum(ours) / len(ours) - sum(real) / len(real)) < 0.5
    assert abs(quantile(ours, 50) - quantile(real, 50)) <= 1


def test_table_shows_both_sides() -> None:
    table = side_by_side({"objects": [1, 2, 3, 4]}, {"objects": [5, 5], "plan length": [3]})
    lines = table.splitlines()
    assert lines[0].split() == ["least", "10%", "25%", "median", "75%", "90%", "most", "mean"]
    assert lines[1].split() == ["objects", "built-in", "1", "1", "1", "2", "3", "4", "4", "2.5"]
    assert lines[2].split() == ["real", *["5"] * 7, "5.0"]
    assert len(lines) == 3


def test_measures_of_a_game_counted_by_hand() -> None:
    text = """(define (problem plan_x) (:domain alfred)
    (:objects agent1 - agent Mug - object MugType - otype DeskLampType - otype ShelfType - rtype
      Mug_bar_1 - object Mug_bar_2 - object DeskLamp_bar_1 - object Shelf_bar_1 - receptacle
      Shelf_bar_2 - receptacle Shelf_bar_3 - receptacle loc_bar_1 - location loc_bar_2 - location)
    (:init (receptacleType Shelf_bar_1 ShelfType) (receptacleType Shelf_bar_2 ShelfType)
      (receptacleType Shelf_bar_3 ShelfType) (openable Shelf_bar_3)
      (receptacleAtLocation Shelf_bar_1 loc_bar_1) (receptacleAtLocation Shelf_bar_2 loc_bar_1)
      (receptacleAtLocation Shelf_bar_3 loc_bar_2) (objectType Mug_bar_1 MugType)
      (objectType Mug_bar_2 MugType) (objectType DeskLamp_bar_1 DeskLampType))
    (:goal (and (exists (?ot - object ?r - receptacle) (and (objectType ?ot DeskLampType)
      (isToggled ?ot) (inReceptacle ?ot ?r)))
      (exists (?o - object ?a - agent) (and (objectType ?o MugType) (holds ?a ?o))))))"""
    assert distributions([text], lambda problem: 7) == {
        "receptacles": [3],
        "openable": [1],
        "sharing a spot": [2],
        "objects": [3],
        "target objects": [2],
        "target receptacles": [1],
        "plan length": [7],
    }


def test_quantiles_are_values_that_occur() -> None:
    assert [quantile([4, 1, 3, 2], percent) for percent in (0, 25, 26, 50, 75, 100)] == [
        1,
        1,
        2,
        2,
        3,
        4,
    ]
    with pytest.raises(DataError, match="no values"):
        quantile([], 50)


def test_a_goal_that_names_nothing_is_refused() -> None:
    made = homes.game(homes.game_ids("valid_seen")[0]).problem
    with pytest.raises(DataError, match="goal names no"):
        distributions([made.partition("(:goal")[0] + "(:goal (and)))"])
