"""Small hand-made homes: the text of a PDDL problem from a few lists.

Small enough for a blind search over all states, and odd in the ways the
published games are: receptacles that share a location, objects that lie in two
receptacles at once, closed doors, things that fit nowhere near.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GameText

TREATMENTS = {
    "clean": ("cleanable", "isClean"),
    "heat": ("heatable", "isHot"),
    "cool": ("coolable", "isCool"),
}
_SENTENCES = {
    "pick": "put a {thing} in {target}",
    "clean": "put a clean {thing} in {target}",
    "heat": "put a hot {thing} in {target}",
    "cool": "put a cool {thing} in {target}",
    "two": "put two {thing} in {target}",
    "look": "look at {thing} under the {target}",
}


@dataclass(frozen=True)
class Furniture:
    """A receptacle: its kind (`Fridge`), where it stands, whether it has a door."""

    kind: str
    location: int | None
    openable: bool = False
    opened: bool = False
    also_at: int | None = None

    @property
    def locations(self) -> tuple[int, ...]:
        return tuple(place for place in (self.location, self.also_at) if place is not None)


@dataclass(frozen=True)
class Thing:
    """An object; `inside` are positions in the list of furniture, `facts` its properties."""

    kind: str
    inside: tuple[int, ...]
    facts: tuple[str, ...] = ("pickupable",)
    at: int | None = None


@dataclass(frozen=True)
class SmallWorld:
    furniture: tuple[Furniture, ...]
    things: tuple[Thing, ...]
    task: str
    thing: str
    target: str
    sliced: bool = False
    all_closed: bool = False
    start: int = 9
    # The position of a thing that the agent starts with in its hand.
    held: int | None = None
    # Pairs of furniture kind and object kind that may not hold; everything else fits.
    misfits: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    def engine(self, dialect: str = "0.4") -> AlfWorldEngine:
        text = GameText(self.problem(), self.sentence())
        return AlfWorldEngine.from_text(text, Dialect(dialect))

    def sentence(self) -> str:
        words = _SENTENCES[self.task]
        return words.format(thing=self.thing.lower(), target=self.target.lower())

    def problem(self) -> str:
        return "\n".join(
            [
                "(define (problem small) (:domain alfred)",
                "(:objects",
                *self._declarations(),
                ")",
                "(:init",
                f"(atLocation agent1 {_place(self.start)})",
                *self._furniture_facts(),
                *self._thing_facts(),
                *self._hand_facts(),
                f") (:goal {self.goal()}))",
            ]
        )

    def goal(self) -> str:
        clauses = self._look_goal() if self.task == "look" else self._place_goal()
        closed = " (forall (?re - receptacle) (not (opened ?re)))" if self.all_closed else ""
        return f"(and {clauses}{closed})"

    def _place_goal(self) -> str:
        names = ("?o1", "?o2") if self.task == "two" else ("?o1",)
        parts = [f"(receptacleType ?r {self.target}Type)"]
        for name in names:
            parts += [f"(objectType {name} {self.thing}Type)", f"(inReceptacle {name} ?r)"]
            parts += [f"({fact} {name})" for fact in TREATMENTS.get(self.task, ())]
            parts += [f"(sliceable {name}) (isSliced {name})"] if self.sliced else []
        different = "(not (= ?o1 ?o2))" if len(names) == 2 else ""
        things = " ".join(f"{name} - object" for name in names)
        return f"(exists (?r - receptacle {things}) (and {different} {' '.join(parts)}))"

    def _look_goal(self) -> str:
        sliced = " (sliceable ?o) (isSliced ?o)" if self.sliced else ""
        return (
            "(exists (?ot - object ?r - receptacle ?a - agent ?l - location)"
            f" (and (objectType ?ot {self.target}Type) (toggleable ?ot) (isToggled ?ot)"
            " (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r)))"
            " (exists (?o - object ?a - agent)"
            f" (and (objectType ?o {self.thing}Type) (holds ?a ?o){sliced}))"
        )

    def _declarations(self) -> list[str]:
        places = {self.start, *(place for f in self.furniture for place in f.locations)}
        places |= {thing.at for thing in self.things if thing.at is not None}
        return [
            "agent1 - agent",
            *(f"{kind}Type - otype" for kind in sorted({t.kind for t in self.things})),
            *(f"{kind}Type - rtype" for kind in sorted({f.kind for f in self.furniture})),
            *(f"{_name(t.kind, i)} - object" for i, t in enumerate(self.things)),
            *(f"{_name(f.kind, i)} - receptacle" for i, f in enumerate(self.furniture)),
            *(f"{_place(place)} - location" for place in sorted(places)),
        ]

    def _furniture_facts(self) -> list[str]:
        facts = []
        for i, f in enumerate(self.furniture):
            name = _name(f.kind, i)
            facts.append(f"(receptacleType {name} {f.kind}Type)")
            facts += [f"(receptacleAtLocation {name} {_place(place)})" for place in f.locations]
            facts += [f"(openable {name})"] if f.openable else []
            facts += [f"(opened {name})"] if f.openable and f.opened else []
        facts += [
            f"(canContain {f}Type {t}Type)"
            for f in sorted({f.kind for f in self.furniture})
            for t in sorted({t.kind for t in self.things})
            if (f, t) not in self.misfits
        ]
        return facts

    def _thing_facts(self) -> list[str]:
        facts = []
        for i, t in enumerate(self.things):
            name = _name(t.kind, i)
            facts.append(f"(objectType {name} {t.kind}Type)")
            facts += [f"({fact} {name})" for fact in t.facts]
            facts += [f"(inReceptacle {name} {self._receptacle(r)})" for r in t.inside]
            at = self.furniture[t.inside[-1]].location if t.at is None and t.inside else t.at
            facts += [f"(objectAtLocation {name} {_place(at)})"] if at is not None else []
        return facts

    def _hand_facts(self) -> list[str]:
        if self.held is None:
            return []
        name = _name(self.things[self.held].kind, self.held)
        return [f"(holds agent1 {name})", "(holdsAny agent1)"]

    def _receptacle(self, position: int) -> str:
        return _name(self.furniture[position].kind, position)


def _name(kind: str, number: int) -> str:
    basin = "_bar_basin" if kind.endswith("Basin") else ""
    return f"{kind.removesuffix('Basin')}_bar_{number}{basin}"


def _place(number: int) -> str:
    return f"loc_bar_{number}"
