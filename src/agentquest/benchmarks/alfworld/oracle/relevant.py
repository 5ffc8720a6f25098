"""What a plan may have to touch: the part of a game that an exact search looks at.

Things that the goal does not name never have to be moved, except for one that is in the hand
from the start: a winning plan still wins without the moves of such a thing. Of the places, those
matter where a relevant thing is, can be put or treated, or belongs.
"""

from agentquest.benchmarks.alfworld.engine.goals import GoalCondition, Item
from agentquest.benchmarks.alfworld.engine.rules import KNIVES, Rule, tools
from agentquest.benchmarks.alfworld.engine.state import NOTHING, WorldState
from agentquest.benchmarks.alfworld.engine.world import World


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
    """The relevant things and receptacles, and the state without all others."""

    def __init__(self, world: World, state: WorldState, goal: GoalCondition) -> None:
        self.world = world
        self.goal = goal
        self.item = goal.item
        self.count = goal.place.count if goal.place is not None else 1
        self.targets: frozenset[int] = frozenset(goal.place.receptacles if goal.place else ())
        self.treatment = treatment_of(goal.item)
        kinds = enumerate(world.object_types)
        knives = [o for o, kind in kinds if kind in KNIVES] if goal.item.sliced else []
        # Of equally short plans the first one is kept. People expect the lowest numbers, which
        # the things with the highest ids have.
        self.things = members(goal.item.things)[::-1]
        self.knives = knives[::-1]
        self.lamps = members(goal.lamps)[::-1]
        held = [] if state.held == NOTHING else [state.held]
        self.objects = list(dict.fromkeys([*held, *self.things, *self.knives, *self.lamps]))
        self.tools = {
            o: frozenset(tools(world, self.treatment, o) if self.treatment else ())
            for o in self.things
        }
        self.start = self._without_the_rest(state)
        numbers = range(len(world.receptacle_names))
        self.receptacles = [r for r in reversed(numbers) if self._is_of_use(r)]

    def _is_of_use(self, receptacle: int) -> bool:
        if not self.world.receptacle_locations[receptacle]:
            return False
        uses = receptacle in self.targets or any(receptacle in each for each in self.tools.values())
        takes = any(self.world.fits(o, receptacle) for o in self.objects)
        return uses or takes or bool(self.start.contents[receptacle])

    def _without_the_rest(self, state: WorldState) -> WorldState:
        counting = frozenset(self.objects)
        return state._replace(
            contents=tuple(
                [tuple([o for o in inside if o in counting]) for inside in state.contents]
            ),
            places=tuple([m if o in counting else 0 for o, m in enumerate(state.places)]),
            left=frozenset(),
        )
