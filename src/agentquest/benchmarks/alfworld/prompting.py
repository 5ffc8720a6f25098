"""What a prompt says about ALFWorld: commands, rules, tools and example games.

Example games are varied, with a plan, a corrected mistake and a container to open. They are
not stored: the rule-based player plays built-in training homes, so that they are right in
every dialect and never a test game. The player does not make the mistakes that models make,
so every other example gets one: a command given too early, which the game refuses, before
the step that was missing.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GameText
from agentquest.benchmarks.alfworld.engine.narrator import NOTHING_HAPPENS
from agentquest.benchmarks.alfworld.explorer import AlfWorldExplorer
from agentquest.benchmarks.alfworld.game import AlfWorldGame
from agentquest.benchmarks.alfworld.knowledge import SHUT
from agentquest.lib import Briefing, Demonstration
from agentquest.lib.commands import make_tool
from agentquest.lib.game import play_example
from agentquest.records.messages import ToolSpec

_TOOL = make_tool(
    "act",
    "Carry out one command in the household, exactly as it would be typed.",
    "<command>",
    command="The command, such as `look`.",
)
_MEANINGS = {
    "object": "An object with its number, such as `apple 1`.",
    "receptacle": "A receptacle with its number, such as `countertop 2`.",
    "tool": "What it is done with, with its number, such as `knife 1`.",
    "thing": "An object or receptacle with its number.",
}
LOOK = "look_at_obj_in_light"
_LONGEST = 13
_SHORTEST = 5
_PLANS = {
    "pick_and_place_simple": "find {thing}, take it, and put it in or on a {target}",
    "pick_clean_then_place_in_recep": "find {thing}, take it, clean it at a sinkbasin, and put it"
    " in or on a {target}",
    "pick_heat_then_place_in_recep": "find {thing}, take it, heat it with a microwave, and put it"
    " in or on a {target}",
    "pick_cool_then_place_in_recep": "find {thing}, take it, cool it with a fridge, and put it"
    " in or on a {target}",
    "pick_two_obj_and_place": "find {thing}, put it in or on a {target}, then do the same with a"
    " second one, as I can carry only one thing at a time",
    LOOK: "find {thing}, take it, go to where a {target} is, and turn that on",
}
_TREATMENTS = ("clean", "heat", "cool")
_PUTS = ("put", "move")

ExampleTurn = tuple[str, str, str]
Scene = tuple[str, str]  # the thing, and where it goes or what lights it


def briefing(dialect: Dialect, demonstrations: tuple[Demonstration, ...]) -> Briefing:
    """What an agent may know before it plays, in the words of a dialect."""
    return Briefing(
        instructions(dialect),
        role="You are an agent in a household environment. "
        "Your goal is to complete tasks by taking actions.",
        examples='"go to desk 1" or "take book 1 from desk 1"',
        help_lines=("type 'inventory' to check items",),
        demonstrations=demonstrations,
        tools=(_TOOL,),
        typed_tools=typed_tools(dialect),
    )


def instructions(dialect: Dialect) -> str:
    """The commands and rules of the game, in the words of a dialect."""
    put = dialect.put("[object]", "[receptacle]")
    return f"""You are in a house and solve a household task by typing commands, one at a time.
Commands (names always carry their number, such as `apple 1` or `countertop 2`):
- look: see what is around you
- inventory: see what you carry
- go to [receptacle]: walk to a receptacle and see what is on it
- open [receptacle] / close [receptacle]
- take [object] from [receptacle]
- {put}: put down what you carry
- clean [object] with [receptacle]: at a sinkbasin
- heat [object] with [receptacle]: at a microwave
- cool [object] with [receptacle]: at a fridge
- use [object]: turn on a lamp
- slice [object] with [object]: with a knife in your hand
- examine [object or receptacle]
Rules:
- You can carry only one object at a time.
- You must go to a receptacle before you can do anything there.
- Some receptacles are closed: open them to see what is inside, to take it, or to put something in.
- `clean`, `heat` and `cool` need the object in your hand, and you at the right receptacle.
- To look at an object under a lamp, carry the object and use the lamp where it stands.
- "Nothing happens." means that the command was not possible or not understood."""


@cache
def typed_tools(dialect: Dialect) -> tuple[ToolSpec, ...]:
    """The tools; putting something down is said in the dialect's words."""
    put = dialect.put("<object>", "<receptacle>")
    kinds = (
        ("look", "See what is around you.", "look"),
        ("inventory", "See what you carry.", "inventory"),
        ("go_to", "Walk to a receptacle and see what is on it.", "go to <receptacle>"),
        ("open", "Open a receptacle where you are.", "open <receptacle>"),
        ("close", "Close a receptacle where you are.", "close <receptacle>"),
        ("take", "Pick up an object.", "take <object> from <receptacle>"),
        ("put", "Put down what you carry.", put),
        ("clean", "Clean what you carry at a sinkbasin.", "clean <object> with <receptacle>"),
        ("heat", "Heat what you carry at a microwave.", "heat <object> with <receptacle>"),
        ("cool", "Cool what you carry at a fridge.", "cool <object> with <receptacle>"),
        ("use", "Turn on a lamp.", "use <object>"),
        ("slice", "Slice an object with a knife in your hand.", "slice <object> with <tool>"),
        ("examine", "Look at an object or receptacle.", "examine <thing>"),
    )
    return tuple(make_tool(*kind, **_MEANINGS) for kind in kinds)


@cache
def examples(task_type: str, dialect: Dialect, count: int) -> tuple[Demonstration, ...]:
    """Short won games of one type, of different things; always the same ones."""
    found: list[Demonstration] = []
    things: set[str] = set()
    last_target = ""
    for game_id, (thing, target) in _training_games(task_type):
        if len(found) == count:
            break
        repeats = task_type != LOOK and target == last_target
        to_open = len(found) % 2 == 1 and task_type != LOOK
        if thing in things or repeats or (to_open and target not in SHUT):
            continue
        example = _example(game_id, dialect, (thing, target), mistaken=len(found) % 2 == 0)
        if example is not None:
            found.append(example)
            things.add(thing)
            last_target = target
    return tuple(found)


def _training_games(task_type: str) -> Iterator[tuple[str, Scene]]:
    """The training games of a type in an order that mixes things, each with what it is about.

    One whose errand in the same home is also a validation game's is left out.
    """
    validated = _validation_errands()
    of_type = (
        game_id
        for game_id in homes.game_ids("train")
        if game_id.split("/")[1].partition("-")[0] == task_type
        and game_id.split("/")[1] not in validated
    )
    for game_id in sorted(of_type, key=lambda name: hashlib.sha256(name.encode()).digest()):
        _, thing, _, target, _ = game_id.split("/")[1].split("-")
        yield game_id, (thing.lower(), target.lower())


@cache
def _validation_errands() -> frozenset[str]:
    return frozenset(
        game_id.split("/")[1]
        for split in ("valid_seen", "valid_unseen", "valid_train")
        for game_id in homes.game_ids(split)
    )


def _example(game_id: str, dialect: Dialect, scene: Scene, mistaken: bool) -> Demonstration | None:
    home = homes.game(game_id)
    game = AlfWorldGame(AlfWorldEngine.from_text(GameText(home.problem, home.goal), dialect))
    played = play_example(game, AlfWorldExplorer(), _LONGEST)
    if played is None or len(played.turns) < _SHORTEST or not _is_straight(played.turns):
        return None
    turns = played.turns
    said = [(thought, action) for thought, action, _ in turns]
    if mistaken:
        said = _with_mistake(said)
        if len(said) == len(turns):
            return None
    elif home.task_type != LOOK and not any(a.startswith(f"open {scene[1]}") for _, a in said):
        return None
    article = "an" if scene[0][0] in "aeiou" else "a"
    plan = _PLANS[home.task_type].format(thing=f"{article} {scene[0]}", target=scene[1])
    said[0] = (f"My plan: {plan}. {said[0][0]}", said[0][1])
    game.reset()
    replayed = tuple((thought, action, game.step(action)) for thought, action in said)
    return replace(played, turns=replayed) if game.won else None


def _is_straight(turns: tuple[ExampleTurn, ...]) -> bool:
    """Whether nothing is refused, and what is picked up is carried straight to where it goes."""
    walks, carrying = 0, False
    for _, action, answer in turns:
        if answer == NOTHING_HAPPENS:
            return False
        verb = action.partition(" ")[0]
        walks = walks + 1 if verb == "go" else 0 if verb != "open" else walks
        if verb in _PUTS:
            carrying = False
        if carrying and walks > 1:
            return False
        carrying = carrying or verb == "take"
    return True


def _with_mistake(said: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """With a command given one step too early, before the last step that leads up to it."""
    place = next(
        place
        for place, (_, action) in enumerate(said)
        if action.partition(" ")[0] in (*_TREATMENTS, *_PUTS, "use")
    )
    thought, early = said[place]
    missing = said[place - 1][1]
    verb, _, rest = missing.partition(" ")
    if verb not in ("go", "open"):
        return said  # it is all there already
    if verb == "open":
        reason = f"Nothing happened, because the {rest} is closed. I have to open it first."
    else:
        there = rest.removeprefix("to ")
        reason = f"Nothing happened, because I am not at the {there} yet. I have to go there first."
    return [*said[: place - 1], (thought, early), (reason, missing), *said[place:]]
