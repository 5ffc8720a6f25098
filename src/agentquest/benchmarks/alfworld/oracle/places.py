"""Which places a plan need visit: those that offer something no other place offers.

A place without relevant things can serve to put things down, to treat them, or as their
destination. If another place offers all of that behind no more doors, a plan that visits the
first works as well with the other, in no more steps. The same is true of a place with a single
thing, compared with another that has an equal thing. As many of those are kept as a plan may
need: two for a goal of two things, two for knives, and as many places as there are
receptacles that one thing is in at once, because a thing put down twice in the same one
would be there only once.
"""

from typing import NamedTuple

from agentquest.benchmarks.alfworld.engine.state import State
from agentquest.benchmarks.alfworld.oracle.relevant import KNIVES_ALIKE, Relevant


class _Offer(NamedTuple):
    """What a receptacle is good for, as a mask, and whether a door is in the way."""

    good_for: int
    shut: int


class _Place(NamedTuple):
    offers: frozenset[_Offer]
    """Of all its receptacles that are good for something."""
    lonely: tuple[object, ...] | None
    """The sort of the only thing here, if there is one."""
    source: _Offer | None
    """The receptacle that this thing is in."""


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
        kept: list[_Place] = []
        without: list[int] = []
        for location in self._by_promise():
            here = self.world.receptacles_at[location]
            place = self._mergeable(state, location)
            if place is not None:
                alike = sum(self._as_good(other, place) for other in kept)
                if alike >= self._count_needed(place, state, here):
                    without += [o for r in here for o in state.contents[r]]
                    continue
                kept.append(place)
            self.receptacles += [
                r for r in self._worth_using(state, here) if r not in self.receptacles
            ]
        self.relevant.leave_out(without)

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

    def _mergeable(self, state: State, location: int) -> _Place | None:
        """What the place offers; None if it cannot be compared with others."""
        world, relevant = self.world, self.relevant
        here = world.receptacles_at[location]
        if location == state.location or any(len(world.receptacle_locations[r]) > 1 for r in here):
            return None
        inside = [(o, r) for r in here for o in state.contents[r]]
        lying = [o for o, mask in enumerate(state.places) if mask >> location & 1]
        offers = frozenset(self._offers[r] for r in here if self._offers[r].good_for)
        if not inside and not lying:
            return _Place(offers, None, None)
        if len(inside) != 1:
            return None
        ((thing, source),) = inside
        if thing in relevant.lamps or len(relevant.positions[thing]) > 1 or set(lying) - {thing}:
            return None
        if relevant.item.sliced and state.places[thing] != 1 << location:
            return None
        return _Place(offers, relevant.sort_of(state, thing), self._offers[source])

    def _count_needed(self, place: _Place, state: State, here: tuple[int, ...]) -> int:
        if place.lonely is None:
            return self._copies
        knife = any(o in self.relevant.knives for r in here for o in state.contents[r])
        return max(self._copies, self.relevant.count, KNIVES_ALIKE if knife else 1)

    def _as_good(self, other: _Place, place: _Place) -> bool:
        """Whether the other place offers all that `place` offers."""
        if other.lonely != place.lonely:
            return False
        one, another = other.source, place.source
        if one is not None and another is not None and not self._covers(one, another):
            return False
        return all(any(self._covers(o, offer) for o in other.offers) for offer in place.offers)

    def _covers(self, one: _Offer, other: _Offer) -> bool:
        return not other.good_for & ~one.good_for and one.shut <= other.shut

    def _worth_using(self, state: State, here: tuple[int, ...]) -> list[int]:
        """The receptacles at one place that the others there cannot replace."""
        kept: list[int] = []
        for receptacle in here[::-1]:
            offer = self._offers[receptacle]
            if not state.contents[receptacle]:
                alike = sum(self._covers(self._offers[r], offer) for r in kept)
                if not offer.good_for or alike >= self._copies:
                    continue
            kept.append(receptacle)
        return kept
