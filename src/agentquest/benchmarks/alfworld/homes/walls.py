"""The shape of a room: where along its walls things stand, and where one stands to reach them."""

from agentquest.benchmarks.alfworld.homes.names import Point, location_name
from agentquest.lib.dice import Dice


class Walls:
    """Hands out places along the walls of a rectangular room, and spots in front of them."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.width = dice.between(14, 22)
        self.depth = dice.between(14, 22)
        self.left = -dice.between(4, 12)
        self.near = -dice.between(4, 12)
        self._free: list[int] = []
        self._used: set[str] = set()

    def spot(self, horizon: int) -> tuple[Point, str]:
        """A point on a wall, and a location of its own to reach it from."""
        if not self._free:
            self._free = self.dice.shuffled(range(2 * (self.width + self.depth)))
        steps = self._free.pop()
        distance = self.dice.between(2, 4)
        while True:
            x, z, _ = self._along(steps, 0)
            name = location_name(*self._along(steps, distance), horizon)
            if name not in self._used:
                self._used.add(name)
                return Point(x * 25, 0, z * 25), name
            distance += 1

    def _along(self, steps: int, distance: int) -> tuple[int, int, int]:
        """Grid position `distance` steps in front of the wall, and the turn that faces the wall."""
        if steps < self.width:
            return self.left + steps, self.near + distance, 2
        steps -= self.width
        if steps < self.depth:
            return self.left + self.width - distance, self.near + steps, 1
        steps -= self.depth
        if steps < self.width:
            return self.left + self.width - steps, self.near + self.depth - distance, 0
        return self.left + distance, self.near + self.depth - (steps - self.width), 3

    def floor(self) -> tuple[str, ...]:
        """A dozen spots in the middle of the room that lead to no receptacle."""
        spots: list[str] = []
        while len(spots) < 12:
            x = self.left + self.dice.between(5, self.width - 5)
            z = self.near + self.dice.between(5, self.depth - 5)
            name = location_name(x, z, self.dice.below(4), 30)
            if name not in self._used:
                self._used.add(name)
                spots.append(name)
        return tuple(spots)
