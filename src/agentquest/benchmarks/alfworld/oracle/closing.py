"""Closing the doors behind an errand, for the few goals that want everything closed."""

from agentquest.benchmarks.alfworld.engine.rules import Move, Rule
from agentquest.benchmarks.alfworld.engine.state import NOTHING, State
from agentquest.benchmarks.alfworld.engine.world import World
from agentquest.benchmarks.alfworld.oracle.errands import Visit, Visits
from agentquest.benchmarks.alfworld.oracle.relevant import members


class OpenDoors:
    """The doors that stand open in a state."""

    def __init__(self, world: World, state: State) -> None:
        self.world = world
        self.state = state
        opened = members(state.opened)
        self._number = len(opened)
        self._places = {p for r in opened for p in world.receptacle_locations[r]}

    def at_least(self, visits: Visits) -> int:
        """How many steps the closing takes at least."""
        visited = {visit.location for visit in visits} | {self.state.location}
        return self._number + len(self._places - visited)

    def closed_behind(self, visits: Visits, ends_there: bool) -> Visits:
        """The visits, with everything that is or will be open closed at its last use.

        What is open where the agent would not come is closed after the last visit, or
        on the way when the agent must end where it does.
        """
        world, opened = self.world, self.state.opened
        for visit in visits:
            if visit.opens:
                opened |= world.openable & 1 << visit.receptacle
        path = [Visit(self.state.location, NOTHING, False, ()), *visits]
        for receptacle in members(opened):
            places = world.receptacle_locations[receptacle]
            if not places:
                continue
            at = [i for i, visit in enumerate(path) if visit.location in places]
            close = Move(Rule.CLOSE, NOTHING, receptacle)
            if at:
                path[at[-1]] = path[at[-1]]._replace(acts=(*path[at[-1]].acts, close))
            else:
                detour = Visit(places[0], receptacle, False, (close,))
                path.insert(_gap(path) if ends_there else len(path), detour)
        return tuple(path)


def _gap(path: list[Visit]) -> int:
    """Where a detour costs least: where the agent is on its way anyway."""
    for i in range(1, len(path)):
        if path[i].location != path[i - 1].location:
            return i
    return 1
