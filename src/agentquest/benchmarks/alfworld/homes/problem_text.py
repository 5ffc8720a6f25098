"""A game as PDDL text, in the dialect of ALFWorld's `initial_state.pddl`.

Same types, predicates and goal shapes as the published problems, except that those repeat
the `canContain` facts of a type for every receptacle of that type.
"""

from functools import cache, lru_cache

from agentquest.benchmarks.alfworld.homes.layouts import Layout
from agentquest.benchmarks.alfworld.homes.placing import Setup
from agentquest.benchmarks.alfworld.homes.tasks import HomeTask
from agentquest.benchmarks.alfworld.homes.vocabulary import (
    CLEAN,
    CLEANABLE,
    COOL,
    COOLABLE,
    HEAT,
    HEATABLE,
    LOOK,
    OBJECT_TYPES,
    PICK,
    RECEPTACLE_TYPES,
    SLICEABLE,
    TOGGLEABLE,
    TWO,
    UNTYPED,
    VESSELS,
    can_contain,
)

_PROPERTIES = (
    ("isReceptacleObject", VESSELS),
    ("cleanable", CLEANABLE),
    ("heatable", HEATABLE),
    ("coolable", COOLABLE),
    ("sliceable", SLICEABLE),
)
_CHANGED = {
    CLEAN: ("cleanable", "isClean"),
    HEAT: ("heatable", "isHot"),
    COOL: ("coolable", "isCool"),
}


def as_pddl(name: str, task: HomeTask, home: Layout, setup: Setup) -> str:
    """The whole problem; `name` is the trial."""
    lines = [f"(define (problem plan_{name})", "(:domain alfred)", "(:objects"]
    lines += _objects(home, setup)
    lines += [")", "(:init"]
    lines += _home_facts(home)
    lines += _contents(home, setup)
    lines += _setup_facts(setup)
    lines += [")", "(:goal", goal_text(task), ")", ")", ""]
    return "\n".join(lines)


@cache
def _vocabulary() -> tuple[str, ...]:
    return (
        "    agent1 - agent",
        *(f"    {kind} - object" for kind in OBJECT_TYPES),
        *(f"    {kind}Type - otype" for kind in OBJECT_TYPES),
        *(f"    {kind}Type - rtype" for kind in RECEPTACLE_TYPES),
    )


def _objects(home: Layout, setup: Setup) -> list[str]:
    things = [t.name for t in setup.things] + [f.name for f in home.fittings]
    locations = {r.location: None for r in home.receptacles}
    locations.update({f.location: None for f in home.fittings if f.location})
    locations.update({t.location: None for t in setup.things})
    locations[setup.agent_at] = None
    return [
        *_vocabulary(),
        *(f"    {name} - object" for name in sorted(things)),
        *(f"    {name} - receptacle" for name in sorted(r.name for r in home.receptacles)),
        *(f"    {name} - location" for name in locations),
    ]


@lru_cache(maxsize=256)
def _home_facts(home: Layout) -> tuple[str, ...]:
    """What is true of a room in every game."""
    facts: list[str] = []
    for r in home.receptacles:
        facts.append(f"    (receptacleType {r.name} {r.kind}Type)")
        facts.append(f"    (receptacleAtLocation {r.name} {r.location})")
        if r.openable:
            facts.append(f"    (openable {r.name})")
    for f in home.fittings:
        if f.kind not in UNTYPED:
            facts.append(f"    (objectType {f.name} {f.kind}Type)")
            facts.append(f"    (objectAtLocation {f.name} {f.location})")
        if f.inside:
            facts.append(f"    (inReceptacle {f.name} {f.inside})")
        if f.kind in TOGGLEABLE:
            facts.append(f"    (toggleable {f.name})")
    return tuple(facts)


def _contents(home: Layout, setup: Setup) -> list[str]:
    kinds = {t.kind for t in setup.things}
    return [
        f"    (canContain {receptacle}Type {kind}Type)"
        for receptacle in home.by_kind
        for kind in can_contain(receptacle)
        if kind in kinds
    ]


def _setup_facts(setup: Setup) -> list[str]:
    facts = [f"    (atLocation agent1 {setup.agent_at})"]
    for t in setup.things:
        facts.append(f"    (objectType {t.name} {t.kind}Type)")
        facts.append(f"    (pickupable {t.name})")
        facts += [f"    ({word} {t.name})" for word, kinds in _PROPERTIES if t.kind in kinds]
        facts.append(f"    (objectAtLocation {t.name} {t.location})")
        facts += [f"    (inReceptacle {t.name} {receptacle})" for receptacle in t.inside]
        if t.cool:
            facts.append(f"    (isCool {t.name})")
    facts += [f"    (inReceptacleObject {inner} {outer})" for inner, outer in setup.nested]
    return facts


def goal_text(task: HomeTask) -> str:
    """The goal formula, nested exactly as in the published problems."""
    thing, target = f"{task.thing}Type", f"{task.target}Type"
    if task.task_type == LOOK:
        return (
            "(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location)"
            f" (and (objectType ?ot {target}) (toggleable ?ot) (isToggled ?ot)"
            " (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r)))"
            f" (exists (?o - object ?a - agent) (and (objectType ?o {thing}) (holds ?a ?o))))"
        )
    if task.task_type == TWO:
        return (
            "(and (exists (?r - receptacle) (exists (?o1 - object)"
            f" (and (objectType ?o1 {thing}) (receptacleType ?r {target}) (inReceptacle ?o1 ?r)"
            f" (exists (?o2 - object) (and (not (= ?o1 ?o2)) (objectType ?o2 {thing})"
            f" (receptacleType ?r {target}) (inReceptacle ?o2 ?r)))))))"
        )
    if task.task_type == PICK:
        parts = f"(inReceptacle ?o ?r) (objectType ?o {thing}) (receptacleType ?r {target})"
    else:
        can, done = _CHANGED[task.task_type]
        parts = (
            f"({can} ?o) (objectType ?o {thing}) (receptacleType ?r {target})"
            f" ({done} ?o) (inReceptacle ?o ?r)"
        )
    return f"(and (exists (?r - receptacle) (exists (?o - object) (and {parts}))))"
