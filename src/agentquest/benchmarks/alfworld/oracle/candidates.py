"""All ways to win that waste nothing, as sequences of visits (see oracle.py).

With slices there is one more thing to do, with a knife in the hand: fetch it,
slice everything uncut, put it down again if anything is left to carry. That
happens once, before, between or after the carryings: slicing on two occasions
costs a fetching and a putting down more, and fetching the knife last of all
costs at most the way there and back. For the same reason an object on its way
to its place is not set down elsewhere in order to slice it, with two exceptions:
one that has to be in the hand at the end, and one that lies in two receptacles,
as the published games have them, and can be taken up again from the other.
"""

from collections.abc import Iterator
from itertools import permutations, product

from agentquest.benchmarks.alfworld.engine.goals import Goal
from agentquest.benchmarks.alfworld.engine.rules import Move, Rule, apply
from agentquest.benchmarks.alfworld.engine.state import NOTHING, State
from agentquest.benchmarks.alfworld.engine.world import World
from agentquest.benchmarks.alfworld.oracle.plan_steps import Parts, Visit, Visits, joined, members


def errands(world: World, state: State, goal: Goal) -> Iterator[Visits]:
    """Every candidate plan; none when the goal is out of reach."""
    item = goal.place.item if goal.place is not None else goal.hold
    assert item is not None
    search = _Errands(world, state, goal, item)
    yield from search.all()
    for put in search.left_lying():
        lying = state._replace(location=put.location, opened=state.opened | 1 << put.receptacle)
        for visits in _Errands(world, apply(world, lying, put.acts[0]), goal, item).all():
            yield (put, *visits)


class _Errands(Parts):
    def all(self) -> Iterator[Visits]:
        plans = self.placing() if self.goal.place is not None else self.lighting()
        for visits in plans:
            yield from self.with_free_hand(visits)

    def left_lying(self) -> list[Visit]:
        """Ways to put down an object for slices that lies in a second receptacle as well.

        It can be left here, to free the hand for the knife, and taken from there later.
        """
        held = self.state.held
        if self.goal.place is None or not self.item.sliced or held not in self.containers:
            return []
        if not self.item.things >> held & 1:
            return []
        return [put for put in self.put_anywhere(held) if put.location in self.crossings]

    def placing(self) -> Iterator[Visits]:
        assert self.goal.place is not None
        ready = self.item.ready(self.state)
        for target in self.targets():
            there = {o for o in self.state.contents[target] if ready >> o & 1}
            others = [o for o in self.things if o not in there]
            # Enough may lie there already, with only doors left to close.
            missing = max(0, self.goal.place.count - len(there))
            for chosen in permutations(others, missing):
                if self.state.held in chosen[1:]:
                    # What is in the hand already goes first; the other order only adds steps.
                    continue
                uncut = self._uncut(chosen)
                if uncut:
                    yield from self._cut_and_place(chosen, uncut, target)
                else:
                    yield from self._carry_all(chosen, target)

    def lighting(self) -> Iterator[Visits]:
        for thing in self.things:
            fetchings = self._cut_and_fetch(thing) if self._uncut((thing,)) else self.fetch(thing)
            for fetch, light in product(fetchings, list(self.lights())):
                yield (*fetch, light)

    def with_free_hand(self, visits: Visits) -> Iterator[Visits]:
        """The errand, beginning with putting down what is in the way, if anything is."""
        held = self.state.held
        in_the_way = held != NOTHING and visits and visits[0].acts[:1]
        if in_the_way and visits[0].acts[0].rule is Rule.TAKE:
            for put in self._put_between(held, self.state.location, visits[0].location):
                yield (put, *visits)
        else:
            yield visits

    def _put_between(self, thing: int, here: int, there: int) -> list[Visit]:
        """Put something down on the way; a detour costs no less than a door opened there."""
        everywhere = self.put_anywhere(thing)
        near = [put for put in everywhere if put.location in (here, there)]
        return near if near and not self.goal.all_closed else everywhere

    def _carry_all(
        self, chosen: tuple[int, ...], target: int, free_hand: bool = False
    ) -> Iterator[Visits]:
        for legs in product(*(list(self.carry(o, target, free_hand)) for o in chosen)):
            yield joined(legs)

    # -- slicing ---------------------------------------------------------------

    def _uncut(self, chosen: tuple[int, ...]) -> list[int]:
        return [o for o in chosen if self.item.sliced and not self.state.sliced >> o & 1]

    def _cut_and_place(
        self, chosen: tuple[int, ...], uncut: list[int], target: int
    ) -> Iterator[Visits]:
        """Carry some, fetch a knife and slice, put it down, carry the others."""
        for count in range(len(chosen) + 1):
            first, rest = chosen[:count], chosen[count:]
            if self.state.held in rest:
                continue
            afterwards = list(self._carry_all(rest, target))
            for before in self._carry_all(first, target, free_hand=True):
                for knife, cut in self._cut(before, uncut):
                    for after in afterwards:
                        if not after:
                            yield cut
                            continue
                        for down in self._put_between(knife, cut[-1].location, after[0].location):
                            yield (*cut, down, *after)

    def _cut_and_fetch(self, thing: int) -> Iterator[Visits]:
        """Slice an object and have it in the hand; it may be brought to the knife first."""
        lying = self.containers.get(thing, [])
        ways: list[tuple[Visits, list[int]]] = [] if thing == self.state.held else [((), lying)]
        for fetch in self.fetch(thing):
            stays = [r for r in lying if not fetch or r != fetch[0].receptacle]
            ways += [((*fetch, p), [*stays, p.receptacle]) for p in self.put_anywhere(thing)]
        for before, receptacles in ways:
            takings = list(self.take(thing, receptacles))
            for knife, cut in self._cut(before, [thing]):
                for down, taking in product(self.put_anywhere(knife), takings):
                    yield (*cut, down, *taking)

    def _cut(self, before: Visits, uncut: list[int]) -> Iterator[tuple[int, Visits]]:
        """`before`, and then slicing; with the knife that is in the hand at the end."""
        places = [self._slice(thing, before) for thing in uncut]
        slicings = [slicing for order in permutations(places) for slicing in product(*order)]
        for knife in self.knives:
            for fetching in self._with_knife(knife, before):
                for slicing in slicings:
                    yield knife, (*fetching, *slicing)

    def _with_knife(self, knife: int, before: Visits) -> Iterator[Visits]:
        if knife != self.state.held or not before:
            for fetch in self.fetch(knife):
                yield (*before, *fetch)
            return
        for put in self.put_anywhere(knife):
            for fetch in self.take(knife, [*self.containers.get(knife, ()), put.receptacle]):
                yield (put, *before, *fetch)

    def _slice(self, thing: int, before: Visits) -> list[Visit]:
        """Slicing an object wherever the game thinks it lies after `before`."""
        places = self.state.places[thing]
        for visit in before:
            for rule, moved, _ in visit.acts:
                if moved == thing and rule in (Rule.TAKE, Rule.PUT):
                    places &= ~(1 << visit.location)
                    places |= (rule is Rule.PUT) << visit.location
        act = Move(Rule.SLICE, thing)
        visits = []
        for place in members(places):
            here = self.world.receptacles_at[place]
            if here or place == self.state.location:
                visits.append(Visit(place, here[0] if here else NOTHING, False, (act,)))
        return visits
