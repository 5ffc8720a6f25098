"""Every built-in game is a well-formed problem that is unsolved, and can be solved."""

import re
from collections import defaultdict
from functools import cache

import pytest

from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GameText
from agentquest.benchmarks.alfworld.homes.layouts import Point, location_name, thing_name

SAMPLE = (
    *homes.game_ids("valid_seen"),
    *homes.game_ids("valid_unseen"),
    *homes.game_ids("valid_train"),
    *homes.game_ids("train")[::25],
)
TOOLS = {
    "pick_clean_then_place_in_recep": ("cleanable", "SinkBasinType"),
    "pick_heat_then_place_in_recep": ("heatable", "MicrowaveType"),
    "pick_cool_then_place_in_recep": ("coolable", "FridgeType"),
}
SIGNATURES = {
    "atLocation": ("agent", "location"),
    "receptacleAtLocation": ("receptacle", "location"),
    "objectAtLocation": ("object", "location"),
    "openable": ("receptacle",),
    "inReceptacle": ("object", "receptacle"),
    "isReceptacleObject": ("object",),
    "inReceptacleObject": ("object", "object"),
    "receptacleType": ("receptacle", "rtype"),
    "canContain": ("rtype", "otype"),
    "objectType": ("object", "otype"),
    "cleanable": ("object",),
    "heatable": ("object",),
    "coolable": ("object",),
    "isCool": ("object",),
    "pickupable": ("object",),
    "toggleable": ("object",),
    "sliceable": ("object",),
}


class Parsed:
    """A plain reading of a problem, independent of the engine's own."""

    def __init__(self, text: str) -> None:
        declared, _, rest = text.partition("(:init")
        init, _, self.goal = rest.partition("(:goal")
        self.declarations = re.findall(r"^\s*(\S+) - (\w+)$", declared, re.MULTILINE)
        self.kinds = dict(self.declarations)
        self.facts = [tuple(fact.split()) for fact in re.findall(r"\(([^()]+)\)", init)]
        self.table = defaultdict(list)
        for name, *arguments in self.facts:
            self.table[name].append(tuple(arguments))


@cache
def parsed(game_id: str) -> Parsed:
    return Parsed(homes.game(game_id).problem)


def engine(game_id: str) -> AlfWorldEngine:
    made = homes.game(game_id)
    return AlfWorldEngine.from_text(GameText(made.problem, made.goal))


def test_texts_are_balanced_and_declare_every_name_once() -> None:
    for game_id in SAMPLE:
        text = homes.game(game_id).problem
        marks = [(found.start(), found.group()) for found in re.finditer(r"[()]", text)]
        depth = 0
        for position, mark in marks:
            depth += 1 if mark == "(" else -1
            assert depth > 0 or position == marks[-1][0], game_id
        assert depth == 0, game_id
        names = [name for name, _ in parsed(game_id).declarations]
        assert len(names) == len(set(names)), game_id


def test_facts_are_typed_and_stated_once() -> None:
    for game_id in SAMPLE:
        problem = parsed(game_id)
        assert len(problem.facts) == len(set(problem.facts)), game_id
        for name, *arguments in problem.facts:
            kinds = tuple(problem.kinds[argument] for argument in arguments)
            assert kinds == SIGNATURES[name], (game_id, name, arguments)


def test_every_thing_is_where_its_receptacle_is() -> None:
    for game_id in SAMPLE:
        problem = parsed(game_id)
        spots = dict(problem.table["receptacleAtLocation"])
        assert set(spots) == {name for name, kind in problem.kinds.items() if kind == "receptacle"}
        where = dict(problem.table["objectAtLocation"])
        inside = defaultdict(list)
        for thing, receptacle in problem.table["inReceptacle"]:
            inside[thing].append(spots[receptacle])
        assert all(where[thing] in places for thing, places in inside.items()), game_id
        loose = set(where) - set(inside)
        typed = dict(problem.table["objectType"])
        free = {t for t in loose if typed[t] not in ("SinkType", "BathtubType")}
        assert not {where[thing] for thing in free} & set(spots.values()), game_id
        ((agent, start),) = problem.table["atLocation"]
        assert agent == "agent1"
        assert start not in {*spots.values(), *where.values()}, game_id


def test_the_task_is_possible_and_not_yet_done() -> None:
    for game_id in SAMPLE:
        _, folder, _ = game_id.split("/")
        task_type, thing, _, target, _ = folder.split("-")
        problem = parsed(game_id)
        typed = dict(problem.table["objectType"])
        receptacles = dict(problem.table["receptacleType"])
        copies = [name for name, kind in typed.items() if kind == f"{thing}Type"]
        held = [pair for pair in problem.table["inReceptacle"] if pair[0] in copies]
        assert len({name for name, _ in held}) >= 1 + (task_type == "pick_two_obj_and_place")
        assert {(name,) for name in copies} <= set(problem.table["pickupable"])
        if task_type == "look_at_obj_in_light":
            lamps = {name for name, kind in typed.items() if kind == f"{target}Type"}
            lit = lamps & {name for name, _ in problem.table["inReceptacle"]}
            assert lit <= {name for (name,) in problem.table["toggleable"]}
            assert lit, game_id
            continue
        assert (f"{target}Type", f"{thing}Type") in problem.table["canContain"], game_id
        assert f"{target}Type" in receptacles.values(), game_id
        if task_type in TOOLS:
            ability, tool = TOOLS[task_type]
            assert {(name,) for name in copies} <= set(problem.table[ability])
            assert tool in receptacles.values()
            assert tool not in {receptacles[place] for _, place in held}, game_id
        else:
            assert f"{target}Type" not in {receptacles[place] for _, place in held}, game_id


@pytest.mark.parametrize("split", ["valid_seen", "valid_unseen", "valid_train"])
def test_the_oracle_wins_every_game(split: str) -> None:
    for game_id in homes.game_ids(split):
        play = engine(game_id)
        play.reset()
        plan = play.plan()
        assert not play.won, game_id
        assert plan.reachable, game_id
        for command in plan.commands:
            assert command in play.admissible
            play.step(command)
        assert play.won, game_id


def test_rooms_have_the_oddities_of_the_real_ones() -> None:
    """Spots shared by receptacles, things in two receptacles, things out of reach, nested ones."""
    found = dict.fromkeys(("shared", "double", "loose", "nested", "cool"), 0)
    for game_id in SAMPLE:
        table = parsed(game_id).table
        spots = [spot for _, spot in table["receptacleAtLocation"]]
        held = [thing for thing, _ in table["inReceptacle"]]
        found["shared"] += len(spots) > len(set(spots))
        found["double"] += len(held) > len(set(held))
        found["loose"] += any(thing not in held for (thing,) in table["pickupable"])
        found["nested"] += bool(table["inReceptacleObject"])
        found["cool"] += bool(table["isCool"])
    share = {name: count / len(SAMPLE) for name, count in found.items()}
    assert share["shared"] > 0.4
    assert share["double"] > 0.15
    assert share["loose"] > 0.4
    assert 0.05 < share["nested"] < 0.25
    assert 0.01 < share["cool"] < 0.2


@pytest.mark.parametrize(
    ("kind", "at", "expected"),
    [
        ("Apple", Point(20, 95, -133), "Apple|+00.20|+00.95|-01.33"),
        ("Mug", Point(0, 5, -5), "Mug|00.00|+00.05|-00.05"),
        ("SinkBasin", Point(-190, 97, 1250), "Sink|-01.90|+00.97|+12.50|SinkBasin"),
    ],
)
def test_names_of_things(kind: str, at: Point, expected: str) -> None:
    mangled = {"|": "_bar_", "+": "_plus_", "-": "_minus_", ".": "_dot_"}
    assert thing_name(kind, at) == "".join(mangled.get(mark, mark) for mark in expected)


def test_names_of_places() -> None:
    assert location_name(-3, 0, 2, -30) == "loc_bar__minus_3_bar_0_bar_2_bar__minus_30"
