"""What a plan may have to touch: the part of a game that an exact search looks at.

Things that the goal does not name never have to be moved, except for one that is in the hand
from the start: a winning plan still wins without the moves of such a thing. Of the others,
what is no better than something else is left out (see places.py for places, and for things
that lie alone at one).
"""

from collections import Counter
from collections.abc import Iterable

from agentquest.benchmarks.alfworld.engine.goals import Goal, Item
from agentquest.benchmarks.alfworld.engine.rules import KNIVES, Rule, tools
from agentquest.benchmarks.alfworld.engine.state import NOTHING, State
from agentquest.benchmarks.alfworld.engine.world import World

# Of equal knives, one may be left where the next one would have to be fetched.
KNIVES_ALIKE = 2


def members(mask: int) -> list[int]:
    """The numbers of the bits that are set, in rising order."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def treatment_of(item: Item) -> Rule | None:
    """What must be done to the object that the goal asks for, other than slicing."""
    if item.clean:
        return Rule.CLEAN
    if item.hot:
        return Rule.HEAT
    return Rule.COOL if item.cool else None


class Relevant:
    """The relevant things, and the state without all others."""

    def __init__(self, world: World, state: State, goal: Goal) -> None:
        self.world = world
        self.goal = goal
        self.item = goal.item
        self.count = goal.place.count if goal.place is not None else 1
        self.targets: frozenset[int] = frozenset(goal.place.receptacles if goal.place else ())
        self.treatment = treatment_of(goal.item)
        self.positions = find_positions(state)
        kinds = enumerate(world.object_types)
        knives = [o for o, kind in kinds if kind in KNIVES] if goal.item.sliced else []
        # Of equally short plans the first one is kept. People expect the lowest numbers, which
        # the things with the highest ids have.
        self.things = self._unlike(state, members(goal.item.things)[::-1], self.count)
        self.knives = self._unlike(state, knives[::-1], KNIVES_ALIKE)
        self.lamps = members(goal.lamps)[::-1]
        self.held = [] if state.held == NOTHING else [state.held]
        self.tools = {
            o: frozenset(tools(world, self.treatment, o) if self.treatment else ())
            for o in self.things
        }
        self.simple = not world.has_double_places
        """Whether every place is one step from every other."""
        self.start = self._without_the_rest(state)

    @property
    def objects(self) -> list[int]:
        """Every relevant thing once: what is held, what the goal asks for, knives and lamps."""
        return list(dict.fromkeys([*self.held, *self.things, *self.knives, *self.lamps]))

    def leave_out(self, things: Iterable[int]) -> None:
        """Remove some things from the search."""
        without = frozenset(things)
        self.things = [o for o in self.things if o not in without]
        self.knives = [o for o in self.knives if o not in without]
        self.start = self._without_the_rest(self.start)

    def sort_of(self, state: State, thing: int) -> tuple[object, ...]:
        """Everything relevant about a thing except for where it is."""
        world = self.world
        facts = (
            world.pickupable, world.cleanable, world.heatable, world.coolable,
            world.sliceable, world.toggleable,
            state.clean, state.hot, state.cool, state.sliced, state.toggled,
        )  # fmt: skip
        return (
            thing == state.held,
            world.object_types[thing],
            tuple([mask >> thing & 1 for mask in facts]),
        )

    def _unlike(self, state: State, things: Iterable[int], number: int) -> list[int]:
        """The things, but at most `number` of those that are equal and in the same place."""
        seen: Counter[object] = Counter()
        kept = []
        for thing in things:
            where = (tuple(self.positions.get(thing, ())), state.places[thing])
            sort = (where, self.sort_of(state, thing))
            seen[sort] += 1
            if seen[sort] <= number:
                kept.append(thing)
        return kept

    def _without_the_rest(self, state: State) -> State:
        counting = frozenset(self.objects)
        return state._replace(
            contents=tuple(
                [tuple([o for o in inside if o in counting]) for inside in state.contents]
            ),
            places=tuple([m if o in counting else 0 for o, m in enumerate(state.places)]),
            left=frozenset(),
        )


def find_positions(state: State) -> dict[int, list[int]]:
    """The receptacles that each thing is in."""
    found: dict[int, list[int]] = {}
    for receptacle, inside in enumerate(state.contents):
        for thing in inside:
            found.setdefault(thing, []).append(receptacle)
    return found
