"""The words the game answers with, exactly those of the reference; `reading` parses the same
sentences."""

from collections.abc import Iterable

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.rules import Move, Rule
from agentquest.benchmarks.alfworld.engine.state import WorldState
from agentquest.benchmarks.alfworld.engine.world import World

NOTHING_HAPPENS = "Nothing happens."
WELCOME = "-= Welcome to TextWorld, ALFRED! =-"
TASK = "Your task is to: "
# Sentences that say what happened or where things are, with a blank for each name.
ROOM = "You are in the middle of a room. Looking quickly around you, you see %s."
FACING = "You are facing the %s. Next to it, you see %s."
ARRIVE = "You arrive at %s."
IS_CLOSED = "The %s is closed."
IN = "The %s is open. In it, you see %s."
ON = "On the %s, you see %s."
OPEN = "You open the %s."
CLOSE = "You close the %s."
TAKE = "You pick up the %s from the %s."
PUT = "You put the %s in/on the %s."  # 0.3
MOVE = "You move the %s to the %s."  # 0.4
TREATMENTS = {
    Rule.CLEAN: "You clean the %s using the %s.",
    Rule.HEAT: "You heat the %s using the %s.",
    Rule.COOL: "You cool the %s using the %s.",
}
SLICE = "You sliced the %s with the %s."
USE = "You turn on the %s."
CARRY = "You are carrying: a %s."
CARRY_NOTHING = "You are not carrying anything."
# One line of the reference's table is misaligned.
HELP = """\
Available commands:
  look:                             look around your current location
  inventory:                        check your current inventory
  go to (receptacle):               move to a receptacle
  open (receptacle):                open a receptacle
  close (receptacle):               close a receptacle
  take (object) from (receptacle):  take an object from a receptacle
  move (object) to (receptacle):  place an object in or on a receptacle
  examine (something):              examine a receptacle or an object
  use (object):                     use an object
  heat (object) with (receptacle):  heat an object using a receptacle
  clean (object) with (receptacle): clean an object using a receptacle
  cool (object) with (receptacle):  cool an object using a receptacle
  slice (object) with (object):     slice an object using a sharp object
"""


def introduction(world: World, state: WorldState, goal: str) -> str:
    """How a game begins: the welcome, the room, and the goal."""
    if world.receptacles_at[state.location]:
        scene = look(world, state)
    else:
        scene = _middle_of_room(
            world.receptacle_names[r]
            for r, places in enumerate(world.receptacle_locations)
            for _ in places
        )
    return f"{WELCOME}\n\n{scene}\n\n{TASK}{goal}."


def feedback(world: World, state: WorldState, move: Move, dialect: Dialect) -> str:
    """What a move is answered with; `state` is the one after the move."""
    rule, thing, receptacle = move
    place = world.receptacle_names[receptacle] if receptacle >= 0 else ""
    name = world.object_names[thing] if thing >= 0 else ""
    match rule:
        case Rule.GO:
            spot = place if dialect is Dialect.V0_4 else world.location_names[state.location]
            return f"{ARRIVE % spot} {examine_receptacle(world, state, receptacle)}"
        case Rule.OPEN:
            return f"{OPEN % place} {examine_receptacle(world, state, receptacle)}"
        case Rule.CLOSE:
            return CLOSE % place
        case Rule.TAKE:
            return TAKE % (name, place)
        case Rule.PUT:
            return (MOVE if dialect is Dialect.V0_4 else PUT) % (name, place)
        case Rule.CLEAN | Rule.HEAT | Rule.COOL:
            return TREATMENTS[rule] % (name, place)
        case Rule.SLICE:
            return SLICE % (name, world.object_names[state.held])
        case Rule.USE:
            return USE % name
        case Rule.EXAMINE_OBJECT:
            return examine_object(world, state, thing)
        case Rule.EXAMINE_RECEPTACLE:
            return examine_receptacle(world, state, receptacle)
        case Rule.LOOK:
            return look(world, state)
        case Rule.INVENTORY:
            return inventory(world, state)
        case Rule.HELP:
            return HELP


def look(world: World, state: WorldState) -> str:
    """The answer to `look`."""
    facing = world.receptacles_at[state.location]
    if not facing:
        # The reference lists only receptacles at the agent's own location here: none.
        return _middle_of_room(())
    names = enumeration(world.receptacle_names[r] for r in facing)
    return FACING % (names, _beside(world, state))


def _middle_of_room(names: Iterable[str]) -> str:
    return ROOM % enumeration(f"a {name}" for name in names)


def _beside(world: World, state: WorldState) -> str:
    """Objects that are here but were taken out of one of the receptacles here."""
    if not state.left:
        return "nothing"
    here = 1 << state.location
    facing = world.receptacles_at[state.location]
    return enumeration(
        f"a {world.object_names[thing]}"
        for thing, receptacle in sorted(state.left)
        if receptacle in facing and state.places[thing] & here
    )


def examine_receptacle(world: World, state: WorldState, receptacle: int) -> str:
    """What is in or on a receptacle, or that it is closed."""
    name = world.receptacle_names[receptacle]
    if world.openable >> receptacle & 1:
        if not state.opened >> receptacle & 1:
            return IS_CLOSED % name
        sentence = IN
    else:
        sentence = ON
    return sentence % (name, _things(world, state.contents[receptacle]))


def examine_object(world: World, state: WorldState, thing: int) -> str:
    """What has been done to a thing, or what is in it if it is a vessel."""
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


def inventory(world: World, state: WorldState) -> str:
    """The answer to `inventory`."""
    if state.held < 0:
        return CARRY_NOTHING
    return CARRY % world.object_names[state.held]


def enumeration(names: Iterable[str]) -> str:
    """Names as a sentence lists them; `nothing` for none."""
    listed = list(names)
    if len(listed) < 2:
        return listed[0] if listed else "nothing"
    return f"{', '.join(listed[:-1])}, and {listed[-1]}"


def _things(world: World, things: Iterable[int]) -> str:
    names = world.object_names
    return enumeration([f"a {names[thing]}" for thing in things])
