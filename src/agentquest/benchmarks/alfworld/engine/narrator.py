"""The words the game answers with, letter for letter those of the reference."""

from collections.abc import Iterable

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.rules import Move, Rule
from agentquest.benchmarks.alfworld.engine.state import State
from agentquest.benchmarks.alfworld.engine.world import World

NOTHING_HAPPENS = "Nothing happens."
WELCOME = "-= Welcome to TextWorld, ALFRED! =-"
_HELP = (
    ("look:", "look around your current location"),
    ("inventory:", "check your current inventory"),
    ("go to (receptacle):", "move to a receptacle"),
    ("open (receptacle):", "open a receptacle"),
    ("close (receptacle):", "close a receptacle"),
    ("take (object) from (receptacle):", "take an object from a receptacle"),
    ("move (object) to (receptacle):", "place an object in or on a receptacle"),
    ("examine (something):", "examine a receptacle or an object"),
    ("use (object):", "use an object"),
    ("heat (object) with (receptacle):", "heat an object using a receptacle"),
    ("clean (object) with (receptacle):", "clean an object using a receptacle"),
    ("cool (object) with (receptacle):", "cool an object using a receptacle"),
    ("slice (object) with (object):", "slice an object using a sharp object"),
)


def introduction(world: World, state: State, goal: str) -> str:
    """How a game begins: the welcome, the room, and the goal."""
    if world.receptacles_at[state.location]:
        scene = look(world, state)
    else:
        scene = _middle_of_room(
            world.receptacle_names[r]
            for r, places in enumerate(world.receptacle_locations)
            for _ in places
        )
    return f"{WELCOME}\n\n{scene}\n\nYour task is to: {goal}."


def feedback(world: World, state: State, move: Move, dialect: Dialect) -> str:
    """What a move is answered with; `state` is the one after the move."""
    rule, thing, receptacle = move
    place = world.receptacle_names[receptacle] if receptacle >= 0 else ""
    name = world.object_names[thing] if thing >= 0 else ""
    match rule:
        case Rule.GO:
            arrival = dialect.arrival(world.location_names[state.location], place)
            return f"{arrival} {examine_receptacle(world, state, receptacle)}"
        case Rule.OPEN:
            return f"You open the {place}. {examine_receptacle(world, state, receptacle)}"
        case Rule.CLOSE:
            return f"You close the {place}."
        case Rule.TAKE:
            return f"You pick up the {name} from the {place}."
        case Rule.PUT:
            return dialect.put_feedback(name, place)
        case Rule.CLEAN | Rule.HEAT | Rule.COOL:
            return f"You {rule.name.lower()} the {name} using the {place}."
        case Rule.SLICE:
            return f"You sliced the {name} with the {world.object_names[state.held]}."
        case Rule.USE:
            return f"You turn on the {name}."
        case Rule.EXAMINE_OBJECT:
            return examine_object(world, state, thing)
        case Rule.EXAMINE_RECEPTACLE:
            return examine_receptacle(world, state, receptacle)
        case Rule.LOOK:
            return look(world, state)
        case Rule.INVENTORY:
            return inventory(world, state)
        case Rule.HELP:
            return help_text()


def look(world: World, state: State) -> str:
    """The answer to `look`."""
    facing = world.receptacles_at[state.location]
    if not facing:
        # The reference lists only what stands at the agent's own location here: nothing.
        return _middle_of_room(())
    names = enumeration(world.receptacle_names[r] for r in facing)
    return f"You are facing the {names}. Next to it, you see {_beside(world, state)}."


def _middle_of_room(names: Iterable[str]) -> str:
    seen = enumeration(f"a {name}" for name in names)
    return f"You are in the middle of a room. Looking quickly around you, you see {seen}."


def _beside(world: World, state: State) -> str:
    """Objects that lie here but were taken out of one of the receptacles here."""
    if not state.left:
        return "nothing"
    here = 1 << state.location
    facing = world.receptacles_at[state.location]
    return enumeration(
        f"a {world.object_names[thing]}"
        for thing, receptacle in sorted(state.left)
        if receptacle in facing and state.places[thing] & here
    )


def examine_receptacle(world: World, state: State, receptacle: int) -> str:
    """What is in or on a receptacle, or that it is closed."""
    name = world.receptacle_names[receptacle]
    if world.openable >> receptacle & 1:
        if not state.opened >> receptacle & 1:
            return f"The {name} is closed."
        start = f"The {name} is open. In it, you see "
    else:
        start = f"On the {name}, you see "
    return f"{start}{_things(world, state.contents[receptacle])}."


def examine_object(world: World, state: State, thing: int) -> str:
    """What has been done to a thing, or what lies in it if it is a vessel."""
    name = world.object_names[thing]
    if world.receptacle_objects >> thing & 1:
        inside = _things(world, world.inside_objects[thing])
        return f"This is a normal {name}. In it, you see {inside}."
    clean, hot, cool, sliced = (
        bool(mask >> thing & 1) for mask in (state.clean, state.hot, state.cool, state.sliced)
    )
    temperature = "hot" if hot else "cool" if cool else ""
    if not (clean or hot or cool):
        if world.toggleable >> thing & 1 and state.toggled >> thing & 1:
            return f"This {name} is on."
        if not (sliced and world.sliceable >> thing & 1):
            return f"There's nothing special about {name}."
    if cool and not (hot or clean or sliced):
        temperature = "cold"
    words = " and ".join(word for word in (temperature, "clean" if clean else "") if word)
    return f"This is a {words}{' ' if words else ''}{'sliced ' if sliced else ''}{name}."


def inventory(world: World, state: State) -> str:
    """The answer to `inventory`."""
    if state.held < 0:
        return "You are not carrying anything."
    return f"You are carrying: a {world.object_names[state.held]}."


def help_text() -> str:
    """The answer to `help`: every command and its meaning."""
    lines = []
    for usage, meaning in _HELP:
        # One line of the reference's table is misaligned; it is kept that way.
        width = 32 if usage.startswith("move") else 34
        lines.append(f"  {usage:<{width}}{meaning}\n")
    return "Available commands:\n" + "".join(lines)


def enumeration(names: Iterable[str]) -> str:
    """Names as a sentence lists them; `nothing` for none."""
    listed = list(names)
    if len(listed) < 2:
        return listed[0] if listed else "nothing"
    return f"{', '.join(listed[:-1])}, and {listed[-1]}"


def _things(world: World, things: Iterable[int]) -> str:
    names = world.object_names
    return enumeration([f"a {names[thing]}" for thing in things])
