"""What never changes during a game: things, names, places, and what fits where.

Things are numbered in the order of their mangled ids, in which the reference lists them;
the rest of the engine computes with those numbers. A World is immutable and shared by all
copies of a game.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from sys import intern

from agentquest.benchmarks.alfworld.engine.pddl import Fact, Problem
from agentquest.errors import DataError

MAX_FACTS = 50_000
_LONGEST_WORD = 40

# Predicates of the domain, and the kinds of their arguments.
_OF_OBJECTS = (
    "isreceptacleobject isreceptacleobjectfull pickupable moveable cleanable isclean heatable ishot"
    " coolable iscool toggleable ison istoggled sliceable issliced"
)
_SIGNATURES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_OF_OBJECTS.split(), ("object",)),
    **dict.fromkeys(("openable", "opened", "checked", "full"), ("receptacle",)),
    **dict.fromkeys(("holdsany", "holdsanyreceptacleobject"), ("agent",)),
    **dict.fromkeys(("inreceptacle", "wasinreceptacle"), ("object", "receptacle")),
    "atlocation": ("agent", "location"),
    "cancontain": ("rtype", "otype"),
    "examined": ("location",),
    "holds": ("agent", "object"),
    "inreceptacleobject": ("object", "object"),
    "objectatlocation": ("object", "location"),
    "objecttype": ("object", "otype"),
    "receptacleatlocation": ("receptacle", "location"),
    "receptacletype": ("receptacle", "rtype"),
}


@dataclass(frozen=True, slots=True)
class World:
    """Static facts, indexed by number. Masks are integers with one bit per thing."""

    object_names: tuple[str, ...]
    object_types: tuple[str, ...]
    receptacle_names: tuple[str, ...]
    receptacle_types: tuple[str, ...]
    location_names: tuple[str, ...]
    receptacle_locations: tuple[tuple[int, ...], ...]
    receptacles_at: tuple[tuple[int, ...], ...]
    inside_objects: tuple[tuple[int, ...], ...]
    openable: int
    pickupable: int
    cleanable: int
    heatable: int
    coolable: int
    sliceable: int
    toggleable: int
    receptacle_objects: int
    can_contain: frozenset[Fact]
    cleaners: frozenset[str]
    go_commands: dict[str, int] = field(repr=False)
    """The commands in alphabetical order, and the receptacle that each leads to."""
    _ways_texts: dict[int, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def has_double_places(self) -> bool:
        """Whether a receptacle has two locations, so that some places are two steps away."""
        return any(len(places) > 1 for places in self.receptacle_locations)

    def ways_from(self, location: int) -> list[str]:
        """The sorted `go to …` commands that lead away from a location."""
        ways = list(self.go_commands)
        for receptacle in self.receptacles_at[location]:
            if len(self.receptacle_locations[receptacle]) == 1:
                ways.remove(f"go to {self.receptacle_names[receptacle]}")
        return ways

    def ways_text_from(self, location: int) -> str:
        """The same as a printed list, computed lazily."""
        text = self._ways_texts.get(location)
        if text is None:
            text = self._ways_texts[location] = str(self.ways_from(location))[1:-1]
        return text

    def fits(self, thing: int, receptacle: int) -> bool:
        """Whether the receptacle may hold the object at all."""
        pair = (self.receptacle_types[receptacle], self.object_types[thing])
        return pair in self.can_contain


class FactTable:
    """Checked facts by predicate, and the numbers given to the things in them."""

    def __init__(self, problem: Problem) -> None:
        self.rows: dict[str, list[Fact]] = defaultdict(list)
        kinds = problem.kinds
        if len(problem.facts) > MAX_FACTS:
            raise DataError(f"problem has {len(problem.facts)} facts; at most {MAX_FACTS} are read")
        seen: set[str] = set()
        for fact in problem.facts:
            predicate, arguments = fact[0], fact[1:]
            if predicate in ("=", "distance"):
                continue
            expected = _SIGNATURES.get(predicate)
            if expected is None:
                raise DataError(f"unknown predicate in (:init …): {' '.join(fact)[:80]!r}")
            if tuple([kinds.get(name) for name in arguments]) != expected:
                raise DataError(
                    f"fact {' '.join(fact)[:120]!r} does not have declared arguments {expected}"
                )
            self.rows[predicate].append(arguments)
            seen.update(arguments)
        ids = sorted(seen)
        self.names = _number_names(ids)
        self.index: dict[str, int] = {}
        self.ids: dict[str, list[str]] = {"object": [], "receptacle": [], "location": []}
        for name in ids:
            group = self.ids.get(kinds[name])
            if group is not None:
                self.index[name] = len(group)
                group.append(name)

    def group(self, predicate: str, kind: str, place: int) -> tuple[tuple[int, ...], ...]:
        """For each thing of a kind, what a predicate joins it to; `place` is its own place."""
        groups: list[list[int]] = [[] for _ in self.ids[kind]]
        index = self.index
        for pair in sorted({(index[a], index[b]) for a, b in self.rows.get(predicate, ())}):
            groups[pair[place]].append(pair[1 - place])
        return tuple(map(tuple, groups))

    def mask(self, predicate: str) -> int:
        """The things with a predicate of one argument, one bit each."""
        bits = 0
        for (name,) in self.rows.get(predicate, ()):
            bits |= 1 << self.index[name]
        return bits

    def types(self, predicate: str, group: str) -> tuple[str, ...]:
        """The type of each thing; '', which fits nowhere, for things without one."""
        found: dict[str, str] = {}
        for name, kind in self.rows.get(predicate, ()):
            if found.setdefault(name, kind) != kind:
                raise DataError(f"{name!r} has two types: {found[name]} and {kind}")
        return tuple([_word(found.get(name, "")) for name in self.ids[group]])


# Homes have most words and tables in common, so equal ones are shared.
@lru_cache(maxsize=64)
def _shared_table(table: frozenset[Fact]) -> frozenset[Fact]:
    return table


def _word(word: str) -> str:
    return intern(word) if len(word) <= _LONGEST_WORD else word


def build_world(table: FactTable, cleaners: frozenset[str]) -> World:
    """The world that the facts describe; `cleaners` are the receptacle types that clean things."""
    names = {group: tuple([table.names[name] for name in ids]) for group, ids in table.ids.items()}
    locations_of = table.group("receptacleatlocation", "receptacle", 0)
    leading = {f"go to {names['receptacle'][r]}": r for r, at in enumerate(locations_of) if at}
    return World(
        object_names=names["object"],
        object_types=table.types("objecttype", "object"),
        receptacle_names=names["receptacle"],
        receptacle_types=table.types("receptacletype", "receptacle"),
        location_names=names["location"],
        receptacle_locations=locations_of,
        receptacles_at=table.group("receptacleatlocation", "location", 1),
        inside_objects=table.group("inreceptacleobject", "object", 1),
        openable=table.mask("openable"),
        pickupable=table.mask("pickupable"),
        cleanable=table.mask("cleanable"),
        heatable=table.mask("heatable"),
        coolable=table.mask("coolable"),
        sliceable=table.mask("sliceable"),
        toggleable=table.mask("toggleable"),
        receptacle_objects=table.mask("isreceptacleobject"),
        can_contain=_shared_table(frozenset(table.rows.get("cancontain", ()))),
        cleaners=cleaners,
        go_commands=dict(sorted(leading.items())),
    )


def _number_names(ids: list[str]) -> dict[str, str]:
    """`apple_bar__plus_00…` → `apple 1`. Numbers count down, as in the reference."""
    bases = {name: _base_name(name) for name in ids}
    left = Counter(base for name, base in bases.items() if "_bar_" in name)
    shown = {}
    for name in ids:
        base = bases[name]
        if "_bar_" in name:
            shown[name] = _word(f"{base} {left[base]}")
            left[base] -= 1
        else:
            shown[name] = f"{name} "
    return shown


def _base_name(mangled: str) -> str:
    base = mangled.partition("_bar_")[0]
    return f"{base}basin" if "basin" in mangled else base
