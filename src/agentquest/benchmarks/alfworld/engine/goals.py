"""When a game is won.

The published goals are conjunctions of three kinds of clause: some objects are in a
receptacle, a lit lamp is next to the agent, the agent holds something (and rarely:
everything is closed again). Any other formula is refused.
"""

from collections.abc import Container
from dataclasses import dataclass

from agentquest.benchmarks.alfworld.engine.pddl import Node
from agentquest.benchmarks.alfworld.engine.state import WorldState
from agentquest.benchmarks.alfworld.engine.world import World
from agentquest.errors import DataError

_STATIC = ("cleanable", "heatable", "coolable", "sliceable", "toggleable", "pickupable")
_DYNAMIC = ("isclean", "ishot", "iscool", "issliced")
_MOST_OBJECTS = 2


@dataclass(frozen=True, slots=True)
class Item:
    """Which objects qualify (a mask), and what must have been done to them."""

    things: int
    clean: bool = False
    hot: bool = False
    cool: bool = False
    sliced: bool = False

    @property
    def treatments(self) -> int:
        """How many of cleaning, heating and cooling are required."""
        return self.clean + self.hot + self.cool

    def treated_things(self, state: WorldState) -> int:
        """The mask of objects that need no cleaning, heating or cooling."""
        things = self.things
        if self.clean:
            things &= state.clean
        if self.hot:
            things &= state.hot
        if self.cool:
            things &= state.cool
        return things

    def ready(self, state: WorldState) -> int:
        """The mask of objects that qualify in this state."""
        things = self.treated_things(state)
        return things & state.sliced if self.sliced else things


@dataclass(frozen=True, slots=True)
class Place:
    """`count` different objects are together in one of `receptacles`."""

    item: Item
    count: int
    receptacles: tuple[int, ...]

    def is_reached(self, state: WorldState) -> bool:
        """Whether enough qualifying objects are together."""
        ready = self.item.ready(state)
        if not ready:
            return False
        contents = state.contents
        for receptacle in self.receptacles:
            found = 0
            for thing in contents[receptacle]:
                found += ready >> thing & 1
            if found >= self.count:
                return True
        return False


@dataclass(frozen=True, slots=True)
class GoalCondition:
    """What must hold at once: something placed, something held near a lit lamp (`lamps` is a
    mask), everything closed.
    """

    place: Place | None = None
    lamps: int = 0
    hold: Item | None = None
    all_closed: bool = False

    @property
    def item(self) -> Item:
        """What the goal is about: an object to place, or to hold."""
        item = self.place.item if self.place is not None else self.hold
        assert item is not None, "every goal has an object"
        return item

    def is_reached(self, world: World, state: WorldState) -> bool:
        """Whether the game is won in this state."""
        if self.place is not None and not self.place.is_reached(state):
            return False
        if self.hold is not None:
            if state.held < 0 or not self.hold.ready(state) >> state.held & 1:
                return False
            lit = self.lamps & state.toggled
            if not any(
                lit >> thing & 1
                for receptacle in world.receptacles_at[state.location]
                for thing in state.contents[receptacle]
            ):
                return False
        return not (self.all_closed and state.opened)


@dataclass
class _Query:
    """One existential clause, flattened: variables, atoms and inequalities."""

    kinds: dict[str, str]
    atoms: set[tuple[str, ...]]
    different: set[frozenset[str]]

    def of_kind(self, kind: str) -> list[str]:
        return [name for name, its in self.kinds.items() if its == kind]


def read_goal(node: Node, world: World) -> GoalCondition:
    """The goal that a PDDL formula states; raises DataError for a formula of another kind."""
    clauses = node[1:] if isinstance(node, list) and node[:1] == ["and"] else [node]
    place = hold = None
    lamps: int | None = None
    all_closed = False
    for clause in clauses:
        if _is_all_closed(clause):
            all_closed = True
            continue
        query = _Query({}, set(), set())
        _flatten(clause, query)
        if query.of_kind("receptacle") and not query.of_kind("agent") and place is None:
            place = _read_place(query, world)
        elif query.of_kind("location") and lamps is None:
            lamps = _read_lamps(query, world)
        elif query.of_kind("agent") and hold is None:
            hold = _read_hold(query, world)
        else:
            raise _unknown("clause")
    if (hold is None) != (lamps is None) or (place is None and hold is None):
        raise _unknown("combination of clauses")
    return GoalCondition(place, lamps or 0, hold, all_closed)


def _flatten(node: Node, query: _Query) -> None:
    match node:
        case ["exists", [*variables], body]:
            _declare(variables, query)
            _flatten(body, query)
        case ["and", *parts]:
            for part in parts:
                _flatten(part, query)
        case ["not", ["=", str(a), str(b)]]:
            query.different.add(frozenset((a, b)))
        case [str(_), *_] if all(isinstance(word, str) for word in node):
            query.atoms.add(tuple(node))  # type: ignore[arg-type]
        case _:
            raise _unknown("formula")


def _declare(variables: list[Node], query: _Query) -> None:
    words = [word for word in variables if isinstance(word, str)]
    if len(words) != len(variables) or len(words) % 3 or any(dash != "-" for dash in words[1::3]):
        raise _unknown("list of variables")
    for name, kind in zip(words[::3], words[2::3], strict=True):
        if name in query.kinds:
            raise _unknown("variable declared twice")
        query.kinds[name] = kind


def _is_all_closed(node: Node) -> bool:
    match node:
        case ["forall", [str(a), "-", "receptacle"], ["not", ["opened", str(b)]]]:
            return a == b
    return False


def _read_place(query: _Query, world: World) -> Place:
    receptacles, things = query.of_kind("receptacle"), query.of_kind("object")
    if len(receptacles) != 1 or not things or len(query.kinds) != 1 + len(things):
        raise _unknown("placing clause")
    if len(things) > _MOST_OBJECTS:
        raise DataError(f"the goal asks for {len(things)} objects; ALFRED's ask for one or two")
    (where,) = receptacles
    pairs = {frozenset((a, b)) for a in things for b in things if a != b}
    if query.different != pairs:
        raise _unknown("set of inequalities")
    expected = {("inreceptacle", thing, where) for thing in things}
    if not expected <= query.atoms:
        raise _unknown("placing clause")
    rest = query.atoms - expected
    targets = {atom[2] for atom in rest if len(atom) == 3 and atom[:2] == ("receptacletype", where)}
    if len(targets) != 1:
        raise _unknown("receptacle type")
    (target,) = targets
    rest -= {("receptacletype", where, target)}
    items = {_read_item(thing, rest, world) for thing in things}
    if len(items) != 1 or any(len(atom) < 2 or atom[1] not in things for atom in rest):
        raise _unknown("pair of different objects")
    return Place(
        items.pop(),
        len(things),
        tuple([r for r, kind in enumerate(world.receptacle_types) if kind == target]),
    )


def _read_lamps(query: _Query, world: World) -> int:
    match [query.of_kind(k) for k in ("object", "receptacle", "agent", "location")]:
        case [[lamp], [where], [agent], [place]]:
            fixed = {
                ("toggleable", lamp),
                ("istoggled", lamp),
                ("receptacleatlocation", where, place),
                ("atlocation", agent, place),
                ("inreceptacle", lamp, where),
            }
            rest = query.atoms - fixed
            if fixed <= query.atoms and not query.different and len(rest) == 1:
                return _read_item(lamp, rest, world).things & world.toggleable
    raise _unknown("lamp clause")


def _read_hold(query: _Query, world: World) -> Item:
    match [query.of_kind("object"), query.of_kind("agent")]:
        case [[thing], [agent]] if len(query.kinds) == 2 and not query.different:
            rest = query.atoms - {("holds", agent, thing)}
            if len(rest) == len(query.atoms) - 1:
                return _read_item(thing, rest, world)
    raise _unknown("holding clause")


def _read_item(thing: str, atoms: set[tuple[str, ...]], world: World) -> Item:
    things = (1 << len(world.object_names)) - 1
    wanted: dict[str, bool] = {}
    typed = False
    for atom in atoms:
        if atom[1:2] != (thing,):
            continue
        if atom[0] == "objecttype" and len(atom) == 3:
            typed = True
            things &= mask_of(world, {atom[2]})
        elif atom[0] in _STATIC and len(atom) == 2:
            things &= getattr(world, atom[0])
        elif atom[0] in _DYNAMIC and len(atom) == 2:
            wanted[atom[0][2:]] = True
        else:
            raise _unknown(f"condition {' '.join(atom)[:60]!r}")
    if not typed:
        raise _unknown("object without a type")
    return Item(things, **wanted)


def mask_of(world: World, types: Container[str]) -> int:
    """The mask of the objects of some types."""
    return sum(1 << i for i, kind in enumerate(world.object_types) if kind in types)


def _unknown(what: str) -> DataError:
    return DataError(f"the problem's (:goal …) has an unknown {what}; it is none of the six tasks")
