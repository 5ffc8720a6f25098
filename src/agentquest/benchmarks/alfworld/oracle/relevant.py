"""What a plan may have to touch: the part of a game that an exact search looks at.

Things that the goal does not name never have to be moved, except for one that is in the hand
from the start: a winning plan still wins without the moves of such a thing. Of the others,
what is no better than something else is left out.

Of the places, a plan need visit those that offer something no other place offers. A place
without relevant things can serve to put things down, to treat them, or as their destination. If
another place offers all of that behind no more doors, a plan that visits the first works as
well with the other, in no more steps. As many such places are kept as there are receptacles that
one thing is in at once, because a thing put down twice in the same one would be there only once.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

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
        self.start = self._without_the_rest(state)

    @property
    def objects(self) -> list[int]:
        """Every relevant thing once: what is held, what the goal asks for, knives and lamps."""
        return list(dict.fromkeys([*self.held, *self.things, *self.knives, *self.lamps]))

    def _sort_of(self, state: State, thing: int) -> tuple[object, ...]:
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
            sort = (where, self._sort_of(state, thing))
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


class _Offer(NamedTuple):
    """What a receptacle is good for, as a mask, and whether a door is in the way."""

    good_for: int
    shut: int


class Places:
    """The receptacles worth going to."""

    def __init__(self, relevant: Relevant) -> None:
        self.relevant = relevant
        self.world = relevant.world
        objects = relevant.objects
        kinds = {
            self.world.object_types[o]: o for o in objects if self.world.pickupable >> o & 1
        } | {self.world.object_types[o]: o for o in relevant.held}
        self._examples = list(kinds.values())
        self._copies = max([1, *(len(relevant.positions.get(o, ())) for o in objects)])
        self.receptacles: list[int] = []
        self._offers = [
            self._offer(relevant.start, r) for r in range(len(self.world.receptacle_names))
        ]
        self._choose(relevant.start)

    def _choose(self, state: State) -> None:
        kept: list[frozenset[_Offer]] = []
        for location in self._by_promise():
            offers = self._offers_of_empty_place(state, location)
            if offers is not None:
                if sum(self._as_good(other, offers) for other in kept) >= self._copies:
                    continue
                kept.append(offers)
            here = self.world.receptacles_at[location][::-1]
            worth = [r for r in here if state.contents[r] or self._offers[r].good_for]
            self.receptacles += [r for r in worth if r not in self.receptacles]

    def _by_promise(self) -> list[int]:
        """Places, first those that may make others superfluous."""

        def promise(location: int) -> tuple[int, int, int]:
            offers = [self._offers[r] for r in self.world.receptacles_at[location]]
            good_for = 0
            for offer in offers:
                good_for |= offer.good_for
            return good_for.bit_count(), -sum(offer.shut for offer in offers), location

        locations = [p for p, here in enumerate(self.world.receptacles_at) if here]
        return sorted(locations, key=promise, reverse=True)

    def _offer(self, state: State, receptacle: int) -> _Offer:
        world, relevant = self.world, self.relevant
        good_for = sum(world.fits(o, receptacle) << n for n, o in enumerate(self._examples))
        uses = (
            receptacle in relevant.targets,
            any(receptacle in relevant.tools[o] for o in relevant.things),
        )
        good_for |= sum(use << len(self._examples) + n for n, use in enumerate(uses))
        return _Offer(good_for, (world.openable & ~state.opened) >> receptacle & 1)

    def _offers_of_empty_place(self, state: State, location: int) -> frozenset[_Offer] | None:
        """What an empty place offers; None for a place that may have to be visited anyway."""
        here = self.world.receptacles_at[location]
        has_two = any(len(self.world.receptacle_locations[r]) > 1 for r in here)
        has_things = any(state.contents[r] for r in here)
        has_things |= any(places >> location & 1 for places in state.places)
        if location == state.location or has_two or has_things:
            return None
        return frozenset(self._offers[r] for r in here if self._offers[r].good_for)

    def _as_good(self, other: frozenset[_Offer], offers: frozenset[_Offer]) -> bool:
        """Whether another place offers all of these."""
        return all(any(self._covers(one, offer) for one in other) for offer in offers)

    def _covers(self, one: _Offer, other: _Offer) -> bool:
        return not other.good_for & ~one.good_for and one.shut <= other.shut
