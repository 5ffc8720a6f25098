"""Ways of walking through a game that bring out how an engine behaves.

A walk is a generator of commands. It looks at AgentQuest's engine, which is
stepped between one command and the next, and may ask for what is not possible:
that must be answered alike, too.
"""

import random
from collections.abc import Callable, Iterator

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.rules import KNIVES

Walk = Iterator[str]
WalkKind = Callable[[AlfWorldEngine, random.Random], Walk]

_MISSES: tuple[Callable[[str, random.Random], str], ...] = (
    lambda command, dice: command.upper(),
    lambda command, dice: command.replace(" ", "  ", 1),
    lambda command, dice: f" \t{command}\n",
    lambda command, dice: f"\u00a0{command}\u2003",
    lambda command, dice: f"{command}.",
    lambda command, dice: f"{command} 1",
    lambda command, dice: command[:-1],
    lambda command, dice: command.rpartition(" ")[0],
    lambda command, dice: command[: dice.randrange(len(command) + 1)],
    lambda command, dice: f"{command.rpartition(' ')[0]} {dice.randrange(40)}",
    lambda command, dice: command.replace(" with ", " in ").replace(" from ", " off "),
    lambda command, dice: command.replace("take", "pick up").replace("go to", "goto"),
    lambda command, dice: dice.choice(("", " ", "help me", "wait", "go to", "look around", "é")),
    lambda command, dice: f"put {command.partition(' ')[2].replace(' from ', ' in/on ')}",
    lambda command, dice: f"move {command.partition(' ')[2].replace(' from ', ' to ')}",
)


def random_walk(engine: AlfWorldEngine, dice: random.Random) -> Walk:
    """Verbs are drawn before commands: `go to` would drown the others."""
    while True:
        yield nonsense(engine, dice) if dice.random() < 0.15 else any_command(engine, dice)


def sensible_walk(engine: AlfWorldEngine, dice: random.Random) -> Walk:
    """The oracle's way with detours, and on past the end of the game."""
    while not engine.won:
        plan = engine.plan()
        if not plan.reachable:
            break
        yield from plan.commands[: dice.randint(1, len(plan.commands))]
        if dice.random() < 0.5:
            yield any_command(engine, dice)
        if dice.random() < 0.3:
            yield nonsense(engine, dice)
    yield from odd_walk(engine, dice)


def odd_walk(engine: AlfWorldEngine, dice: random.Random) -> Walk:
    """Errands at the spots where the reference is peculiar, one after the other."""
    yield "look"
    yield from spoiling(engine)
    errands = [move_within, two_homes, slicing, lamps, treatments, vessels, doors]
    while True:
        dice.shuffle(errands)
        for errand in errands:
            yield from put_down(engine, dice)
            yield from errand(engine, dice)
        yield from (any_command(engine, dice) for _ in range(3))


def any_command(engine: AlfWorldEngine, dice: random.Random) -> str:
    verbs: dict[str, list[str]] = {}
    for command in engine.admissible:
        verbs.setdefault(command.partition(" ")[0], []).append(command)
    dull = {"help", "inventory", "look", "examine"}
    weights = [1 if verb in dull else 4 for verb in verbs]
    (verb,) = dice.choices(list(verbs), weights)
    return dice.choice(verbs[verb])


def nonsense(engine: AlfWorldEngine, dice: random.Random) -> str:
    """An admissible command spoilt, or one that is right at another time."""
    world = engine.world
    if dice.random() < 0.4:
        thing, place = dice.choice(world.object_names), dice.choice(world.receptacle_names)
        pattern = dice.choice(
            ("take {0} from {1}", "move {0} to {1}", "put {0} in/on {1}", "open {1}", "close {1}",
             "examine {0}", "examine {1}", "use {0}", "heat {0} with {1}", "clean {0} with {1}",
             "cool {0} with {1}", "slice {0} with {1}", "go to {0}", "go to {1}")
        )  # fmt: skip
        return pattern.format(thing, place)
    return dice.choice(_MISSES)(dice.choice(engine.admissible), dice)


def move_within(engine: AlfWorldEngine, dice: random.Random) -> Walk:
    """Take a thing and put it into another receptacle at the same spot."""
    shared = [here for here in engine.world.receptacles_at if len(here) > 1]
    if not shared:
        return
    here = dice.choice(shared)
    yield from visit(engine, dice.choice(here))
    yield from _open_all(engine)
    for _ in range(2):
        took = _offered(engine, "take", dice)
        if took is None:
            return
        yield took
        yield "look"
        puts = [put for put in _puts(engine) if not put.endswith(took.rpartition(" from ")[2])]
        yield dice.choice(puts or _puts(engine) or ["inventory"])
        yield "look"
        yield f"examine {dice.choice([engine.world.receptacle_names[r] for r in here])}"


def two_homes(engine: AlfWorldEngine, dice: random.Random) -> Walk:
    """A thing that lies in two receptacles at once, taken out of one of them."""
    homes: dict[int, list[int]] = {}
    for receptacle, things in enumerate(engine.state.contents):
        for thing in things:
            homes.setdefault(thing, []).append(receptacle)
    double = [thing for thing, places in homes.items() if len(places) > 1]
    if not double:
        return
    thing = dice.choice(double)
    first, second = dice.sample(homes[thing], 2)
    yield from fetch(engine, thing, first)
    yield "look"
    yield from visit(engine, second)
    yield f"examine {engine.world.receptacle_names[second]}"
    yield from put_down(engine, dice)
    yield "look"
    yield from fetch(engine, thing, second)
    yield "look"
    yield from visit(engine, first)
    yield "look"


def slicing(engine: AlfWorldEngine, dice: random.Random) -> Walk:
    world = engine.world
    knives = [t for t, kind in enumerate(world.object_types) if kind in KNIVES]
    food = [t for t in range(len(world.object_names)) if world.sliceable >> t & 1]
    if not knives or not food:
        return
    knife, thing = dice.choice(knives), dice.choice(food)
    yield from fetch(engine, knife)
    yield f"examine {world.object_names[knife]}"
    place = _holder(engine, thing)
    if place is None:
        return
    yield from visit(engine, place)
    for _ in range(2):
        yield f"slice {world.object_names[thing]} with {world.object_names[knife]}"
    yield from put_down(engine, dice)
    yield from fetch(engine, thing)
    yield f"examine {world.object_names[thing]}"


def lamps(engine: AlfWorldEngine, dice: random.Random) -> Walk:
    world = engine.world
    standing = [
        (thing, receptacle)
        for receptacle, things in enumerate(engine.state.contents)
        for thing in things
        if world.toggleable >> thing & 1
    ]
    if not standing:
        return
    lamp, place = dice.choice(standing)
    yield from visit(engine, place)
    yield f"use {world.object_names[lamp]}"
    yield f"examine {world.object_names[lamp]}"
    yield _offered(engine, "take", dice) or "look"
    yield f"use {world.object_names[lamp]}"
    yield "inventory"


def treatments(engine: AlfWorldEngine, dice: random.Random) -> Walk:
    """Clean, heat and cool one thing in any order, and look at it after each."""
    world = engine.world
    able = world.cleanable | world.heatable | world.coolable
    both = world.heatable & world.coolable & ~world.receptacle_objects
    every = range(len(world.object_names))
    # What can be hot and cold tells most; a vessel tells nothing about itself when examined.
    things = [t for t in every if both >> t & 1] or [t for t in every if able >> t & 1]
    if not things:
        return
    thing = dice.choice(things)
    name = world.object_names[thing]
    yield from fetch(engine, thing)
    tools = [("clean", "sinkbasintype"), ("heat", "microwavetype"), ("cool", "fridgetype")]
    dice.shuffle(tools)
    for verb, kind in [*tools, tools[0]]:
        for place in [r for r, k in enumerate(world.receptacle_types) if k == kind][:1]:
            yield from visit(engine, place, dice.random() < 0.3)
            yield f"{verb} {name} with {world.receptacle_names[place]}"
            yield f"examine {name}"


def spoiling(engine: AlfWorldEngine) -> Walk:
    """Follow the oracle, but undo the heating or cooling before the last errand: no win."""
    world = engine.world
    plan = engine.plan().commands
    treated = [n for n, command in enumerate(plan, 1) if command.startswith(("heat ", "cool "))]
    if not treated:
        return
    yield from plan[: treated[-1]]
    hot = plan[treated[-1] - 1].startswith("heat ")
    verb, kind = ("cool", "fridgetype") if hot else ("heat", "microwavetype")
    for place in [r for r, k in enumerate(world.receptacle_types) if k == kind][:1]:
        yield from visit(engine, place, opening=False)
        if engine.state.held >= 0:
            name = world.object_names[engine.state.held]
            yield f"{verb} {name} with {world.receptacle_names[place]}"
    yield from plan[treated[-1] :]


def vessels(engine: AlfWorldEngine, dice: random.Random) -> Walk:
    """Plates, pots and boxes are receptacles and objects in one."""
    world = engine.world
    full = [t for t, inside in enumerate(world.inside_objects) if inside]
    every = [t for t in range(len(world.object_names)) if world.receptacle_objects >> t & 1]
    if not every:
        return
    thing = dice.choice(full or every)
    yield from fetch(engine, thing)
    yield f"examine {world.object_names[thing]}"
    for inner in world.inside_objects[thing][:1]:
        yield from put_down(engine, dice)
        yield from fetch(engine, inner)
        yield "look"


def doors(engine: AlfWorldEngine, dice: random.Random) -> Walk:
    world = engine.world
    closable = [r for r in range(len(world.receptacle_names)) if world.openable >> r & 1]
    if not closable:
        return
    place = dice.choice(closable)
    name = world.receptacle_names[place]
    yield from visit(engine, place)
    yield from (f"close {name}", f"examine {name}", "look", f"close {name}", f"open {name}")


def visit(engine: AlfWorldEngine, receptacle: int, opening: bool = True) -> Walk:
    """Go to a receptacle and open it, as far as that is possible."""
    world = engine.world
    if engine.state.location not in world.receptacle_locations[receptacle]:
        yield f"go to {world.receptacle_names[receptacle]}"
    if opening and world.openable & ~engine.state.opened & 1 << receptacle:
        yield f"open {world.receptacle_names[receptacle]}"


def fetch(engine: AlfWorldEngine, thing: int, receptacle: int | None = None) -> Walk:
    place = _holder(engine, thing) if receptacle is None else receptacle
    if place is not None:
        yield from visit(engine, place)
        yield f"take {engine.world.object_names[thing]} from {engine.world.receptacle_names[place]}"


def put_down(engine: AlfWorldEngine, dice: random.Random) -> Walk:
    """Put the held thing somewhere, here if it fits."""
    held, world = engine.state.held, engine.world
    if held < 0:
        return
    if not _puts(engine):
        fitting = [
            r
            for r, places in enumerate(world.receptacle_locations)
            if places and world.fits(held, r)
        ]
        if not fitting:
            return
        yield from visit(engine, dice.choice(fitting))
    yield dice.choice(_puts(engine) or ["look"])


def _holder(engine: AlfWorldEngine, thing: int) -> int | None:
    """A receptacle that holds a thing and can be gone to."""
    for receptacle, things in enumerate(engine.state.contents):
        if thing in things and engine.world.receptacle_locations[receptacle]:
            return receptacle
    return None


def _open_all(engine: AlfWorldEngine) -> Walk:
    yield from [command for command in engine.admissible if command.startswith("open ")]


def _offered(engine: AlfWorldEngine, verb: str, dice: random.Random) -> str | None:
    offers = [command for command in engine.admissible if command.startswith(f"{verb} ")]
    return dice.choice(offers) if offers else None


def _puts(engine: AlfWorldEngine) -> list[str]:
    return [command for command in engine.admissible if command.startswith(("move ", "put "))]


KINDS: dict[str, WalkKind] = {
    "random": random_walk,
    "sensible": sensible_walk,
    "odd": odd_walk,
}
