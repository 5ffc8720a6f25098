"""A blind search over everything a small game allows, to hold the oracle against.

It knows nothing of tasks: it takes every move that the rules offer, visits
every state there is, and counts back from the winning ones.
"""

from collections import deque

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.rules import KNIVES, Move, Rule, apply
from agentquest.benchmarks.alfworld.engine.state import NOTHING, WorldState
from agentquest.benchmarks.alfworld.engine.world import World

_NOTHING_LEFT: frozenset[tuple[int, int]] = frozenset()


class StateSpace:
    """All states reachable from a game's present one; none of them is left out."""

    def __init__(self, states: list[WorldState], steps_to_win: list[int | None]) -> None:
        self.states = states
        self.steps_to_win = steps_to_win


def explore(game: AlfWorldEngine, limit: int) -> StateSpace | None:
    """Every state and its distance to winning; None when there are more than `limit`."""
    start = _key(game.state)
    numbers = {start: 0}
    states = [start]
    comes_from: list[list[int]] = [[]]
    for here, state in enumerate(states):
        for following in _neighbours(game, state):
            number = numbers.get(following)
            if number is None:
                if len(states) >= limit:
                    return None
                number = numbers[following] = len(states)
                states.append(following)
                comes_from.append([])
            comes_from[number].append(here)
    return StateSpace(states, _distances(game, states, comes_from))


def _neighbours(game: AlfWorldEngine, state: WorldState) -> list[WorldState]:
    world = game.world
    return [_key(apply(world, state, move)) for move in _moves(world, state)]


def _moves(world: World, state: WorldState) -> list[Move]:
    """Every move that changes something, from the rules themselves and not from their words."""
    held = state.held
    moves: list[Move] = []
    goings: dict[int, Move] = {}
    for receptacle, places in enumerate(world.receptacle_locations):
        there = next((place for place in places if place != state.location), None)
        if there is not None:
            goings[there] = Move(Rule.GO, NOTHING, receptacle)
    for receptacle in world.receptacles_at[state.location]:
        inside = state.contents[receptacle]
        within_reach = True
        if world.openable >> receptacle & 1:
            within_reach = bool(state.opened >> receptacle & 1)
            moves.append(Move(Rule.CLOSE if within_reach else Rule.OPEN, NOTHING, receptacle))
        moves += [Move(Rule.USE, o) for o in inside if world.toggleable >> o & 1]
        if held == NOTHING:
            if within_reach:
                able = [o for o in inside if world.pickupable >> o & 1]
                moves += [Move(Rule.TAKE, o, receptacle) for o in able]
            continue
        if within_reach and world.fits(held, receptacle):
            moves.append(Move(Rule.PUT, held, receptacle))
        for kinds, able, rule in (
            (world.cleaners, world.cleanable, Rule.CLEAN),
            ({"microwavetype"}, world.heatable, Rule.HEAT),
            ({"fridgetype"}, world.coolable, Rule.COOL),
        ):
            if world.receptacle_types[receptacle] in kinds and able >> held & 1:
                moves.append(Move(rule, held, receptacle))
    if held != NOTHING and world.object_types[held] in KNIVES:
        here = 1 << state.location
        able = [o for o, places in enumerate(state.places) if places & here]
        moves += [Move(Rule.SLICE, o) for o in able if world.sliceable >> o & 1]
    return [*moves, *goings.values()]


def _distances(
    game: AlfWorldEngine, states: list[WorldState], comes_from: list[list[int]]
) -> list[int | None]:
    distances: list[int | None] = [None] * len(states)
    waiting: deque[int] = deque()
    for number, state in enumerate(states):
        if game.goal.is_reached(game.world, state):
            distances[number] = 0
            waiting.append(number)
    while waiting:
        number = waiting.popleft()
        steps = distances[number]
        assert steps is not None
        for earlier in comes_from[number]:
            if distances[earlier] is None:
                distances[earlier] = steps + 1
                waiting.append(earlier)
    return distances


def _key(state: WorldState) -> WorldState:
    """What was once taken from where is only for `look` to tell; leaving it out saves states."""
    return state._replace(left=_NOTHING_LEFT) if state.left else state
