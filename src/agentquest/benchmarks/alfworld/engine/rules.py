"""What the agent may do in a state, and how it changes the state.

`options` maps each admissible command, except for the many `go to …`, to a move; `apply`
carries out a move. The words of commands depend on the dialect, the rules do not.
"""

from enum import Enum, auto
from functools import partial
from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.state import NOTHING, WorldState
from agentquest.benchmarks.alfworld.engine.world import World

KNIVES = frozenset({"knifetype", "butterknifetype"})
_HEATERS = frozenset({"microwavetype"})
_COOLERS = frozenset({"fridgetype"})


class Rule(Enum):
    """The kinds of command, whatever their words in a dialect."""

    GO = auto()
    OPEN = auto()
    CLOSE = auto()
    TAKE = auto()
    PUT = auto()
    CLEAN = auto()
    HEAT = auto()
    COOL = auto()
    SLICE = auto()
    USE = auto()
    EXAMINE_OBJECT = auto()
    EXAMINE_RECEPTACLE = auto()
    LOOK = auto()
    INVENTORY = auto()
    HELP = auto()


class Move(NamedTuple):
    """A rule and what it is applied to; unused numbers are NOTHING."""

    rule: Rule
    thing: int = NOTHING
    receptacle: int = NOTHING


class Options(NamedTuple):
    """Admissible moves that sort before and behind the `go to …` commands."""

    before: dict[str, Move]
    behind: dict[str, Move]


# Several are made at every step, and the constructors of the classes take twice as long.
_move = partial(tuple.__new__, Move)
_state = partial(tuple.__new__, WorldState)

NO_OPTIONS = Options({}, {})
"""For a `go to`, which needs no options."""
_ALWAYS = {"inventory": Move(Rule.INVENTORY), "look": Move(Rule.LOOK)}
_ALWAYS_WITH_HELP = {"help": Move(Rule.HELP), **_ALWAYS}


def options(world: World, state: WorldState, dialect: Dialect) -> Options:
    """Every admissible command but `go to …`, with the move that it makes."""
    before: dict[str, Move] = {}
    behind = dict(_ALWAYS_WITH_HELP if dialect.has_help else _ALWAYS)
    held = state.held
    names = world.object_names
    for receptacle in world.receptacles_at[state.location]:
        name = world.receptacle_names[receptacle]
        before[f"examine {name}"] = _move((Rule.EXAMINE_RECEPTACLE, NOTHING, receptacle))
        if world.openable >> receptacle & 1:
            if state.opened >> receptacle & 1:
                before[f"close {name}"] = _move((Rule.CLOSE, NOTHING, receptacle))
                visible = True
            else:
                behind[f"open {name}"] = _move((Rule.OPEN, NOTHING, receptacle))
                visible = False
        else:
            visible = True
        for thing in state.contents[receptacle]:
            if visible and held < 0 and world.pickupable >> thing & 1:
                behind[f"take {names[thing]} from {name}"] = _move((Rule.TAKE, thing, receptacle))
            if world.toggleable >> thing & 1:
                behind[f"use {names[thing]}"] = _move((Rule.USE, thing, NOTHING))
        if held >= 0:
            if visible and world.fits(held, receptacle):
                behind[dialect.put(names[held], name)] = _move((Rule.PUT, held, receptacle))
            _treatments(world, held, receptacle, before, behind)
    if held >= 0:
        # Because of a stray comma in the published rules, only the held object can be examined.
        before[f"examine {names[held]}"] = _move((Rule.EXAMINE_OBJECT, held, NOTHING))
        if world.object_types[held] in KNIVES:
            _slicing(world, state, behind)
    return Options(before, behind)


def find(world: World, state: WorldState, offered: Options, command: str) -> Move | None:
    """The move that an admissible command makes; None for any other text."""
    receptacle = world.go_commands.get(command)
    if receptacle is not None:
        here = world.receptacle_locations[receptacle] == (state.location,)
        return None if here else _move((Rule.GO, NOTHING, receptacle))
    return offered.behind.get(command) or offered.before.get(command)


def command_of(world: World, state: WorldState, move: Move, dialect: Dialect) -> str | None:
    """The command that makes a move; None if it is not admissible."""
    if move.rule is Rule.GO:
        command = f"go to {world.receptacle_names[move.receptacle]}"
        return command if find(world, state, NO_OPTIONS, command) == move else None
    before, behind = options(world, state, dialect)
    possible = (*behind.items(), *before.items())
    return next((command for command, makes in possible if makes == move), None)


def _treatments(
    world: World, held: int, receptacle: int, before: dict[str, Move], behind: dict[str, Move]
) -> None:
    kind = world.receptacle_types[receptacle]
    if kind in world.cleaners and world.cleanable >> held & 1:
        before[_treatment(world, Rule.CLEAN, held, receptacle)] = Move(Rule.CLEAN, held, receptacle)
    elif kind in _COOLERS and world.coolable >> held & 1:
        before[_treatment(world, Rule.COOL, held, receptacle)] = Move(Rule.COOL, held, receptacle)
    elif kind in _HEATERS and world.heatable >> held & 1:
        behind[_treatment(world, Rule.HEAT, held, receptacle)] = Move(Rule.HEAT, held, receptacle)


def tools(world: World, rule: Rule, thing: int) -> list[int]:
    """The receptacles that can clean, heat or cool an object."""
    able, kinds = {
        Rule.CLEAN: (world.cleanable, world.cleaners),
        Rule.HEAT: (world.heatable, _HEATERS),
        Rule.COOL: (world.coolable, _COOLERS),
    }[rule]
    if not able >> thing & 1:
        return []
    return [r for r, kind in enumerate(world.receptacle_types) if kind in kinds]


def _treatment(world: World, rule: Rule, thing: int, receptacle: int) -> str:
    """The command that cleans, heats or cools a thing."""
    verb = rule.name.lower()
    return f"{verb} {world.object_names[thing]} with {world.receptacle_names[receptacle]}"


def _slicing(world: World, state: WorldState, behind: dict[str, Move]) -> None:
    knife = world.object_names[state.held]
    here = 1 << state.location
    for thing, places in enumerate(state.places):
        if places & here and world.sliceable >> thing & 1:
            behind[f"slice {world.object_names[thing]} with {knife}"] = Move(Rule.SLICE, thing)


def apply(world: World, state: WorldState, move: Move) -> WorldState:
    """The state after a move that `options` (or a `go to`) offered."""
    rule, thing, receptacle = move
    bit = 1 << thing if thing >= 0 else 0
    match rule:
        case Rule.GO:
            return _state((destination(world, state, receptacle), *state[1:]))
        case Rule.OPEN:
            return state._replace(opened=state.opened | 1 << receptacle)
        case Rule.CLOSE:
            return state._replace(opened=state.opened & ~(1 << receptacle))
        case Rule.TAKE:
            return _take(state, thing, receptacle)
        case Rule.PUT:
            return _put(state, thing, receptacle)
        case Rule.CLEAN:
            return state._replace(clean=state.clean | bit)
        case Rule.HEAT:
            return state._replace(hot=state.hot | bit, cool=state.cool & ~bit)
        case Rule.COOL:
            return state._replace(cool=state.cool | bit, hot=state.hot & ~bit)
        case Rule.SLICE:
            return state._replace(sliced=state.sliced | bit)
        case Rule.USE:
            return state._replace(toggled=state.toggled | bit)
        case _:
            return state


def destination(world: World, state: WorldState, receptacle: int) -> int:
    """Where `go to` leads: from one location of a receptacle to its other one, if it has two."""
    places = world.receptacle_locations[receptacle]
    return places[0] if places[0] != state.location else places[1]


def _take(state: WorldState, thing: int, receptacle: int) -> WorldState:
    inside = tuple([other for other in state.contents[receptacle] if other != thing])
    return state._replace(
        held=thing,
        contents=_with(state.contents, receptacle, inside),
        places=_with(state.places, thing, state.places[thing] & ~(1 << state.location)),
        left=state.left | {(thing, receptacle)},
    )


def _put(state: WorldState, thing: int, receptacle: int) -> WorldState:
    inside = tuple(sorted({*state.contents[receptacle], thing}))
    return state._replace(
        held=NOTHING,
        contents=_with(state.contents, receptacle, inside),
        places=_with(state.places, thing, state.places[thing] | 1 << state.location),
        left=state.left - {(thing, receptacle)},
    )


def _with(values: tuple, index: int, value: object) -> tuple:  # type: ignore[type-arg]
    return (*values[:index], value, *values[index + 1 :])
