"""A blind search over everything a small game allows, to hold the oracle against.

It knows nothing of tasks: it takes every move that the rules offer, visits
every state there is, and counts back from the winning ones.
"""

from collections import deque

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.rules import Move, Rule, apply, options
from agentquest.benchmarks.alfworld.engine.state import NOTHING, State

_CHANGE_NOTHING = frozenset(
    {Rule.LOOK, Rule.INVENTORY, Rule.HELP, Rule.EXAMINE_OBJECT, Rule.EXAMINE_RECEPTACLE}
)


class StateSpace:
    """All states reachable from a game's present one; none of them is left out."""

    def __init__(self, states: list[State], steps_to_win: list[int | None]) -> None:
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


def _neighbours(game: AlfWorldEngine, state: State) -> list[State]:
    world = game.world
    offered = options(world, state, game.dialect)
    moves = [
        move for group in offered for move in group.values() if move.rule not in _CHANGE_NOTHING
    ]
    moves += [
        Move(Rule.GO, NOTHING, receptacle)
        for receptacle in world.go_commands.values()
        if world.receptacle_locations[receptacle] != (state.location,)
    ]
    return [_key(apply(world, state, move)) for move in moves]


def _distances(
    game: AlfWorldEngine, states: list[State], comes_from: list[list[int]]
) -> list[int | None]:
    distances: list[int | None] = [None] * len(states)
    waiting: deque[int] = deque()
    for number, state in enumerate(states):
        if game.goal.reached(game.world, state):
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


def _key(state: State) -> State:
    """What was once taken from where is only for `look` to tell; leaving it out saves states."""
    return state._replace(left=frozenset())
